"""Refinement of a direction together with its unknown link: semiparametric M-estimation on the sphere."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.models.protocols import SingleIndexData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import all_of
from lrlab.solvers.single_index.family import (
    SupportSize,
    index_solver,
    needs_answers,
    needs_both_answers,
    needs_room,
    needs_some_moment,
    sparse_size,
    support_size,
)
from lrlab.solvers.single_index.index_links import SMOOTH
from lrlab.solvers.single_index.link_free_intervals import intervals
from lrlab.solvers.single_index.link_free_rounds import Data, Direction, Round, rounds
from lrlab.solvers.single_index.link_free_start import starts

MOST_ROUNDS, SPLINE_ROUNDS = 40, 8
"""Rounds after which steps follow noise; rounds with a spline from another start."""
BY_REFINEMENT, BY_OTHERS = (6.0, 0.3), (13.0, 1.3)
"""Nats, in total and per entry, by which held-out responses must prefer a refinement, or another start."""
UNDECIDED, STANDS = 0.01, 1e-8
"""The least residual while links are chosen, and the residual of a direction that stands still."""
SEPARATED = (
    "The responses are separable along b: steeper links fit ever better, and only the direction of b has a meaning."
)


@index_solver(
    oracle="sparsity",
    memory=0.3,
    matrix=lambda spec, options: spec.n * min(sparse_size(spec, options), spec.p),
    refuse=all_of(needs_room, needs_answers, needs_some_moment),
)
@needs_both_answers
def link_free_refinement(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Link-free refinement.

    Estimates the unknown link and the signal in turn; unless signals are weak, nearly as accurate as with the link.

    .. math:: b \leftarrow \frac{b + D}{\|b + D\|}, \qquad D = \text{Newton step of } -\tfrac1n \sum_i \log
        \mathbb P(y_i \mid \hat\eta(\langle x_i, b\rangle))

    minimize    F(b) = mean -log P(y_i | eta(<x_i, b>))  over ||b|| = 1, ||b||_0 <= s, with log-odds eta that are
                themselves estimated
    start       the first moment if it stands out from the noise; else the moment, first or second of either sign, that
                stands out most
    link        log-odds of y on held-out indices <x_i, b^(-i)>, b^(-i) the Newton step from b without response i, in
                closed form (see `Round`); one of three penalized splines, the stiffest a parabola, by the loss and a
                price for each effective parameter
    update      b <- (b + D) / ||b + D||,  D the Newton step of F on the tangent space of the sphere, halved until F
                falls
    sparse      up to k entries leave the support and up to k enter, by the size of b_j + g_j / h, if F falls by more
                than the price of the entries; k = s, halved whenever that fails
    converges   once the steps are small against the error of b the link stays, and b goes to the minimum of F; without
                noise the error falls at the rate p/n of a known link
    weak        if the start does not stand out, and the rounds do not predict held-out responses better by more nats
                than chance gains, the method ends with its start
    intervals   all angles to an entry's axis within q standard errors of the direction (see `link_free_intervals`);
                none, and a sentence in the note, if that is known not to hold
    cost        a few passes over X (n, p), and X^T diag(h) X

    A link fitted to the indices of the sample itself would be too steep, as b has bent towards the responses: held-out
    indices show the link blurred by the error of b, and a noisy b should be judged by that link. If a link predicts
    little, splines from all moments are tried, too. A spline cannot follow jumps to a level between 0 and 1: with
    three levels and 3,000 responses of 20 entries the error is .043 instead of .030, and intervals are too short.

    Yields after each estimate of the link: objective F, residual the length of D, not less than k / s while exchanges
    go on, intervals; the note says which start and which link were chosen. Memory: an array like the columns of X that
    may move, and three matrices of their number.

    Reference: after Hardle, Hall & Ichimura (1993), "Optimal smoothing in single-index models", and Delecroix,
    Hristache & Patilea (2006), "On semiparametric M-estimation in single-index regression"; approximate leave-one-out:
    Rad & Maleki (2020); intervals: see `link_free_intervals`.
    """
    X = problem.X
    mean = X.mean(axis=0)
    # A mean only moves the link, whose knots are for an index around 0.
    X = X - mean if np.any(np.abs(mean) > 6.0 * X.std(axis=0) / math.sqrt(len(X))) else X
    data = Data(X, (problem.y + 1.0) / 2.0, min(support_size(problem, kept), X.shape[1]), problem.contrasts)
    candidates, dense = starts(data), data.s == X.shape[1]
    following, note = refined(data, candidates[0].at), candidates[0].name
    first = best = next(following)
    yield shown(data, first, note)
    for best in following:
        yield shown(data, best, note)
    if len(candidates) > 1 and weak(data, best):
        ends = [(next(islice(rounds(data, at, SMOOTH[1:2]), SPLINE_ROUNDS, None)), name) for at, name, _ in candidates]
        end, name = min(ends, key=lambda pair: pair[0].held_out(data))
        if wins(data, end, best, BY_OTHERS):
            note = f"{name}, then rounds with a spline"
            for best in refined(data, end.at):
                yield shown(data, best, note)
        elif dense and not wins(data, best, first, BY_REFINEMENT):
            note += ". No refinement predicts held-out responses better"
            yield shown(data, first._replace(choosing=False), note, ends=best)
            return None
    for last in rounds(data, best.at, [best.link], final=True):
        iterate = shown(data, last, note)
        if not separated(last.at.z, data.answers):
            yield iterate
            continue
        # The distance from a missing minimum is undefined.
        yield replace(iterate, residual=None, optimal=False, note=f"{iterate.note} {SEPARATED}")
        if iterate.residual is not None and iterate.residual <= STANDS:
            return Stop.NO_MINIMUM
    return None


