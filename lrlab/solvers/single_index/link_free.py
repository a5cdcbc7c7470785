"""Refinement of a direction together with its unknown link: semiparametric M-estimation on the sphere."""

from collections import abc
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Intervals
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
from lrlab.solvers.single_index.index_links import PRICE, SMOOTH
from lrlab.solvers.single_index.link_free_intervals import intervals
from lrlab.solvers.single_index.link_free_rounds import Data, Round, last_rounds, rounds
from lrlab.solvers.single_index.link_free_start import Start, other_starts, starts

# Steps that are not small by then follow noise; rounds with a link that jumps, and with a spline from other starts.
MOST_ROUNDS, REFITS, SPLINE_ROUNDS = 40, 10, 8
# Nats, in total and per entry, by which held-out responses must prefer a refinement, or another initialization.
# With 8 weak cells and 7 strong ones chance gained up to .5 and 1.2 an entry, less with more entries.
BY_REFINEMENT, BY_OTHERS = (5.0, 0.25), (13.0, 1.3)
MEAN_ERRORS = 6.0
"""Standard errors above which the mean of a column is not 0."""
UNDECIDED, STANDS = 0.01, 1e-8
"""The least residual while links are chosen, and the residual of a direction that stands still."""
SEPARATED = (
    "The responses are separable along b: steeper links fit ever better, and only the direction of b has a meaning."
)
SPLINE = SMOOTH[1:2]


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
    start       the first moment if it stands out from the noise; else the direction of the largest expected overlap
                over first and second moments, weighted by their evidence (see `link_free_start`)
    link        log-odds of y on held-out indices <x_i, b^(-i)>, b^(-i) the Newton step from b without response i, in
                closed form (see `Newton`); a parabola, or one of two penalized splines, by the loss and a price for
                each effective parameter
    update      b <- (b + D) / ||b + D||,  D the Newton step of F on the tangent space of the sphere, halved until F
                falls
    sparse      up to k entries leave the support and up to k enter, by the size of b_j + g_j / h, if F falls by more
                than the price of the entries; k = s, halved whenever that fails (see `exchanged`)
    converges   once the steps are small against the error of b the link stays, and b goes to the minimum of F; without
                noise the error falls at the rate p/n of a known link
    weak        if the start does not stand out, and the rounds do not predict held-out responses better by more nats
                than chance gains (`wins`), the method ends with its start
    intervals   all angles to an entry's axis within q standard errors of the direction, by observable adjustments for
                p/n not small, or a sandwich if columns are far from normal (see `link_free_intervals`); none, and a
                sentence in the note, if that is known not to hold
    cost        a few passes over X (n, p), and X^T diag(h) X

    A link fitted to the indices of the sample itself would be too steep, as b has bent towards the responses: held-out
    indices show the link blurred by the error of b, and a noisy b should be judged by that link. If a link predicts
    little, splines from every moment are tried, too (`other_starts`). A spline cannot follow jumps to a level between 0
    and 1: with three levels and 3,000 responses of 20 entries the error is .043 instead of .030, and intervals are too
    short.

    Yields after each estimate of the link: objective F, residual the length of D, not less than k / s while exchanges
    go on, intervals; the note says which start and which link were chosen. Memory: an array like the columns of X that
    may move, and three matrices of their number.

    Reference: after Hardle, Hall & Ichimura (1993), "Optimal smoothing in single-index models", and Delecroix,
    Hristache & Patilea (2006), "On semiparametric M-estimation in single-index regression"; approximate leave-one-out:
    Rad & Maleki (2020); intervals: see `link_free_intervals`.
    """
    X = centered(problem.X)
    data = Data(X, (problem.y + 1.0) / 2.0, min(support_size(problem, kept), X.shape[1]), problem.contrasts)
    for shown in refinement(data, rng):
        iterate = shown.iterate(data)
        if not (shown.final and separated(shown.round.at.z, data.answers)):
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


def centered(X: Array) -> Array:
    """Return X (n, p) less the means of its columns, or X itself if they differ from 0 by no more than chance.

    A mean only moves the link, whose knots are for an index around 0.
    """
    mean, square = X.mean(axis=0), np.einsum("ij,ij->j", X, X) / len(X)
    spread = np.sqrt(np.maximum(square - mean * mean, 0.0) / len(X))
    return X - mean if np.any(np.abs(mean) > MEAN_ERRORS * spread) else X


class Shown(NamedTuple):
    """A round for display: the sentence on its initialization, other trials, and the round that gives its intervals.

    final: whether its link is the last one.
    """

    round: Round
    start: str
    trying: str = ""
    refined: Round | None = None
    final: bool = False

    def intervals(self, data: Data) -> Intervals:
        """Return the intervals of the entries, or of the refined direction if this one is an initialization."""
        own = self.refined or self.round
        loss = float(own.held_out(data).mean())
        minimal = own.choosing or own.nearly_settled
        rows = data.contrasts
        known = intervals(data.X, data.answers, own.at.b, own.link, loss, minimal=minimal, rows=rows)
        if np.isnan(known.low).all():
            return known
        refined = "The intervals belong to the refined direction." if self.refined else ""
        return known._replace(note=f"{known.note} {refined}".strip())

    def iterate(self, data: Data) -> Iterate:
        """Return it as an iterate."""
        (at, link, newton, exchanges, choosing), n = self.round, len(data.answers)
        entries = np.count_nonzero(at.b)
        sparse = f", {entries} entries" if entries < len(at.b) else ""
        note = f"{self.start} {link.name}, leave-one-out loss {self.round.held_out(data).mean():.3g}{sparse}."
        residual = max(float(np.linalg.norm(newton.step)), exchanges / data.s)
        if choosing:
            # A direction that stands still under one link may move under the next.
            residual = max(residual, UNDECIDED)
        if self.trying:
            # Not solved while another link may be better.
            residual, note = max(residual, 1.0), f"{note} Trying {self.trying}."
        # Computed on access: in a sweep only for the last iterate.
        ends = cache(partial(self.intervals, data))
        return Iterate(at.b, objective=newton.loss / n, residual=residual, note=note, intervals=ends)


def refinement(data: Data, rng: Generator) -> Iterator[Shown]:
    """Yield the rounds of `link_free_refinement`, with a link to choose and then with the chosen one."""
    candidates = starts(data, rng)
    ends = list[Shown]()
    for start in candidates:
        following = rounds(data, start.at, SMOOTH)
        first = next(following)
        yield Shown(first, start.note)
        last = yield from until_settled(following, start.note, "" if len(candidates) == 1 else "both supports")
        ends.append(Shown(last, start.note))
    best = min(ends, key=lambda end: price(data, end.round))
    if not data.sparse and not candidates[0].clear:
        best = yield from turning(data, best)
        if not wins(data, best.round, first, BY_REFINEMENT):
            words = f"{start.note} No refinement predicts held-out responses better."
            yield Shown(first._replace(choosing=False), words, refined=least(data, best.round))
            return
    for last in last_rounds(data, best.round):
        yield best._replace(round=last, final=True)


def price(data: Data, round: Round) -> float:
    """Return the summed loss of held-out answers with the price of the link's parameters."""
    return float(round.held_out(data).sum()) + (PRICE - 1.0) * round.link.parameters


