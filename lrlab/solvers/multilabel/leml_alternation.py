"""The alternation of LEML between its two factors, whatever the loss; options that its solvers share."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.multilabel.leml_products import Labels

HalfStep = Callable[[Array, Array], Array]

Regularization = Annotated[
    float, Parameter(meaning="weight of the penalty on the estimate", symbol="λ", low=0, high=1e9, scale="log")
]
Penalty = Annotated[
    str,
    Parameter(
        meaning="what the weight multiplies: the trace norm ‖Z‖∗, as in the paper, or ‖Z‖² / 2, as in ridge regression",
        choices=("trace", "frobenius"),
    ),
]
FittedRank = Annotated[
    int, Parameter(meaning="rank of the estimate; 0 takes the rank of the problem", symbol="k", low=0, high=10_000)
]

Measure = Callable[[Array, Array], tuple[float, tuple[Array, Array], tuple[Array, Array]]]
"""Loss, its gradients in W and in H, and those that it would have if X W H^T were 0."""


def alternate(
    labels: Labels,
    k: int,
    weight: float,
    penalty: str,
    label_factor: HalfStep,
    feature_factor: HalfStep,
    measure: Measure,
    rng: Generator,
    start: LowRank | None = None,
) -> Iterates:
    """Update H from A = X W, then W, and yield, without end; factors are split anew as the penalty wants them.

    Intercepts, where the problem wants them, are the last column of H: updated with it, outside the product W H^T and
    its penalty. From the factors of `start`, or of a random subspace after a power step.
    """
    trace, b, sizes = penalty == "trace", labels.first_intercepts(), labels.design.sizes[:, None]
    W, H = first_factors(labels, k, rng) if start is None else split(start, trace)
    A = labels.images(W)
    while True:
        H, b = np.hsplit(label_factor(A, np.hstack([H, b])), [H.shape[1]])
        if not trace:
            Z = lowrank.from_product(W, H)
            W, H = Z.left, Z.V
        Z = lowrank.from_product(feature_factor(W, np.hstack([H, b])), H)
        W, H = split(Z, trace)
        A = labels.images(W)
        whole = np.hstack([H, b])
        loss, (left, right), scale = measure(A, whole)
        left += weight * (W if trace else W * Z.s**2)
        right += labels.penalties(weight, whole.shape[1]) * whole
        # Each by itself and in the features' own units: else large features hide what the others still lack.
        residual = max(share(left / sizes, scale[0] / sizes), share(right, scale[1]))
        norm = float(Z.s.sum() if trace else Z.s @ Z.s / 2)
        yield Iterate(labels.estimate(Z, b), loss + weight * norm, residual)


def share(G: Array, whole: Array) -> float:
    """Return ||G|| / ||whole||, 0 where that is zero."""
    size = float(np.linalg.norm(whole))
    return float(np.linalg.norm(G)) / size if size else 0.0


def split(Z: LowRank, trace: bool) -> tuple[Array, Array]:
    """Return Z as W H^T, in the way in which (||W||_F^2 + ||H||_F^2) / 2 is the trace norm, or with W orthonormal."""
    # Frobenius: ||W H^T||_F is the norm of that factor which is updated next, the other one being orthonormal.
    root = np.sqrt(Z.s) if trace else np.ones_like(Z.s)
    return Z.U * root, Z.V * (root if trace else Z.s)


def first_factors(labels: Labels, k: int, rng: Generator) -> tuple[Array, Array]:
    """Return an orthonormal W, and H = 0: a random subspace after one power step with X^T Y."""
    X, Y = labels.X, labels.Y
    images = X @ rng.standard_normal((X.shape[1], k))
    return np.linalg.qr(X.T @ (Y @ (Y.T @ images)))[0], np.zeros((Y.shape[1], k))


def rank_of(problem: LabelData, fitted_rank: int) -> int:
    """Return the rank of the estimate, at most that of any W."""
    return min(fitted_rank or problem.rank, problem.X.shape[1], problem.Y.shape[1])
