"""Refinement of a direction together with its unknown link: semiparametric M-estimation on the sphere."""

from collections import abc
from collections.abc import Iterator
from itertools import count

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Mask
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import Iterates
from lrlab.solver_entry import Options, SolverEntry, all_of
from lrlab.solvers.single_index import link_free_moves, requirements
from lrlab.solvers.single_index.cross_fitting import FOLDS, CrossFit
from lrlab.solvers.single_index.interval_requirements import MOST_ENTRIES
from lrlab.solvers.single_index.link_fit import Fit, chosen, fit, fit_all
from lrlab.solvers.single_index.link_free_levels import Attempt, attempts, curvatures, gain, refitted
from lrlab.solvers.single_index.link_free_moves import Moved, descended
from lrlab.solvers.single_index.link_free_start import DECIDED, Start, best_start, doubtful, spline_starts
from lrlab.solvers.single_index.link_free_state import State
from lrlab.solvers.single_index.link_levels import Levels
from lrlab.solvers.single_index.link_smoothing import POLYNOMIAL, SMOOTHNESS
from lrlab.solvers.single_index.requirements import SupportSize, needs_both_answers, support_size

# The smoothness is chosen anew in this many rounds at most, until it stays the same in three.
CHOICES = 6
SPLINES = [smoothness for smoothness in SMOOTHNESS if smoothness.weight < POLYNOMIAL]
# Steps that are not small by then follow noise.
MOST_ROUNDS = 40
# Standard errors by which a refinement must predict unseen answers better than its start, where that is not clear.
BY_REFINEMENT = 1.0
MEAN_ERRORS = 6.0
"""Standard errors above which the mean of a column is not 0."""
# A link that jumps is fitted in this many rounds.
REFITS = 10