def wins(data: Data, one: Round, other: Round, by: tuple[float, float]) -> bool:
    """Return whether held-out answers prefer one round by so many nats, at least and for each entry.

    Responses are held out only from the direction: the links of many rounds have followed them, too.
    """
    least = max(by[0], by[1] * data.s)
    return float((other.held_out(data) - one.held_out(data)).sum()) > least


def until_settled(
    following: Iterator[Round], note: str, trying: str = "", most: int = MOST_ROUNDS
) -> abc.Generator[Shown, None, Round]:
    """Yield rounds until the steps are small, or so many that noise leads them, and return the last."""
    for number, round in enumerate(following):
        if round.nearly_settled or number >= most:
            return round
        yield Shown(round, note, trying)
    raise AssertionError("rounds do not end")


def turning(data: Data, best: Shown) -> abc.Generator[Shown, None, Shown]:
    """Return a settled round, or one from splines from other starts that predicts held-out answers much better."""
    share = data.answers.mean()
    entropy = -(share * np.log(share) + (1.0 - share) * np.log1p(-share))
    if best.round.link.weight > 0.0 or best.round.held_out(data).mean() < entropy / 2.0:
        return best
    ends = list[tuple[Round, Start]]()
    for start in other_starts(data):
        yield best._replace(trying="splines from other initializations")
        ends.append((next(islice(rounds(data, start.at, SPLINE), SPLINE_ROUNDS, None)), start))
    end, start = min(ends, key=lambda pair: pair[0].held_out(data).sum())
    if wins(data, end, best.round, BY_OTHERS):
        last = yield from until_settled(rounds(data, end.at, SMOOTH), start.note)
        return Shown(last, start.note)
    return best


def least(data: Data, round: Round) -> Round:
    """Return the round at the minimum under the link of a round, or near it."""
    return next(last for k, last in enumerate(last_rounds(data, round)) if last.nearly_settled or k == REFITS)
