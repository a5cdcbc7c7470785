"""Binary relevance: one classifier, or support vector machine, for each label by itself, on its observed rows."""

import warnings
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.sparse import csc_array, csr_array, issparse, vstack

from lrlab import lowrank
from lrlab.arrays import Array, Matrix
from lrlab.linalg import solve_positive
from lrlab.models.multilabel import Multilabel
from lrlab.models.protocols import LabelData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.multilabel.label_losses import HINGE, LOGISTIC, SQUARED, SQUARED_HINGE, Loss
from lrlab.solvers.multilabel.requirements import BLOCK_BYTES, multilabel_entry, spectrum_bytes

Ridge = Annotated[
    float, Parameter(meaning="weight of ||w||^2 / 2 of each label", symbol="λ", low=1e-6, high=1e9, scale="log")
]

LOSSES = {"squared": SQUARED, "logistic": LOGISTIC, "squared-hinge": SQUARED_HINGE}
CLOSED = 4000
"""Up to so many features, or rows, the normal equations are formed where all labels are observed."""
STEPS = 10
PASSES = (10, 100, 1000, 10_000)
"""Passes that scikit-learn's solvers may take over a label, the first time and where that was not enough."""
TOLERANCES = {HINGE: 1e-4}
TOLERANCE = 1e-5
TOGETHER = 64
"""Labels whose scores are held at a time."""


def binary_relevance(
    problem: LabelData,
    *,
    regularization: Ridge = 10.0,
    loss: Annotated[
        str, Parameter(meaning="squared: ridge regression on labels 0, 1; else on labels -1, 1", choices=tuple(LOSSES))
    ] = "squared",
    rng: Generator,
) -> Iterator[Iterate]:
    r"""Predict each label j by x^T w_j, with a w_j of its own: the full-rank baseline.

    minimise    F(Z) = sum over observed (i, j) of l(Y_ij, x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ..., w_L)
    squared     all labels observed: one Cholesky factorisation of X^T X + lambda I, or of X X^T + lambda I if smaller;
                else conjugate gradients for all labels at once, each with its own step lengths
    others      scikit-learn's solvers: logistic by L-BFGS, squared hinge by LIBLINEAR; all labels in 10 passes at most,
                then those for which that was too few in 100, 1,000, 10,000

    The rank of the problem is not used; the estimate has the rank min(d, L).
    Yields estimate Z, objective F; squared: residual ||F'(Z)|| / ||F'(0)||.
    Reference: Yu, Jain, Kar, Dhillon (2014), section 5.2; scikit-learn's LogisticRegression and LinearSVC.
    """
    if loss != "squared":
        return (yield from one_by_one(problem, LOSSES[loss], regularization))
    elif problem.mask is None and min(problem.X.shape) <= CLOSED:
        yield closed_ridge(problem, regularization)
    else:
        yield from ridge(problem, regularization)


def svm(problem: LabelData, *, regularization: Ridge = 10.0, rng: Generator) -> Iterator[Iterate]:
    r"""Predict labels Y (n, L), coded -1 and +1, by the signs of x^T w_j: the widest margin for each label j by itself.

    minimise    F(Z) = sum over observed (i, j) of max(0, 1 - Y_ij x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ...,
    w_L) update      all labels by LIBLINEAR's dual coordinate descent with C = 1 / lambda, in 10 passes over the rows
                at most, then those for which that was too few in 100, 1,000, 10,000

    Its squared loss max(0, .)^2 is binary-relevance with loss=squared-hinge. No offsets: features bring a constant.
    Yields estimate Z, objective F. The rank of the problem is not used.
    Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for large-scale linear
    SVM"; scikit-learn's LinearSVC; a rival in Qiu et al. (2017), Table 2.
    """
    return (yield from one_by_one(problem, HINGE, regularization))


def closed_ridge(problem: LabelData, weight: float) -> Iterate:
    """Return the ridge regression of all labels, observed everywhere, by one factorisation."""
    X, Y = problem.X, problem.Y
    if X.shape[0] >= X.shape[1]:
        moments = dense(X.T @ Y)
        Z = solve_positive(dense(X.T @ X), moments, weight)
    else:
        Z = X.T @ solve_positive(dense(X @ X.T), Y.toarray(), weight)
        moments = dense(X.T @ Y)
    images = X @ Z
    rest = X.T @ images - moments + weight * Z
    value = (Y.nnz - 2 * float(np.vdot(moments, Z)) + float(np.vdot(images, images))) / 2
    residual = float(np.linalg.norm(rest) / (np.linalg.norm(moments) or 1.0))
    return Iterate(lowrank.from_dense(Z), value + weight * float(np.vdot(Z, Z)) / 2, residual)


