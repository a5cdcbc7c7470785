"""Gradient descent on factors with more columns than the rank, plain and preconditioned (PrecGD)."""

from functools import partial
from itertools import count
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.low_rank import LowRankSpec
from lrlab.models.protocols import LowRankData
from lrlab.operators.entries import Entries
from lrlab.operators.operator import Operator, alignment, unresolvable
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.low_rank.requirements import moment_workspace, ranked_entry
from lrlab.solvers.low_rank.starts import Start, started
from lrlab.solvers.low_rank.tangent import Path, least
from lrlab.solvers.methods.matrix_memory import image_rows, number_bytes

NEGLIGIBLE = 1e-10
"""Terms below this share of the largest are left out for good."""
REFRESHED = 20
"""Iterations after which images are computed from the factors again, lest rounding errors add up."""

Columns = Annotated[
    int,
    Parameter(
        meaning="columns of the factors, no more than the matrix has; 0: twice the given rank, or that rank itself "
        "where a side of the table has no features, as matrices of a rank just larger then fit, too",
        symbol="K",
        low=0,
        high=10_000,
    ),
]


def overparameterised_gradient(
    problem: LowRankData, *, columns: Columns = 0, start: Start = "moment", rng: Generator
) -> Iterates:
    r"""Recover W (d1, d2), whose rank k is known only to be at most K, from b = A(W) by gradient descent on factors.

    minimise   f(U, V) = ||A(U V^T) - b||^2 / 2  over U (d1, K), V (d2, K); symmetric: V = U, eigenvalues not negative
    update     (U, V) <- (U, V) - eta (G V, G^T U),  G = A*(A(U V^T) - b); f is quartic in eta, minimised exactly
    converges  linearly if K = k, at a rate that depends on the condition number of W; if K > k, errors fall like a
               power of the iterations only, as the gradients of the columns that are not needed vanish with them

    Start: the leading K terms of the moment, all taken as positive. Yields the factors before each step: objective f;
    residual the cosine between the misfit and what the gradient on the matrices of rank K changes of it, 0 when the
    misfit is rounding error. O(m (d1 + d2) K) an iteration.
    Reference: Zhuo, Kwon, Ho, Caramanis (2021), "On the computational and statistical complexity of
    over-parameterized matrix sensing", for the rates. The exact step is an addition of this lab.
    """
    return descent(problem, columns, None, start, rng)


def precgd(
    problem: LowRankData,
    *,
    columns: Columns = 0,
    damping: Annotated[
        float,
        Parameter(
            meaning="regularisation of the preconditioner, as a share of the estimated error",
            symbol="η/error",
            low=1e-6,
            high=1e3,
            scale="log",
        ),
    ] = 0.1,
    start: Start = "moment",
    rng: Generator,
) -> Iterates:
    r"""Recover W (d1, d2), whose rank k is known only to be at most K, from b = A(W): PrecGD.

    minimise   f(U, V) = ||A(U V^T) - b||^2 / 2  over U (d1, K), V (d2, K); symmetric: V = U, eigenvalues not negative
    update     U <- U - t G V (V^T V + eta I)^-1,  V <- V - t G^T U (U^T U + eta I)^-1,  G = A*(A(U V^T) - b);
               f is quartic in t, minimised exactly
    eta        damping sqrt(scale) ||A(U V^T) - b||, an estimate of damping ||U V^T - W||_F: with a fixed eta steps
               would be slow near W, with eta = 0 the columns that are not needed would be unstable
    converges  linearly, also if K > k, at a rate that does not depend on the singular values of W, where no other
               matrix of rank K fits: of Gaussian measurements with K = 2k none of ten at 1.5 and 2 times the degrees
               of freedom, all at 3 times. In plain completion, and in regression where a label has fewer answers than
               there are features, some of rank k + 1 do: runs with K > k end at one of them, or come near it slowly.
               With K = 2k that takes about 3 times the degrees of freedom (seen at condition 1 to 100: none or one of
               two at 2.2 times, all at 3 times); the plain method is still above errors of 0.01 there after 1,000.
               Features that are nearly as many as rows mix few entries: 75 of 80 a side, none of ten at 3 times, where
               25 of 80 a side give all

    Otherwise as `overparameterised_gradient`.
    Reference: Zhang, Fattahi, Zhang (2021), "Preconditioned gradient descent for over-parameterized nonconvex matrix
    factorization" (PrecGD, symmetric W); Xu, Shen, Chi, Ma (2023), "The power of preconditioning in overparameterized
    low-rank matrix sensing"; for two factors as in Tong, Ma, Chi (2021), ScaledGD.
    """
    return descent(problem, columns, damping, start, rng)


def descent(problem: LowRankData, columns: int, damping: float | None, start: str, rng: Generator) -> Iterates:
    """Yield the iterates of both methods; without a damping those of the plain one."""
    A, b = problem.operator, problem.b
    # A response or a row that is hardly observed leaves room for matrices of rank one that no measurement sees.
    unseen = isinstance(A, Entries) and (A.X is None or A.Y is None)
    W = started(A, b, min(columns or (1 if unseen else 2) * problem.rank, *A.shape), rng, start)
    at = Factors.of(A, W._replace(s=np.abs(W.s)))
    for iteration in count(1):
        W = at.estimate(A)
        if W.s[-1] <= NEGLIGIBLE * W.s[0] or iteration % REFRESHED == 0:
            retained = max(1, int((W.s > NEGLIGIBLE * W.s[0]).sum()))
            at = Factors.of(A, W := W.truncated(retained))
        rest = A.pair(at.P, at.Q) - b
        slope = at.slope(A, rest)
        value, residual = float(rest @ rest) / 2, alignment(rest, slope.tangent_image(A), b)
        yield Iterate(W, value, residual)
        eta = None if damping is None else damping * float(np.sqrt(2 * A.scale * value))
        step, path = slope.step(A, eta)
        at = at.moved(A, step, path, least(rest, path))
        rest = A.pair(at.P, at.Q) - b
        if not float(rest @ rest) / 2 < value:
            return Stop.CONVERGED if unresolvable(residual, b) else Stop.STALLED


