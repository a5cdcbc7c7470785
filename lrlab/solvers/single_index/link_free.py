"""Refinement of a direction together with its unknown link: semiparametric M-estimation on the sphere."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import islice

import numpy as np
from scipy.linalg import eigh

from lrlab.linalg import hard_threshold
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop
from lrlab.solvers.single_index.family import SupportSize, index_solver, needs_answers, needs_some_moment, sparse_size
from lrlab.solvers.single_index.index_links import SMOOTH, LogOdds, Rows
from lrlab.solvers.single_index.link_free_steps import Data, Direction, Step, intervals, scaled
from lrlab.theory.bulk import largest_by_chance
from lrlab.theory.spectral import link_free_weights

SEPARATED = (
    "The responses are separable along b: steeper links fit ever better, and only the direction of b has a meaning."
)


@index_solver(
    needs_answers,
    needs_some_moment,
    oracle="sparsity",
    memory=0.3,
    matrix=lambda spec, options: spec.n * min(sparse_size(spec, options), spec.p),
)
def link_free_refinement(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Link-free refinement.

    Estimates the unknown link and the signal in turn; unless signals are weak, nearly as accurate as with the link.

    .. math:: b \leftarrow \frac{b + D}{\|b + D\|}, \qquad D = \text{Newton step of } -\tfrac1n \sum_i \log
        \mathbb P(y_i \mid \hat\eta(\langle x_i, b\rangle))

    minimize    F(b) = mean -log P(y_i | eta(<x_i, b>))  over ||b|| = 1, ||b||_0 <= s, with log-odds eta that are
                themselves estimated
    start       the first moment if it stands out from the noise; else the clearest of the first moment and the second
                moments of either sign (`starts`)
    link        log-odds of y on held-out indices <x_i, b^(-i)>, b^(-i) the Newton step from b without response i, in
                closed form (`Step`); one of three penalized splines, the stiffest a parabola, by the loss and a
                price for each effective parameter
    update      b <- (b + D) / ||b + D||,  D the Newton step of F on the tangent space of the sphere, halved until F
                falls
    sparse      D on the s entries with the largest b_j + g_j / h, if F falls by more than the price of entries; if
                not, the support stays from then on
    converges   once the steps are small against the error of b the link stays, and b goes to the minimum of F; without
                noise the error falls at the rate p/n of a known link
    weak        if a parabola predicts little, splines start from all moments, too. If no refinement predicts held-out
                responses better by more nats than chance gains, the method ends with its initialization
    intervals   all angles to an entry's axis within q standard errors of the direction (`link_free_steps`); none,
                and a sentence in the note, if that is known not to hold, or before the steps are short
    cost        a few passes over X (n, p), and X^T diag(h) X

    A link fitted to the indices of the sample itself would be too steep, as b has bent towards the responses: held-out
    indices show the link blurred by the error of b. A spline cannot follow jumps to a level between 0 and 1: with
    three levels and 3,000 responses of 20 entries the error is .043 instead of .030, and intervals are too short.

    Yields after each estimate of the link: objective F, residual the length of D, at least 1 while the support may
    change and .01 while links compete, intervals; the note says which start and which link were chosen. Memory: an
    array like the columns of X that may move, and three matrices of their number.

    Reference: after Hardle, Hall & Ichimura (1993), "Optimal smoothing in single-index models", and Delecroix,
    Hristache & Patilea (2006), "On semiparametric M-estimation in single-index regression"; approximate leave-one-out:
    Rad & Maleki (2020); intervals: see `link_free_steps`.
    """
    X = problem.X
    mean = X.mean(axis=0)
    # A mean only moves the link, whose knots are for an index around 0.
    X = X - mean if np.any(np.abs(mean) > 6.0 * X.std(axis=0) / math.sqrt(len(X))) else X
    data = Data(X, (problem.y + 1.0) / 2.0, min(kept or problem.sparsity, X.shape[1]), problem.contrasts)
    candidates, path = starts(data), list[Step]()
    note, at = candidates[0]
    for step in rounds(data, at, SMOOTH):
        path.append(step)
        yield shown(data, step, note)
    first, best = path[0], path[-1]
    # A parabola that predicts little may hide another link.
    if len(candidates) > 1 and best.link.penalty == SMOOTH[0].penalty and best.unexplained(data) > 0.5:
        ends = [(name, [*islice(rounds(data, at, SMOOTH[1:2]), 9)][-1]) for name, at in candidates]
        name, other = min(ends, key=lambda end: end[1].held_out(data))
        # Least gain in nats, in total and per entry, of held-out responses from another initialization or a refinement.
        if best.held_out(data) - other.held_out(data) > max(13.0, 1.3 * data.s):
            note = f"{name}, then rounds with a spline"
            for best in rounds(data, other.at, SMOOTH):
                yield shown(data, best, note)
        elif data.s == X.shape[1] and first.held_out(data) - best.held_out(data) <= max(6.0, 0.3 * data.s):
            note += ". No refinement predicts held-out responses better"
            yield shown(data, first._replace(unsettled=0.0), note, ends=best)
            return None
    at = best.at
    while True:
        # Under one link F is one function, and exact Newton steps reach its minimum.
        step = Step.of(data, at, best.link, at.b != 0, exact=True)
        iterate = shown(data, step, note)
        # All responses agree with a link that switches once or twice: the distance from a missing minimum is undefined.
        if np.count_nonzero(np.diff(data.answers[np.argsort(at.z, kind="stable")])) <= 2:
            iterate = replace(iterate, residual=None, optimal=False, note=f"{iterate.note} {SEPARATED}")
        yield iterate
        if not iterate.optimal and step.length <= 1e-8:
            return Stop.NO_MINIMUM
        at = step.moved(data)


