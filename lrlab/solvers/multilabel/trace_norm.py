"""Nuclear-norm multi-label learning: convex, so that the optimum is known, at the price of a d x L matrix."""

import math
from typing import Annotated

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop, choice
from lrlab.solvers.methods.proximal import fasta, lowered
from lrlab.solvers.multilabel import labels as shared
from lrlab.solvers.multilabel.leml_steps import Risk, WholeSquares


@shared.table_solver(changed={"regularization": {"default": 300.0}, "loss": {"meaning": "loss on labels -1, 1"}})
@shared.label_solver(memory=0.0, matrix=shared.table_numbers)
def trace_norm(
    problem: LabelData,
    *,
    loss: Annotated[str, choice("squared", "logistic", help="squared on labels 0, 1; logistic on -1, 1")] = "squared",
    regularization: shared.Regularization = 20.0,
    rng: Generator,
) -> Iterates:
    r"""Nuclear norm.

    One convex problem for all labels, whose penalty makes the rank low: the optimum that leml looks for.

    .. math:: W \leftarrow S_{t \lambda}\bigl(W - t\, X^\top D(W)\bigr), \quad D_{ij}(W) = \ell'(Y_{ij}, x_i^\top w_j)
        \text{ on } \Omega, \qquad S_\tau \text{ lowers all singular values by } \tau

    minimize    F(W) = sum over observed (i, j) of l(Y_ij, x_i^T w_j) + lambda ||W||_*  over W (d, L)
    update      t and the line search as in FASTA, but F never rises; for the squared loss with all labels observed the
                gradient is X^T A H^T - X^T Y of the factors W = U H^T, A = X U
    converges   to the one optimum; W = 0 from the largest singular value of the gradient at 0 on. The logistic loss
                without a penalty has none if W separates the labels (NO_MINIMUM)
    cost        a product of X with d x L, and a singular value decomposition of d x L

    The rank of the problem is not used. One-bit labels are coded -1, 1. Yields endlessly: estimate W, objective F,
    residual: a bound on the distance of 0 from the subdifferential of F, over the gradient of the loss at W = 0, both
    as they are or divided by the norms of X's columns, whichever is larger.

    Reference: Yu, Jain, Kar, Dhillon (2014), eq. 2 without the rank, section 4; SMT and LRT in Qiu et al. (2017).
    """
    labels = shared.Labels(
        problem, (shared.SIGN_LOSSES if hasattr(problem, "signs_per_label") else shared.LOSSES)[loss]
    )
    risk = WholeSquares(labels) if loss == "squared" and labels.full else Risk(labels)
    d, L = problem.X.shape[1], problem.Y.shape[1]
    zero, b = lowrank.zero((d, L), 1), np.zeros((L, labels.intercepts))

    def value(W: LowRank) -> tuple[float, tuple[Array, Array]]:
        A = labels.images(W.left)
        H = np.hstack([W.V, best_intercepts(labels, A, np.hstack([W.V, b]))])
        return risk.value(A, H), (A, H)

    def gradient(images: tuple[Array, Array]) -> Array:
        b[:] = labels.split(images[1])[1]
        return risk.gradient(*images)

    first = gradient(value(zero)[1])
    units = np.ones((1, 1)), labels.design.sizes[:, None]
    scales = [float(np.linalg.norm(first / one)) or 1.0 for one in units]
    # 1 over the curvature along the leading direction downhill of losses whose second derivative is 1.
    step = 1.0 / (float(np.linalg.norm(labels.X @ lowrank.from_dense(first, 1).U)) ** 2 or 1.0)
    prox = lambda V, t: lowered(lowrank.from_dense(V), t * regularization)  # noqa: E731
    for at in fasta(value, gradient, prox, zero, step, memory=1):
        W, rest = at.x, at.gradient + at.z
        residual = max(float(np.linalg.norm(rest / one)) / scale for one, scale in zip(units, scales, strict=True))
        F = at.f + regularization * float(W.s.sum())
        # Below the logistic loss of one margin of 0 every sign is right: without a penalty F falls for ever.
        endless = loss == "logistic" and not regularization and F < math.log(2.0)
        estimate, note = labels.estimate(W, b), f"Rank {np.count_nonzero(W.s)}."
        yield Iterate(estimate, F, None if endless else residual, note)
        if endless and residual <= 1e-8:
            return Stop.NO_MINIMUM


def best_intercepts(labels: shared.Labels, A: Array, H: Array) -> Array:
    """Return the best intercepts (L, 1) for scores A H^T, by Newton's method from those of H; (L, 0) without any.

    Steps have at most length 1, since the logistic loss is flat far from its minimum. Intercepts are at most 30, as of
    labels that are never or always positive.
    """
    loss, (Z, b) = labels.loss, labels.split(H)
    if loss.quadratic and labels.full and b.size:
        return b + np.asarray(labels.coded.mean(axis=0) - H @ A.mean(axis=0))[:, None]
    for _ in range(50 if b.size else 0):
        slope, curvature = np.zeros(len(H)), np.zeros(len(H))
        for rows in labels.blocks:
            scores, target = labels.scores(rows, A, np.hstack([Z, b])), labels.target(rows)
            slope += labels.table(rows, loss.slope(target, scores)).sum(axis=0)
            curvature += labels.table(rows, loss.curvature(target, scores)).sum(axis=0)
        step = np.divide(slope, curvature, out=np.zeros_like(slope), where=curvature > 0)
        b = np.clip(b - np.clip(step, -1.0, 1.0)[:, None], -30.0, 30.0)
        if np.abs(step).max() < 1e-10:
            break
    return b
