"""Binary relevance: a linear classifier per label, on the rows with this label observed."""

from typing import Annotated, Any

import numpy as np
from scipy.sparse import issparse

from lrlab import lowrank
from lrlab.linalg import solve_positive
from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options, choice
from lrlab.solvers.multilabel.classifiers import one_by_one
from lrlab.solvers.multilabel.design import Design, dense, gram
from lrlab.solvers.multilabel.labels import LOSSES, Ridge, gram_numbers, label_solver, table_solver

CLOSED = 4000
"""Most features, or rows, for normal equations of sparse features, which are smaller than these equations."""

SIGNS = {"choices": ("hinge", "squared-hinge", "logistic"), "default": "hinge", "meaning": "loss on labels -1, 1"}
"""The losses of one-bit labels."""


def normal_equations(spec: Any, options: Options) -> int:
    """Return the numbers in the weights of all labels, and in normal equations if they are formed."""
    # Your own features may be sparse.
    full = spec.synthetic and spec.density == 1
    formed = options["loss"] == "squared" and spec.complete and (full or min(spec.n, spec.d) <= CLOSED)
    return gram_numbers(spec, options) if formed else spec.d * spec.labels


@table_solver(changed={"loss": SIGNS})
@label_solver(matrix=normal_equations)
def binary_relevance(
    problem: LabelData,
    *,
    regularization: Ridge = 10.0,
    loss: Annotated[str, choice(*LOSSES, help="squared, on labels 0, 1; else on labels -1, 1")] = "squared",
    rng: Generator,
) -> Iterates:
    r"""Binary relevance.

    A linear classifier for each label by itself: the full-rank baseline that low rank has to beat.

    .. math:: w_j = \arg\min_w \sum_{i \in \Omega_j} \ell(Y_{ij}, x_i^\top w) + \tfrac\lambda2 \|w\|^2

    minimize    F(Z) = sum over observed (i, j) of l(Y_ij, x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ..., w_L)
    squared     all labels observed: one Cholesky factorization of X^T X + lambda I, or of X X^T + lambda I if smaller,
                unless X is sparse and both are large
    others      scikit-learn's solvers, one label at a time: squared by Cholesky, or by conjugate gradients if features
                are sparse; logistic by L-BFGS; squared hinge by LIBLINEAR; hinge, the widest margin, by LIBLINEAR's
                dual coordinate descent with C = 1 / lambda. At most 10 passes over the rows per label, then 100, 1,000
                and 10,000 for labels that need more
    cost        squared: X^T X, of each label if some are missing; others: a few passes over X per label

    With intercepts b_j, if the problem wants them, scores are x^T w_j + b_j; nothing penalizes b_j, except that
    LIBLINEAR takes them for weights of a constant feature 10. The rank of the problem is not used; the estimate has
    rank min(d, L). Yields estimate Z, objective F; at once for all labels: residual ||F'(Z)|| / ||F'(0)||, both divided
    by the norms of X's columns.

    Reference: Yu, Jain, Kar, Dhillon (2014), section 5.2; scikit-learn's Ridge, LogisticRegression, LinearSVC; Hsieh,
    Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for large-scale linear SVM".
    """
    large = issparse(problem.X) and min(problem.X.shape) > CLOSED
    if loss != "squared" or problem.mask is not None or large:
        return (yield from one_by_one(problem, LOSSES[loss], regularization))
    yield closed(problem, regularization)


def closed(problem: LabelData, weight: float) -> Iterate:
    """Return the ridge regression of all labels, observed everywhere, by one factorization."""
    design, Y = Design.of(problem.X, problem.intercept), problem.Y
    X, n = design.X, Y.shape[0]
    mean = np.zeros(Y.shape[1]) if design.mean is None else Y.mean(axis=0)
    sizes = design.sizes[:, None]
    tall, moments = n >= X.shape[1], dense(X.T @ Y)
    if tall:
        # In the features' own units, which must not decide the numerical rank of a factorization.
        G = gram(X, tall)
        G /= sizes
        G /= sizes.T
        Z = solve_positive(G, moments / sizes, weight / sizes.ravel() ** 2) / sizes
    else:
        Z = X.T @ solve_positive(gram(X, tall), Y.toarray() - mean, weight)
    images = X @ Z
    rest = X.T @ images - moments + weight * Z
    squares = Y.nnz - n * float(mean @ mean)
    value = (squares - 2 * float(np.vdot(moments, Z)) + float(np.vdot(images, images))) / 2
    residual = float(np.linalg.norm(rest / sizes) / (np.linalg.norm(moments / sizes) or 1.0))
    estimate = design.estimate(lowrank.LowRank, lowrank.from_dense(Z), mean)
    return Iterate(estimate, value + weight * float(np.vdot(Z, Z)) / 2, residual)
