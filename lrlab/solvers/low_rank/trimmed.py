"""Recovery from measurements with outliers: repeated least squares on the measurements that fit."""

from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np

from lrlab.arrays import Array, Mask
from lrlab.models.protocols import LowRankData
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop, number, solver
from lrlab.solvers.low_rank.gauss_newton import gauss_newton
from lrlab.theory.links import MEDIAN_ABS_NORMAL


@solver(family="low-rank", oracle="rank", memory=1.6)
def trimmed_gauss_newton(
    problem: LowRankData,
    *,
    cut: Annotated[float, number(1, 20, "standard deviations, by the median, of residuals that count")] = 3.0,
    rng: Generator,
) -> Iterates:
    r"""Trimmed Gauss-Newton.

    Gauss-Newton on the measurements that fit, chosen anew each time: for a few outliers.

    .. math:: W \leftarrow \arg\min_W \sum_{i \in R} (\mathcal A(W) - b)_i^2, \qquad
        R = \{i: |\mathcal A(W) - b|_i \le c\, s\}

    minimize    F(W) = sum over i in R of (A(W) - b)_i^2 / 2 over W (d1, d2) of rank k,  R = {i: |A(W) - b|_i <= cut s},
                s = 1.4826 times the median of all |A(W) - b|_i, the standard deviation if most are normal
    start       R = {i: |b_i| <= cut s}, s of b itself
    update      W <- Gauss-Newton on the measurements of R, to a residual of 1e-6; then R anew
    converges   to a fixed R, which need not have the least sum of squares
    cost        steps of Gauss-Newton; a subset of the data is copied each time

    Recovered 30 x 30 matrices of rank 2 from 500 measurements, tables of 80 x 80 from a quarter of their entries and
    networks of 40 inputs from 400, each with a fifth of them outliers of ten times the root mean square. Yields after
    each step: objective F with the present R; residual from Gauss-Newton, none if R will change.

    Reference: Rousseeuw & Van Driessen (2006), "Computing LTS regression for large data sets", whose concentration
    steps these are, with the cut of Rousseeuw & Leroy (1987) instead of a fraction.
    """
    A, b = problem.operator, problem.b
    floor = 1e-8 * float(np.median(np.abs(b))) / MEDIAN_ABS_NORMAL
    fits = within(b, cut, floor)
    for k in range(30):
        rows, kept = np.flatnonzero(fits), fits
        part: Any = SimpleNamespace(operator=A.subset(rows), b=b[rows], rank=problem.rank)
        note = f"Round {k + 1}: {len(b) - len(rows)} of {len(b)} measurements excluded."
        for at in gauss_newton(part, rng=rng):
            fits = within(A(at.estimate) - b, cut, floor)
            stays, solved = bool((fits == kept).all()), (at.residual or 0.0) <= 1e-6
            yield Iterate(at.estimate, at.objective, at.residual if stays else None, note, optimal=False)
            if solved and not stays:
                break
        if stays:
            return Stop.SETTLED if solved else Stop.STALLED
    return Stop.STALLED


def within(rest: Array, cut: float, floor: float) -> Mask:
    """Return which misfits (m,) are at most `cut` standard deviations, by their median; at least a rounding error."""
    return np.abs(rest) <= max(cut * float(np.median(np.abs(rest))) / MEDIAN_ABS_NORMAL, floor)
