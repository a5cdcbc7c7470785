"""What the solvers of Soltani & Hegde's family share: batches, the debiased gradient by products, steps, residuals."""

from collections.abc import Callable, Iterator
from typing import Annotated, NamedTuple

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LowRankData
from lrlab.operators.operator import Operator
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop

StepRule = Annotated[
    str,
    Parameter(
        meaning="step size: adaptive, by the curvature along the tangent space, or fixed (the paper's, 1)",
        choices=("adaptive", "fixed"),
    ),
]
Step = Annotated[float, Parameter(meaning="the fixed step size", symbol="η", low=0.001, high=10, scale="log")]

SOLVED = 64.0
"""||A(L) - b|| at so many rounding errors of ||b|| is no more than the rounding of A itself."""
STILL = 16.0
"""A move of so many rounding errors of ||L|| is none: single precision cannot do better."""
LARGEST_STEP = 4.0
"""The mean of the adaptive step is 1; flatter directions are where the measurements say nothing."""
GROWTH = 2.0
"""An adaptive step is halved while the objective exceeds this many times the lowest one so far."""
HALVINGS = 12


class EvaluatedSymmetric(NamedTuple):
    """A symmetric L = U diag(s) U^T (p, p), the image P = X U (m, r) of its U, and d = A(L) - b (m,)."""

    L: LowRank
    P: Array
    d: Array

    @property
    def objective(self) -> float:
        """||A(L) - b||^2 / 2."""
        return 0.5 * float(np.linalg.norm(self.d)) ** 2


def point(operator: Operator, b: Array, L: LowRank) -> EvaluatedSymmetric:
    """Return L with its image and misfit: one pass over the data."""
    P = operator.left(L.U)
    return EvaluatedSymmetric(L, P, operator.pair(P * L.s, P) - b)


class Gradient(NamedTuple):
    """G = A*(d) / (2m) - (mean(d) / 2) I + shift I, (p, p), of which E[G] = L - L_true where shift = 0."""

    operator: Operator
    d: Array
    shift: float = 0.0

    def times(self, V: Array, image: Array | None = None) -> Array:
        """Return G V (p, k): two passes over the data, one if the image X V is at hand."""
        image = self.operator.left(V) if image is None else image
        product = self.operator.moment_left(self.d, V, image)
        return product + self.shift * V if self.shift else product

    def dense(self) -> Array:
        """Return G itself."""
        G = self.operator.moment(self.d)
        G[np.diag_indices_from(G)] += self.shift
        return G


def adaptive_step(operator: Operator, now: EvaluatedSymmetric, GU: Array) -> float:
    """Return the eta at which <T, G(L - eta T)> = 0, with T = P G + G P - P G P the tangent part of G, P = U U^T.

    eta = ||T||^2 / <T, H(T)> with H(T) = A*(A(T)) / (2m) - (mean A(T) / 2) I, whose mean is T: about 1 when there are
    many measurements. GU = G U (p, r). T = U Z^T + Z U^T is never formed; one pass over the data.
    """
    U = now.L.U
    Z = GU - U @ (U.T @ GU) / 2
    inner = U.T @ Z
    size = 2 * float((Z * Z).sum() + (inner * inner.T).sum())
    image = 2 * operator.pair(now.P, operator.left(Z))
    trace = 2 * float(np.trace(inner))
    curvature = operator.scale * float(image @ image - operator.trace * image.sum() * trace)
    return size / curvature if curvature * LARGEST_STEP > size else LARGEST_STEP


def shortened(operator: Operator, b: Array, start: EvaluatedSymmetric) -> EvaluatedSymmetric:
    """Return the start L = P_r(M) times the adaptive step from 0 to it: with few samples it is too large by far.

    The step is ||L||^2 / <L, H(L)>, as L is the tangent part of M at L, from M = -G(0). No pass over the data.
    """
    L, image = start.L, start.d + b
    curvature = operator.scale * float(image @ image - operator.trace * image.sum() * L.s.sum())
    size = float(L.s @ L.s)
    eta = L.s.dtype.type(size / curvature if curvature > size else 1.0)
    return EvaluatedSymmetric(LowRank(L.U, eta * L.s, L.V), start.P, eta * image - b)


Line = tuple[Callable[[float], LowRank], Callable[[], Array]]
"""eta -> the L that a step eta leads to, and what returns G U (p, r), which the adaptive step takes."""


def descent(
    problem: LowRankData,
    start: Callable[[Operator, Array], LowRank],
    line: Callable[[Operator, EvaluatedSymmetric], Line],
    fixed: float | None,
    fresh_batches: int,
) -> Iterates:
    """Yield the iterates of a method from its `start` along its lines, by a fixed step, or adaptive ones without.

    start(operator, answers), line(operator, where L stands): of one batch or, where `fresh_batches` is 0, of all
    samples. Objectives are those of all.
    """
    operator, b = problem.operator, problem.b
    parts = batches(operator, b, fresh_batches)
    now = point(operator, b, start(*next(parts)))
    if not fixed:
        now = shortened(operator, b, now)
    lowest = now.objective
    for part, answers in parts:
        # Where all samples are reused the misfit of the estimate is at hand.
        current = now if part is operator else point(part, answers, now.L)
        to, image = line(part, current)
        eta = fixed or adaptive_step(part, current, image())
        following = point(operator, b, to(eta))
        # It need not fall: G is the gradient of another function, that without the bias, and comes to rest at a
        # slightly larger objective where there is noise.
        for _ in range(0 if fixed else HALVINGS):
            if following.objective <= GROWTH * lowest:
                break
            eta /= 2
            following = point(operator, b, to(eta))
        yield iterate(b, now, following.L, eta, f"Step {eta:.3g}.")
        now, lowest = following, min(lowest, following.objective)
    yield Iterate(now.L, now.objective)
    return Stop.EXHAUSTED


def iterate(b: Array, now: EvaluatedSymmetric, following: LowRank, step: float, note: str) -> Iterate:
    """Return the iterate at L with the residual ||L_next - L||_F / (step ||L||_F), 0 where that is rounding error.

    Where G comes to rest is not where the gradient of ||A(L) - b||^2 does, unless ||A(L) - b|| is rounding error: the
    residual is then 0, and L optimal.
    """
    eps, size = float(np.finfo(b.dtype).eps), float(np.linalg.norm(now.L.s))
    solved = bool(np.linalg.norm(now.d) <= SOLVED * eps * np.linalg.norm(b))
    moved = float(np.linalg.norm(lowrank.difference(following, now.L))) / (step * size) if size else 1.0
    residual = 0.0 if solved or moved <= STILL * eps else moved
    return Iterate(now.L, now.objective, residual, note, optimal=solved)


def batches(operator: Operator, b: Array, count: int) -> Iterator[tuple[Operator, Array]]:
    """Yield the operator and answers of each batch; all samples, endlessly, where count is 0.

    Raises InputError where there are more batches than samples.
    """
    if count > operator.size:
        remedy = f"lower it to {operator.size} or less, or raise m"
        raise InputError("fresh_batches", f"at most the number of samples {operator.size}", count, remedy)
    while not count:
        yield operator, b
    for rows in np.array_split(np.arange(operator.size), count):
        yield operator.subset(rows), b[rows]