@needs_both_answers
def link_free_refinement(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Recover b up to sign from one-bit answers, without knowing the link: estimate both in turn.

    minimise    F(b) = mean -log P(y_i | eta(<x_i, b>))  over ||b|| = 1, ||b||_0 <= s, with log-odds eta that are
                themselves estimated
    start       the first moment where it stands out from the noise; else the first or the second, whichever has the
                larger expected overlap by the evidence of the answers (see `link_free_evidence`)
    link        a penalised spline for the log-odds of y on held-out indices <x_i, b^(-k(i))>, where b^(-k) is refined
                in lockstep without fold k of ten (of many answers first by single steps from b, see `one_step`); of
                five smoothnesses, from a straight line to a flexible spline, the stiffest within one standard error of
                the lowest leave-one-out loss
    update      b <- (b + D) / ||b + D||,  D the Newton step of F on the tangent space of the sphere, halved until F
                falls
    sparse      up to k entries leave the support and up to k enter, by the size of b_j + g_j / h, when F falls by more
                than the price of the entries; k = s, halved whenever that fails (see `exchanged`)
    converges   once the steps are small against the error of b the link stays, and b goes to the minimum of F; without
                noise the error falls at the rate p/n of a known link
    weak signal where the start does not stand out, and held-out answers are not predicted better after the rounds by
                more than a standard error, the method ends with its start

    A link fitted to the indices of the sample itself would be too steep, as b has bent towards the answers: held-out
    indices show the link blurred by the error of b, and that is what a noisy b should be judged by (see `sharpened`).
    A spline for the log-odds cannot follow jumps to a level between 0 and 1. Once b has settled, chances that are
    constant but for two or three jumps are tried, their width narrowed as far as held-out answers follow, and kept
    where those prefer them (`link_free_levels`): on three levels with p = 20, n = 1000 and 3000, the median error is
    .96 and 1.13 times that of maximum likelihood with the link (`benchmarks/known_link.py`). Where a line
    predicts little, stiff splines from every moment are tried, too (`spline_starts`).

    intervals   all angles to an entry's axis within q standard errors of the direction, by observable adjustments for
                p/n not small, or a sandwich where columns are far from normal (see `link_free_intervals`); none, and
                a sentence in the note, where that is known not to hold

    X (n, p), y (n,) in +-1. Yields after each estimate of the link: objective F, residual the length of D, not less
    than k / s while exchanges go on, intervals; the note says which start and which smoothness were chosen.
    Memory: three arrays (n, 11) beside X.
    Reference: after Hardle, Hall & Ichimura (1993), "Optimal smoothing in single-index models", and Delecroix,
    Hristache & Patilea (2006), "On semiparametric M-estimation in single-index regression"; intervals: see
    `link_free_intervals`.
    """
    X, answers = centred(problem.X), (problem.y + 1.0) / 2.0
    for state in refinement(X, problem.y, support_size(problem, kept), rng):
        yield state.iterate(X, answers)


def centred(X: Array) -> Array:
    """Return X (n, p) less the means of its columns, or X itself where they differ from 0 by no more than chance.

    A mean only moves the link, whose knots are for an index around 0.
    """
    mean, square = X.mean(axis=0), np.einsum("ij,ij->j", X, X) / len(X)
    spread = np.sqrt(np.maximum(square - mean * mean, 0.0) / len(X))
    return X - mean if np.any(np.abs(mean) > MEAN_ERRORS * spread) else X


def refinement(X: Array, y: Array, s: int, rng: Generator) -> Iterator[State]:
    """Yield the rounds of `link_free_refinement`: smooth links, then jumps where held-out answers prefer them."""
    data, s = CrossFit.split(X, y, rng), min(s, X.shape[1])
    start = best_start(data, s, rng)
    rounds = smooth_rounds(data, s, start)
    first = next(rounds)
    yield first
    state = yield from until_settled(rounds)
    if s >= X.shape[1] and not start.clear:
        state = yield from other_starts(data, state)
        if gain(first.fit.held_out, refitted_link(data, state).held_out) < BY_REFINEMENT:
            words = f"{first.start} No refinement predicts held-out answers better."
            yield first._replace(start=words, choosing=False, refined=least(data, state))
            return
    # The support stays from here on.
    own: Mask = np.any(state.free, axis=1)
    attempt = None
    data, state = data.among(own), state._replace(B=state.B[own], free=state.free[own], step=state.step[own])
    # What a line or a parabola follows as well as splines do has no level between 0 and 1.
    tries = attempts(data, state.moved, state.free, state.fit) if state.fit.smoothness in SPLINES else ()
    for attempt in tries:
        yield state._replace(trying=f"jumps of width {attempt.levels.width:.2g}").widened(own)
    for last in last_rounds(data, state, attempt if attempt and attempt.preferred else None):
        yield last.widened(own)


def least(data: CrossFit, state: State) -> State:
    """Return the state at the minimum under the link of a state, or near it."""
    return next(last for k, last in enumerate(last_rounds(data, state, None)) if last.nearly_settled or k == REFITS)


def other_starts(data: CrossFit, state: State) -> abc.Generator[State, None, State]:
    """Return a settled state, or one from splines from other starts that predicts held-out answers much better."""
    if state.fit.smoothness in SPLINES or not doubtful(data, state.fit):
        return state
    others = list[Start]()
    for start in spline_starts(data, state.fit.mean_held_out):
        others.append(start)
        yield state._replace(trying="splines from other starts")
    best = min(others, key=lambda start: start.held_out, default=None)
    if best and best.held_out < state.fit.mean_held_out - DECIDED / len(data.X):
        state = yield from until_settled(smooth_rounds(data, len(state.B), best))
    return state


def until_settled(rounds: Iterator[State]) -> abc.Generator[State, None, State]:
    """Yield rounds until the steps are small, or so many that noise leads them, and return the last."""
    for number, state in enumerate(rounds):
        if state.nearly_settled or number >= MOST_ROUNDS:
            return state
        yield state
    raise AssertionError("rounds do not end")


def refitted_link(data: CrossFit, state: State) -> Fit:
    """Return the link of a state, fitted anew to the rows that links of starts are fitted to."""
    link = state.fit.log_odds
    return fit(data.sample(state.Z, link), state.fit.smoothness, link.coefficients)


def smooth_rounds(data: CrossFit, s: int, begin: Start) -> Iterator[State]:
    """Yield rounds with a spline for the log-odds, in which all columns move, without end."""
    B, Z, fits, choice, start, least, _ = begin
    p = len(B)
    exchanges = np.full(data.folds + 1, s if s < p else 0)
    together = s >= p and link_free_moves.suits_one_step(data)
    rounds, settled = 0, 0
    while True:
        # Chosen anew only while the directions still change much: then F is one function, and the rounds converge.
        choosing = rounds < CHOICES and settled < 2
        if rounds and choosing:
            fits = fit_all(data.sample(Z, fits[choice].log_odds), fits)
            before, choice = choice, chosen(fits, least)
            settled = settled + 1 if choice == before else 0
        elif rounds:
            current = fits[choice]
            fits[choice] = fit(data.rows(Z, current.log_odds), current.smoothness, current.log_odds.coefficients)
        free = B != 0 if s < p else np.ones_like(B, dtype=bool)
        link = link_free_moves.sharpened(fits[choice].log_odds, data.held_out(Z), int(free[:, -1].sum()))
        together = together and choosing
        if together:
            at, step = link_free_moves.one_step(data, B, Z, link)
        else:
            at = data.derivatives(Z, link)
            step = data.newton(at, B, free)
        yield State(B, Z, free, fits[choice], link, at, step, exchanges / s, start, choosing)
        moved = (link_free_moves.stepped if together else descended)(data, link, Moved(B, Z, at.loss), step)
        if exchanges.any():
            moved, exchanges = link_free_moves.exchanged(data, link, at, Moved(B, Z, at.loss), moved, exchanges, s)
        B, Z, rounds = moved.B, moved.Z, rounds + 1


def last_rounds(data: CrossFit, state: State, jumping: Attempt | None) -> Iterator[State]:
    """Yield rounds in which the last column alone moves, without end: under the link of `state`, or under jumps.

    The link and the support stay, so that F is one function and the rounds converge. Levels are fitted anew for some
    rounds, then they stay, too; the curvature at narrow jumps is not the Fisher information, whose steps would shrink
    by a few percent a round.
    """
    data, moved, link = data.whole, jumping.moved if jumping else state.moved, jumping.levels if jumping else state.link
    moved, free = Moved(moved.B[:, -1:], moved.Z[:, -1:], moved.loss[-1:]), state.free[:, -1:]
    fitted = state.fit._replace(mean_held_out=jumping.held_out) if jumping else state.fit
    state = state._replace(exchanges=np.zeros_like(state.exchanges), choosing=False)
    for round in count():
        link = refitted(data, moved.Z, link) if isinstance(link, Levels) and round < REFITS else link
        at = data.derivatives(moved.Z, link)
        moved = moved._replace(loss=at.loss)
        step = data.newton(at, moved.B, free)
        exact = data.newton(at._replace(weights=curvatures(data, moved.Z, link)), moved.B, free)
        step = exact if (exact * at.descent).sum() > 0 else step
        yield state._replace(B=moved.B, Z=moved.Z, free=free, fit=fitted, link=link, at=at, step=step)
        moved = descended(data, link, moved, step)


def workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold indices, trial indices and weights of all columns, the spline of every row; columns of length p."""
    columns = FOLDS + 1
    entries = min(requirements.sparse_size(spec, options), spec.p)
    errors = 6 * entries if entries <= MOST_ENTRIES else 0
    moments = 0 if int(options["kept"]) or spec.sparsity else 10 * spec.p**2
    return 8 * spec.n * (max(5 * columns, errors) + 40) + 8 * (spec.p * 16 * columns + moments) + 2**26


ENTRY = SolverEntry(
    name="link-free-refinement",
    title="Link-free refinement",
    update=r"b \leftarrow \frac{b + D}{\|b + D\|}, \qquad D = \text{Newton step of } -\tfrac1n \sum_i \log"
    r" \mathbb P(y_i \mid \hat\eta(\langle x_i, b\rangle))",
    summary="Estimates the unknown link and the signal in turn; nearly as accurate as methods that know the link.",
    reference="after Hardle, Hall & Ichimura (1993); Delecroix, Hristache & Patilea (2006)",
    run=link_free_refinement,
    families=("single-index",),
    knows=("sparsity",),
    workspace=workspace,
    refuse=all_of(requirements.needs_room, requirements.needs_answers, requirements.needs_some_moment),
)
