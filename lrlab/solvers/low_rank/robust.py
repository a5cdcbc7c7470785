"""Recovery from measurements of which some are grossly wrong, by robust losses: Gauss-Newton, reweighted."""

from collections.abc import Generator
from functools import partial
from itertools import islice
from typing import Annotated

import numpy as np
from numpy.random import Generator as Random

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator, alignment, unresolvable
from lrlab.operators.weighted import Weighted
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.low_rank.gauss_newton import following, gauss_newton
from lrlab.solvers.low_rank.requirements import ranked_entry
from lrlab.solvers.low_rank.tangent import line, point
from lrlab.solvers.low_rank.tangent_least_squares import least_squares_step
from lrlab.solvers.low_rank.trimmed import DEVIATION, Part, within
from lrlab.solvers.low_rank.trimmed import workspace as trimmed_workspace
from lrlab.solvers.low_rank.whole_steps import WholeSteps

CUTS = {"huber": 1.345, "absolute": 0.1}
"""Standard deviations from which on a misfit counts by its size: 1.345 is 95% efficient under normal noise."""
FIRST_CUT = 3.0
"""Standard deviations of b itself up to which measurements are part of the first problem."""
ROUGHLY = 0.01
"""Residual of the first problem at which all measurements are taken."""
EXACT = 1e-8
"""Standard deviations of b below which the cut does not fall: rounding is then a small part of what is left."""
STEADY = 1e-3
"""Relative change of the cut below which it has settled."""
FIRST_STEPS, INNER_TOL, INNER_STEPS = 30, 1e-4, 500


def robust_gauss_newton(
    problem: LowRankData,
    *,
    loss: Annotated[
        str,
        Parameter(
            meaning="huber: squares of misfits up to 1.345 standard deviations, sizes beyond; absolute: sizes from a "
            "tenth of a standard deviation on",
            choices=("huber", "absolute"),
        ),
    ] = "huber",
    rng: Random,
) -> Iterates:
    r"""Recover W of rank k from b = A(W) + noise of which some measurements are grossly wrong.

    minimise    F_c(W) = sum_i rho_c((A(W) - b)_i) over rank W = k,  rho_c(r) = r^2 / 2 up to |r| = c, c |r| - c^2 / 2
                beyond;  c = 1.345 s (huber) or 0.1 s (absolute), s = 1.4826 times the median of all |A(W) - b|_i
    start       Gauss-Newton on {i: |b_i| <= 3 s}, s of b itself, to a residual of 0.01
    update      w_i = min(1, c / |A(W) - b|_i), W <- a step of Gauss-Newton for sum_i w_i (A(W) - b)_i^2 / 2, halved
                until that sum falls; then c anew, never larger
    converges   F_c never rises: that sum, but for a constant, is nowhere below it, with its value and gradient at W.
                Without noise c falls to 1e-8 s of b by a constant factor where gross errors are few, and W is exact to
                about that; with noise it settles near 1.345 (0.1) of its standard deviations, with `absolute` after
                hundreds of steps

    Yields after each step: objective F_c with the present c; residual, where c has settled, the cosine between the
    weighted misfit and the measured step, 0 at a stationary point of F_c, none before. It ends as a local minimum where
    the truth has a smaller F_c. STALLED where no step lowers F_c.
    Reference: Huber (1964), "Robust estimation of a location parameter", section 4, for the loss; Holland & Welsch
    (1977), "Robust regression using iteratively reweighted least-squares", for the update and the constant 1.345.
    """
    A, b, cut = problem.operator, problem.b, CUTS[loss]
    least = EXACT * deviation(b)
    W = yield from first_problem(A, b, problem.rank, cut, rng)
    at, c, whole = point(A, W, b), np.inf, WholeSteps(A, b, rng)
    while True:
        before, c = c, min(c, max(cut * deviation(at.misfit), least))
        if c == 0.0:
            yield Iterate(at.W, 0.0, 0.0, "Most measurements are 0, and fitted.")
            return Stop.CONVERGED
        # In exact data the cut falls as long as the misfit does.
        steady = before - c <= STEADY * c
        roots = np.sqrt(weights(at.misfit, c))
        near, scaled, weighted = Weighted(A, roots), roots * b, at._replace(misfit=roots * at.misfit)
        step, inner, remaining = least_squares_step(near, weighted, INNER_TOL, INNER_STEPS)
        along = line(near, weighted, step)
        residual = max(alignment(weighted.misfit, along.image, scaled), remaining)
        note = f"{np.count_nonzero(roots < 1)} of {len(b)} misfits are above the cut, {c:.2g}; {inner} inner steps."
        nats = partial(in_nats, A, b, c, cut)
        yield Iterate(at.W, huber(at.misfit, c), residual if steady else None, note, loss=nats)
        if steady and unresolvable(residual, scaled):
            return Stop.CONVERGED
        whole.operator, whole.b = near, scaled
        better = following(near, weighted, along, scaled, 0.0, whole.leave)
        if better is None and steady:
            return Stop.STALLED
        at = at if better is None else point(A, better.W, b)


def first_problem(A: Operator, b: Array, rank: int, cut: float, rng: Random) -> Generator[Iterate, None, LowRank]:
    """Yield the iterates of Gauss-Newton on measurements that are not large; return the first of a small residual."""
    rows = np.flatnonzero(within(b, FIRST_CUT, 0.0))
    note, c = f"First problem: {len(rows)} of {len(b)} measurements.", cut * deviation(b)
    for step in islice(gauss_newton(Part(A.subset(rows), b[rows], rank), rng=rng), FIRST_STEPS):
        W = step.estimate
        if step.residual is not None and step.residual <= ROUGHLY:
            break
        yield Iterate(W, huber(A.forward(W) - b, c), None, note)
    return W


def deviation(rest: Array) -> float:
    """Return the standard deviation of misfits (m,) of which most are normal, by their median."""
    return DEVIATION * float(np.median(np.abs(rest)))


def weights(rest: Array, c: float) -> Array:
    """Return min(1, c / |r|) for each misfit r (m,): least squares with these has the gradient of F_c."""
    return c / np.maximum(np.abs(rest), c)


def huber(rest: Array, c: float) -> float:
    """Return F_c, the sum of r^2 / 2 up to |r| = c and of c |r| - c^2 / 2 beyond, of misfits (m,)."""
    sizes = np.abs(rest)
    squared = np.minimum(sizes, c)
    return float(np.sum(squared * (sizes - squared / 2)))


def in_nats(A: Operator, b: Array, c: float, cut: float, W: LowRank) -> float:
    """Return F_c / (c s) at any W, s = c / cut: its loss where misfits have the tails of Laplace's law."""
    return huber(A.forward(W) - b, c) * cut / c**2


ENTRY = ranked_entry(
    title="Robust Gauss-Newton (Huber)",
    update=r"W \leftarrow \arg\min_W \sum_i w_i (\mathcal A(W) - b)_i^2, \qquad w_i = \min\bigl(1,\ c / |\mathcal A(W)"
    r" - b|_i\bigr)",
    summary="Gauss-Newton, reweighted for Huber's loss or absolute deviations: for some measurements that are grossly "
    "wrong, with noise in the others.",
    run=robust_gauss_newton,
    families=("low-rank",),
    workspace=trimmed_workspace,
)
