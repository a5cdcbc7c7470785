"""LEML: low-rank empirical risk minimization for multi-label learning with missing labels (Yu et al. 2014)."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, choice
from lrlab.solvers.multilabel import labels as shared
from lrlab.solvers.multilabel.labels import LOSSES, Labels, Loss
from lrlab.solvers.multilabel.leml_steps import ObservedSquares, Risk, WholeSquares


def refuse(spec: Any, options: Options) -> None:
    """Refuse ranks that no W has, and the closed form if labels are missing or the loss is not squared."""
    shared.refuse_rank(spec, options)
    if options["inner"] == "exact" and not (spec.complete and options["loss"] == "squared"):
        remedy = "take inner=cg, or the squared loss and observe all labels"
        raise InputError("inner", "cg if labels are missing or the loss is not squared", "exact", remedy)


def matrix(spec: Any, options: Options) -> int:
    """Return the numbers in the matrices that LEML forms."""
    return (shared.gram_numbers if options["inner"] == "exact" else shared.factor_numbers)(spec, options)


@shared.label_solver(oracle="rank", matrix=matrix, refuse=refuse)
def leml(
    problem: LabelData,
    *,
    loss: Annotated[
        str, choice("squared", "logistic", "squared-hinge", help="squared, on labels 0, 1; else on labels -1, 1")
    ] = "squared",
    regularization: shared.Regularization = 1.0,
    penalty: shared.Penalty = "trace",
    fitted_rank: shared.FittedRank = 0,
    inner: Annotated[
        str,
        choice("cg", "exact", help="W by a few conjugate gradients, or exactly (squared loss, all labels observed)"),
    ] = "cg",
    steps: shared.Steps = 5,
    rng: Generator,
    coding: Loss | None = None,
    start: LowRank | None = None,
) -> Iterates:
    r"""LEML.

    Alternates between the factors of a low-rank predictor, using only the observed labels.

    .. math:: H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \sum_\Omega \ell(Y_{ij},
        x_i^\top W h_j) + \tfrac\lambda2 (\|W\|^2 + \|H\|^2)

    minimize    J(W, H) = sum over observed (i, j) of l(Y_ij, x_i^T W h_j) + lambda (||W||_F^2 + ||H||_F^2) / 2, with
                Z = W H^T (d, L) of rank k
    start       W = QR(X^T Y Y^T X R), R random, and H = 0; or the factors of `start`
    squared     H by least squares, a k x k system for all labels or for each; W by conjugate gradients on X^T (X W M -
                Y H) + lambda W, M = H^T H (all labels observed, Algorithm 2), or on X^T D H + lambda W with D only on
                the observed entries (Algorithm 1), stopped against the gradient at entry; or exactly
    others      H, then W, by 2 Newton steps, halved until J falls, on X^T U H + lambda S, U_ij = l''_ij (x_i^T S h_j)
    balance     W H^T = U s V^T, W <- U s^(1/2), H <- V s^(1/2), which lowers J to the loss + lambda ||Z||_*; with
                penalty=frobenius W, H <- U, V s before H and U s, V before W, so that J = loss + lambda ||Z||_F^2 / 2
    converges   J falls to a stationary value; to the global one for squared loss, all labels and lambda = 0 (section
                3). Test accuracy is often best after 2 to 5 iterations, and few conjugate gradients regularize too
    cost        squared loss with all labels: 2 `steps` products of X with d x k matrices; else as many products over
                the observed entries

    `coding` replaces the loss by one with other codes of labels. Yields after each iteration: estimate Z, objective J,
    residual: the gradient of J over the one of its loss at Z = 0, the larger of W's, divided by the norms of X's
    columns, and H's.

    Reference: Yu, Jain, Kar, Dhillon (2014), "Large-scale multi-label learning with missing labels", Algorithms 1-3.
    """
    labels, trace = Labels(problem, coding or LOSSES[loss]), penalty == "trace"
    squares = WholeSquares if labels.full else ObservedSquares
    kind: type[Risk] = squares if labels.loss.quadratic else Risk
    risk = kind(labels, regularization, steps, inner == "exact")
    W, H = split(start, trace) if start else first_factors(labels, shared.rank_of(problem, fitted_rank), rng)
    A, sizes = labels.images(W), labels.design.sizes[:, None]
    b: Array = np.zeros((len(H), labels.intercepts))
    while True:
        H, b = labels.split(risk.label_factor(A, np.hstack([H, b])))
        if not trace:
            Z = lowrank.from_product(W, H)
            W, H = Z.left, Z.V
            A = labels.images(W)
        Z = lowrank.from_product(risk.feature_factor(W, A, np.hstack([H, b])), H)
        W, H = split(Z, trace)
        A, whole = labels.images(W), np.hstack([H, b])
        value, (left, right), scale = risk.value(A, whole), risk.gradients(A, whole), risk.gradients(A, whole, at=0.0)
        left += regularization * (W if trace else W * Z.s**2)
        right += labels.penalties(regularization, whole.shape[1]) * whole
        # Factor by factor, in the features' own units: otherwise large features hide rank deficiency of the others.
        residual = max(ratio(left / sizes, scale[0] / sizes), ratio(right, scale[1]))
        norm = float(Z.s.sum() if trace else Z.s @ Z.s / 2)
        yield Iterate(labels.estimate(Z, b), value + regularization * norm, residual)


def ratio(G: Array, whole: Array) -> float:
    """Return ||G|| / ||whole||, or 0 if that is 0 / 0."""
    return float(np.linalg.norm(G)) / (float(np.linalg.norm(whole)) or np.inf)


def split(Z: LowRank, trace: bool) -> tuple[Array, Array]:
    """Return Z as W H^T, such that (||W||_F^2 + ||H||_F^2) / 2 is the nuclear norm, or with W orthonormal."""
    root = np.sqrt(Z.s) if trace else np.ones_like(Z.s)
    return Z.U * root, Z.V * (root if trace else Z.s)


def first_factors(labels: Labels, k: int, rng: Generator) -> tuple[Array, Array]:
    """Return an orthonormal W, a random subspace after one power step with X^T Y, and H = 0."""
    X, Y = labels.X, labels.Y
    images = X @ rng.standard_normal((X.shape[1], k))
    return np.linalg.qr(X.T @ (Y @ (Y.T @ images)))[0], np.zeros((Y.shape[1], k))