class Factors(NamedTuple):
    """W = U V^T and the images P of U and Q of V; V is U where W is symmetric."""

    U: Array
    V: Array
    P: Array
    Q: Array

    @staticmethod
    def of(A: Operator, W: LowRank) -> "Factors":
        """Share the singular values evenly."""
        root = np.sqrt(W.s)
        U = W.U * root
        P = A.left(U)
        if A.symmetric:
            return Factors(U, U, P, P)
        V = W.V * root
        return Factors(U, V, P, A.right(V))

    def estimate(self, A: Operator) -> LowRank:
        """Return W."""
        if not A.symmetric:
            return lowrank.from_product(self.U, self.V)
        Q, R = np.linalg.qr(self.U)
        W = lowrank.from_core(Q, R @ R.T, len(R.T))
        return W._replace(s=np.maximum(W.s, 0))

    def slope(self, A: Operator, rest: Array) -> "Slope":
        """Return the gradient."""
        left = A.pull_left(rest, self.Q)
        image = A.left(left)
        if A.symmetric:
            return Slope(self, (left, left), (image, image))
        right = A.pull_right(rest, self.P)
        return Slope(self, (left, right), (image, A.right(right)))

    def moved(self, A: Operator, step: tuple[Array, Array], path: Path, eta: float) -> "Factors":
        """Return the factors a step along a path."""
        t = self.U.dtype.type(eta)
        U, P = self.U + t * step[0], self.P + t * path.P
        return Factors(U, U, P, P) if A.symmetric else Factors(U, self.V + t * step[1], P, self.Q + t * path.Q)


class Slope(NamedTuple):
    """The gradients G V and G^T U at factors, and their images."""

    at: Factors
    parts: tuple[Array, Array]
    images: tuple[Array, Array]

    def tangent_image(self, A: Operator) -> Array:
        """Return A(G P_V + P_U G), P the projections on the spans of the factors."""
        image = A.pair(self.images[0] @ inverse(self.at.V), self.at.Q)
        return image if A.symmetric else image + A.pair(self.at.P, self.images[1] @ inverse(self.at.U))

    def step(self, A: Operator, eta: float | None) -> tuple[tuple[Array, Array], Path]:
        """Return the step against the gradient, scaled by (V^T V + eta I)^-1 and (U^T U + eta I)^-1, and its path."""
        by = [-np.eye(F.shape[1], dtype=F.dtype) if eta is None else -inverse(F, eta) for F in (self.at.V, self.at.U)]
        (P, Q), step = ((a @ by[0], b @ by[1]) for a, b in (self.images, self.parts))
        cross = A.pair(P, self.at.Q)
        first = 2 * cross if A.symmetric else cross + A.pair(self.at.P, Q)
        return step, Path(first, A.pair(P, Q), P, Q)


def inverse(F: Array, eta: float = 0.0) -> Array:
    """Return (F^T F + eta I)^-1, its pseudo-inverse where that is singular."""
    gram = F.T @ F + F.dtype.type(eta) * np.eye(F.shape[1], dtype=F.dtype)
    return np.linalg.pinv(gram, rcond=1e-14, hermitian=True)


def workspace(spec: LowRankSpec, options: Options) -> int:
    """Hold a dozen images and factors of so many columns."""
    columns = min(int(options["columns"]) or 2 * spec.given_rank, *spec.size)
    rows = image_rows(spec) + sum(spec.size)
    return moment_workspace(spec, options) + 8 * number_bytes(spec) * columns * rows


def refuse_mixed_signs(spec: LowRankSpec, options: Options) -> None:
    """Refuse networks with negative output weights, which U U^T does not have."""
    if spec.values().get("signs") == "mixed" and spec.true_rank > 1:
        remedy = "set signs=positive, or take scaled-gradient or tangent-descent"
        raise InputError("signs", "positive for this solver, whose U U^T has no negative eigenvalue", "mixed", remedy)


_entry = partial(ranked_entry, families=("low-rank",), max_iter=1000, workspace=workspace, refuse=refuse_mixed_signs)

ENTRIES = (
    _entry(
        title="Gradient descent, over-parameterised",
        update=r"U \leftarrow U - \eta\, G V, \quad V \leftarrow V - \eta\, G^\top U, \qquad G = \mathcal"
        r" A^*(\mathcal A(U V^\top) - b)",
        summary="Plain gradient descent on factors with more columns than the rank: slow, like a power of iterations.",
        run=overparameterised_gradient,
    ),
    _entry(
        title="PrecGD (over-parameterised)",
        update=r"U \leftarrow U - t\, G V (V^\top V + \eta I)^{-1}, \quad V \leftarrow V - t\, G^\top U (U^\top U"
        r" + \eta I)^{-1}, \quad G = \mathcal A^*(\mathcal A(U V^\top) - b)",
        summary="Preconditioned gradient descent on factors with more columns than the rank: with twice as many seen "
        "to recover from 3 times the unknowns on where measurements mix many entries; of tables, and of features "
        "nearly as many as rows, take columns = rank.",
        run=precgd,
    ),
)