def rounds(data: Data, at: Direction, links: Sequence[LogOdds]) -> Iterator[Step]:
    """Yield steps under the best of some links until they are short, or so many that they follow noise.

    The kind of link is chosen in the first four rounds, while the direction still changes much: then they converge.
    """
    pursuing = data.s < len(at.b)
    support, h = np.full(len(at.b), not pursuing), np.zeros_like(at.z)
    for number in range(41):
        rows = Rows.of(at.held_out, data.answers, h)
        links = [link.fitted(rows) for link in links]
        link = min(links, key=lambda link: link.cost(rows))
        unsettled = 1.0 if pursuing else 0.01 if len(links) > 1 else 0.0
        step = Step.of(data, at, link, support | (at.b != 0))._replace(unsettled=unsettled)
        yield step
        if step.is_short and not unsettled:
            return
        links, h = links if number < 3 else [link], step.h
        at, pursuing = step.pursued(data) if pursuing else (step.moved(data), False)


def starts(data: Data) -> list[tuple[str, Direction]]:
    """Return names and directions: the first moment if it is clear, else all moments, from the clearest.

    The first moment is sum (y_i - mean y) x_i / n; the second the leading eigenvector of M = sum T(y_i) x_i x_i^T, T
    the weights of `theory.spectral` for a link of either sign. Without row i it shrinks by 1 + T_i l_i along x_i, l_i =
    x_i^T (lambda - M)^+ x_i. Sparse: on the 4 s entries whose squares differ most, then truncated. The clearest exceeds
    pure noise by the most standard deviations.
    """
    (X, y, s, _), (n, p) = data, data.X.shape
    w = (y - y.mean()) / n
    b = hard_threshold(w @ X, s)
    at = scaled(b, X @ b, X @ b - w * np.square(X[:, b != 0]).sum(axis=1))
    # Each of so many independent squares has the mean w @ w by chance.
    entries, square = s * (1.0 + math.log(p / s)), float(b @ b) / float(w @ w)
    if entries < 0.1 * square:
        return [("the first moment, which stands out from the noise", at)]
    # A second moment must lead by a standard deviation.
    found = [((square - entries) / math.sqrt(2.0 * entries) + 1.0, "the first moment", at)]
    k = min(4 * s, p)
    for sign, word in ((1, "larger"), (-1, "smaller")):
        T = link_free_weights(float(y.mean()), n / k, sign)
        # Without weights n is too small for a link of this sign.
        if T is None:
            continue
        weights = np.where(y > 0, T.pos, T.neg) / k
        chosen = np.sort(np.argsort(-(weights @ np.square(X)))[:k])
        values, vectors = eigh((X[:, chosen].T * weights) @ X[:, chosen])
        others, gaps = np.square(X[:, chosen] @ vectors[:, :-1]), np.maximum(values[-1] - values[:-1], 1e-12)
        b = np.zeros(p)
        b[chosen] = vectors[:, -1]
        b = hard_threshold(b, s)
        at = scaled(b, X @ b, X @ b / np.maximum(1.0 + weights * (others @ (1.0 / gaps)), 0.05))
        chance = largest_by_chance((T.pos / k, T.neg / k), (y.sum(), n - y.sum()), k)
        found.append((chance.height(values[-1]), f"the second moment, as if |<x, b>| is {word} if y = 1", at))
    return [(name, at) for _, name, at in sorted(found, key=lambda one: -one[0])]


def shown(data: Data, step: Step, note: str, ends: Step | None = None) -> Iterate:
    """Return a step as an iterate, with the intervals of another one if they belong to that."""
    entries, n = np.count_nonzero(step.at.b), len(data.answers)
    sparse = f", {entries} entries" if entries < len(step.at.b) else ""
    note = f"Start: {note}. {step.link}, leave-one-out loss {step.held_out(data) / n:.3g}{sparse}."
    # Intervals are computed on access: in a sweep only for the last iterate.
    known = cache(partial(intervals, data, ends or step))
    return Iterate(step.at.b, step.loss / n, max(step.length, step.unsettled), note, intervals=known)