def separated(z: Array, answers: Array) -> bool:
    """Return whether all responses (n,) agree with a link that switches once or twice along the index z (n,)."""
    return bool(np.count_nonzero(np.diff(answers[np.argsort(z, kind="stable")])) <= 2)


def refined(data: Data, start: Direction) -> Iterator[Round]:
    """Yield rounds until the steps are small, or so many that noise leads them."""
    for number, last in enumerate(rounds(data, start, SMOOTH)):
        yield last
        if last.nearly_settled or number >= MOST_ROUNDS:
            return


def wins(data: Data, one: Round, other: Round, by: tuple[float, float]) -> bool:
    """Return whether held-out responses prefer one round by so many nats, at least and for each entry."""
    return other.held_out(data) - one.held_out(data) > max(by[0], by[1] * data.s)


def weak(data: Data, one: Round) -> bool:
    """Return whether the link is a parabola that predicts less than half of the entropy of held-out responses."""
    rate, n = data.answers.mean(), len(data.answers)
    entropy = -n * (rate * np.log(rate) + (1.0 - rate) * np.log1p(-rate))
    return one.link.penalty == SMOOTH[0].penalty and bool(one.held_out(data) > entropy / 2.0)


def shown(data: Data, one: Round, note: str, ends: Round | None = None) -> Iterate:
    """Return a round as an iterate, with the intervals of another round if they belong to that one."""
    entries, n = np.count_nonzero(one.at.b), len(data.answers)
    sparse = f", {entries} entries" if entries < len(one.at.b) else ""
    note = f"Start: {note}. {one.link}, leave-one-out loss {one.held_out(data) / n:.3g}{sparse}."
    # A direction that stands still under one link may move under the next.
    residual = max(float(np.linalg.norm(one.step)), one.exchanges / data.s, UNDECIDED * one.choosing)
    # Computed on access: in a sweep only for the last iterate.
    return Iterate(one.at.b, one.loss / n, residual, note, intervals=cache(partial(intervals, data, ends or one)))
