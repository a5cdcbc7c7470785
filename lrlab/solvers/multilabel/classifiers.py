"""Linear classifiers by scikit-learn, a label at a time."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse, vstack

from lrlab import lowrank
from lrlab.arrays import Array, Matrix
from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.multilabel.affine import Design
from lrlab.solvers.multilabel.label_losses import HINGE, LOGISTIC, Loss

PASSES = (10, 100, 1000, 10_000)
"""Passes that scikit-learn's solvers may take over a label, at first and if that was not enough."""
TOLERANCES = {HINGE: 1e-4}
TOLERANCE, FAR = 1e-5, 0.02
"""Tolerance of the other losses; fraction of the first gradient above which a label is not solved."""
CONSTANT = 10.0
"""The constant feature of LIBLINEAR's intercepts, whose weight it penalizes as it does all others."""


def one_by_one(problem: LabelData, loss: Loss, weight: float) -> Iterates:
    """Yield after all labels are fitted in a few passes, and after more for those that want them."""
    L, intercepts = problem.Y.shape[1], problem.intercept
    # Sparse rows are not centered: these libraries could not do so without filling them.
    design = Design.of(problem.X, intercepts and not issparse(problem.X))
    design = Design(problem.X, np.zeros(problem.X.shape[1])) if intercepts and design.mean is None else design
    # Indices of the type that LIBLINEAR takes.
    X = csr_array(design.X) if issparse(design.X) else design.X
    basis: Array | None = None
    if not issparse(X) and X.shape[1] > X.shape[0]:
        # Weights lie in the span of the rows: in an orthonormal basis of it (d, n) rows are n numbers long, not d.
        basis, R = np.linalg.qr(X.T)
        X = np.ascontiguousarray(R.T)
    Y, mask = csc_array(problem.Y), None if problem.mask is None else csc_array(problem.mask)
    Z, values, unfinished, b = np.zeros((X.shape[1], L)), np.zeros(L), list(range(L)), np.zeros(L)
    left, sizes = np.zeros(L), design.sizes
    for passes in PASSES:
        todo, unfinished = unfinished, []
        for j in todo:
            rows = slice(None) if mask is None else mask.indices[mask.indptr[j] : mask.indptr[j + 1]]
            on = np.zeros(X.shape[0])
            on[Y.indices[Y.indptr[j] : Y.indptr[j + 1]]] = 1.0
            target, features = loss.coded(on[rows]), X[rows]
            if not len(target):
                continue
            Z[:, j], b[j], finished = classifier(features, target, loss, weight, passes, intercepts)
            scores = features @ Z[:, j] + b[j]
            values[j] = float(loss.value(target, scores).sum()) + weight * float(Z[:, j] @ Z[:, j]) / 2
            unfinished += [] if finished else [j]
            left[j] = gradient_ratio(features, target, scores, loss, weight * Z[:, j], basis, sizes)
        far = int(np.count_nonzero(left > FAR))
        note = f"{far} of {L} labels are far from their optimum: scale the features." if far else ""
        note = f"{len(unfinished)} of {L} labels want more than {passes} passes." if unfinished else note
        W = lowrank.from_dense(Z)
        W = W if basis is None else W._replace(U=basis @ W.U)
        yield Iterate(design.estimate(loss.kind, W, b), float(values.sum()), note=note)
        if not unfinished:
            return Stop.STALLED if far else Stop.FINISHED
    return Stop.MAX_ITER


def gradient_ratio(
    X: Matrix, target: Array, scores: Array, loss: Loss, pull: Array, basis: Array | None, sizes: Array
) -> float:
    """Return ||gradient|| over the one of the loss at w = 0, both divided by the norms of features; 0 for the hinge.

    basis: if X are coordinates, their basis; or None.
    """
    if loss is HINGE:
        return 0.0
    ends = [X.T @ loss.slope(target, scores) + pull, X.T @ loss.slope(target, 0.0 * scores)]
    now, first = (float(np.linalg.norm((end if basis is None else basis @ end) / sizes)) for end in ends)
    return now / first if first else 0.0


def classifier(
    X: Matrix, target: Array, loss: Loss, weight: float, passes: int, intercept: bool
) -> tuple[Array, float, bool]:
    """Return w and the intercept of one label, from rows with it observed, and whether so many passes sufficed."""
    # Imported here, as it takes 100 MB, which ridge regression and all other solvers do without.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if abs(target.sum()) == len(target):
        # A row of zeros on the other side makes two classes of one. It adds a constant to the objective, or keeps an
        # intercept finite.
        zero = np.zeros((1, X.shape[1]))
        X = vstack([X, csr_array(zero)], format="csr") if issparse(X) else np.vstack([X, zero])
        target = np.append(target, -target[0])
    tolerance = TOLERANCES.get(loss, TOLERANCE)
    usual: dict[str, Any] = {"C": 1 / weight, "fit_intercept": intercept, "max_iter": passes, "tol": tolerance}
    if loss is LOGISTIC:
        model = LogisticRegression(**usual)
    elif loss is HINGE:
        model = LinearSVC(loss="hinge", dual=True, random_state=0, intercept_scaling=CONSTANT, **usual)
    else:
        model = LinearSVC(dual=False, intercept_scaling=CONSTANT, **usual)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, target)
    return model.coef_[0], float(np.ravel(model.intercept_)[0]), int(np.max(model.n_iter_)) < passes