def ridge(problem: LabelData, weight: float) -> Iterator[Iterate]:
    """Yield the ridge regressions after every few conjugate gradients, one step length a label."""
    X, Y, mask = problem.X, problem.Y, problem.mask
    moments = dense(X.T @ Y)
    Z, R = np.zeros_like(moments), moments.copy()
    D, rr = R.copy(), (R * R).sum(axis=0)
    size = float(np.linalg.norm(moments)) or 1.0
    while True:
        for _ in range(STEPS):
            HD = normal_product(X, mask, D) + weight * D
            alpha = np.divide(rr, (D * HD).sum(axis=0), out=np.zeros_like(rr), where=rr > 0)
            Z, R = Z + alpha * D, R - alpha * HD
            rr, before = (R * R).sum(axis=0), rr
            D = R + np.divide(rr, before, out=np.zeros_like(rr), where=before > 0) * D
        # F = ||Y||^2 / 2 - <X^T Y + R, Z> / 2, since F'(Z) = -R.
        value = (Y.nnz - float(np.vdot(moments + R, Z))) / 2
        yield Iterate(lowrank.from_dense(Z), value, float(np.linalg.norm(R)) / size)


def normal_product(X: Array | csr_array, mask: csr_array | None, D: Array) -> Array:
    """Return X^T (M * (X D)), M the pattern of the labels observed, for a block of labels at a time."""
    if mask is None:
        return X.T @ (X @ D)
    product = np.empty_like(D)
    columns = mask.tocsc()
    for start in range(0, D.shape[1], TOGETHER):
        cut = slice(start, min(start + TOGETHER, D.shape[1]))
        product[:, cut] = X.T @ np.where(columns[:, cut].toarray(), X @ D[:, cut], 0.0)
    return product


def one_by_one(problem: LabelData, loss: Loss, weight: float) -> Iterates:
    """Yield after all labels are fitted by scikit-learn in a few passes, and after more for those that want them."""
    X, L = problem.X, problem.Y.shape[1]
    # Indices of the type that LIBLINEAR takes; columns are picked one at a time.
    X = csr_array(X) if issparse(X) else X
    Y, mask = csc_array(problem.Y), None if problem.mask is None else csc_array(problem.mask)
    Z, values, unfinished = np.zeros((X.shape[1], L)), np.zeros(L), list(range(L))
    for passes in PASSES:
        todo, unfinished = unfinished, []
        for j in todo:
            rows = slice(None) if mask is None else mask.indices[mask.indptr[j] : mask.indptr[j + 1]]
            on = np.zeros(X.shape[0])
            on[Y.indices[Y.indptr[j] : Y.indptr[j + 1]]] = 1.0
            target, features = loss.coded(on[rows]), X[rows]
            if not len(target):
                continue
            Z[:, j], finished = classifier(features, target, loss, weight, passes)
            values[j] = float(loss.value(target, features @ Z[:, j]).sum()) + weight * float(Z[:, j] @ Z[:, j]) / 2
            unfinished += [] if finished else [j]
        note = f"{len(unfinished)} of {L} labels want more than {passes} passes." if unfinished else ""
        yield Iterate(loss.kind(*lowrank.from_dense(Z)), float(values.sum()), note=note)
        if not unfinished:
            return Stop.FINISHED
    return Stop.MAX_ITER


def classifier(X: Array | csr_array, target: Array, loss: Loss, weight: float, passes: int) -> tuple[Array, bool]:
    """Return w of one label, from rows where it is observed, and whether so many passes sufficed."""
    # Loaded where it is used: it takes 100 MB, which ridge regression and all other solvers do without.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if abs(target.sum()) == len(target):
        # A row of zeros on the other side adds a constant to the objective, and makes two classes of one.
        zero = np.zeros((1, X.shape[1]))
        X = vstack([X, csr_array(zero)], format="csr") if issparse(X) else np.vstack([X, zero])
        target = np.append(target, -target[0])
    usual = {"C": 1 / weight, "fit_intercept": False, "max_iter": passes, "tol": TOLERANCES.get(loss, TOLERANCE)}
    if loss is LOGISTIC:
        model = LogisticRegression(**usual)
    elif loss is HINGE:
        model = LinearSVC(loss="hinge", dual=True, random_state=0, **usual)
    else:
        model = LinearSVC(dual=False, **usual)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, target)
    return model.coef_[0], int(np.max(model.n_iter_)) < passes


def dense(table: Matrix) -> Array:
    """Return a table as an array, its own."""
    return table.toarray() if issparse(table) else np.array(table)


def workspace(spec: Multilabel, options: Options) -> int:
    """Return bytes of some matrices (d, L), of a block of scores, and of the normal equations where they are formed."""
    closed = options["loss"] == "squared" and spec.complete and min(spec.n, spec.d) <= CLOSED
    scores = 17 * spec.n * (spec.labels if spec.complete else min(spec.labels, TOGETHER))
    return BLOCK_BYTES + 8 * 10 * spec.d * spec.labels + scores + (spectrum_bytes(spec) if closed else 0)


def svm_workspace(spec: Multilabel, options: Options) -> int:
    """Return bytes of some matrices (d, L), and of the rows of a label, which scikit-learn copies."""
    one = 8 if spec.density == 1 else 12
    return BLOCK_BYTES + 8 * 8 * spec.d * spec.labels + 3 * one * spec.feature_entries + 17 * spec.n * spec.labels


ENTRIES = (
    multilabel_entry(
        title="Binary relevance",
        summary="A linear classifier for each label by itself: the full-rank baseline that low rank has to beat.",
        run=binary_relevance,
        workspace=workspace,
    ),
    multilabel_entry(
        title="Support vector machines",
        summary="The widest margin for each label by itself; full rank, as binary relevance is.",
        run=svm,
        workspace=svm_workspace,
    ),
)
