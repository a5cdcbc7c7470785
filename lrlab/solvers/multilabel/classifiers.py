"""Linear classifiers by scikit-learn, a label at a time."""

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse, vstack

from lrlab import lowrank
from lrlab.arrays import Array, Matrix
from lrlab.models.protocols import LabelData
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solvers.multilabel.design import Design
from lrlab.solvers.multilabel.labels import HINGE, LOGISTIC, SQUARED, Loss

CONSTANT = 10.0
"""The constant feature of LIBLINEAR's intercepts, whose weight it penalizes as it does all others."""


def one_by_one(problem: LabelData, loss: Loss, weight: float) -> Iterates:
    """Yield after all labels are fitted in a few passes, and after more for those that want them."""
    intercepts, dense = problem.intercept, not issparse(problem.X)
    # Sparse rows are not centered: these libraries could not do so without filling them.
    design = Design.of(problem.X, intercepts and dense)
    design = design if dense or not intercepts else Design(problem.X, np.zeros(problem.X.shape[1]))
    # Sparse rows have the indices of the type that LIBLINEAR takes.
    X = design.X if dense else csr_array(design.X)
    basis: Array | None = None
    if dense and X.shape[1] > X.shape[0]:
        # Weights lie in the span of the rows: in an orthonormal basis (d, n) of it, rows are n numbers long, not d.
        basis, R = np.linalg.qr(X.T)
        X = np.ascontiguousarray(R.T)
    Y, mask = csc_array(problem.Y), None if problem.mask is None else csc_array(problem.mask)
    (d, L), sizes = (X.shape[1], Y.shape[1]), design.sizes
    Z, b, values, left, unfinished = np.zeros((d, L)), np.zeros(L), np.zeros(L), np.zeros(L), list(range(L))
    for passes in (10, 100, 1000, 10_000):
        todo, unfinished = unfinished, []
        for j in todo:
            rows = slice(None) if mask is None else mask.indices[mask.indptr[j] : mask.indptr[j + 1]]
            target, features = loss.coded(Y[:, [j]].toarray().ravel()[rows]), X[rows]
            if not len(target):
                continue
            Z[:, j], b[j], finished = classifier(features, target, loss, weight, passes, intercepts)
            scores = features @ Z[:, j] + b[j]
            values[j] = float(loss.value(target, scores).sum()) + weight * float(Z[:, j] @ Z[:, j]) / 2
            unfinished += [] if finished else [j]
            # The hinge has no gradient to compare.
            ends = [features.T @ loss.slope(target, at) for at in (scores, 0.0 * scores)]
            ends[0] += weight * Z[:, j]
            last, first = (np.linalg.norm((end if basis is None else basis @ end) / sizes) for end in ends)
            left[j] = last / (first or np.inf)
        far = 0 if loss is HINGE else int(np.count_nonzero(left > 0.02))
        note = f"{far} of {L} labels are far from their optimum: scale the features." if far else ""
        note = f"{len(unfinished)} of {L} labels want more than {passes} passes." if unfinished else note
        W = lowrank.from_dense(Z)
        W = W if basis is None else W._replace(U=basis @ W.U)
        yield Iterate(design.estimate(loss.kind, W, b), float(values.sum()), note=note)
        if not unfinished:
            return Stop.STALLED if far else Stop.FINISHED
    return Stop.MAX_ITER


def classifier(
    X: Matrix, target: Array, loss: Loss, weight: float, passes: int, intercept: bool
) -> tuple[Array, float, bool]:
    """Return w and the intercept of one label, from rows with it observed, and whether so many passes sufficed."""
    # Imported here, as it takes 100 MB, which all other solvers do without.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import LinearSVC

    if loss is SQUARED:
        with warnings.catch_warnings():
            # Of condition numbers, which count the units of features, as Cholesky's factorization does not.
            warnings.simplefilter("ignore")
            fit = Ridge(weight, fit_intercept=intercept, tol=1e-10).fit(X, target)
        return fit.coef_, float(fit.intercept_), True
    if abs(target.sum()) == len(target):
        # A row of zeros on the other side makes two classes of one. It adds a constant to the objective, or keeps an
        # intercept finite.
        zero = np.zeros((1, X.shape[1]))
        X = vstack([X, csr_array(zero)], format="csr") if issparse(X) else np.vstack([X, zero])
        target = np.append(target, -target[0])
    usual: dict[str, Any] = {"C": 1 / weight, "fit_intercept": intercept, "max_iter": passes}
    if loss is LOGISTIC:
        model = LogisticRegression(tol=1e-5, **usual)
    elif loss is HINGE:
        model = LinearSVC(loss="hinge", tol=1e-4, dual=True, random_state=0, intercept_scaling=CONSTANT, **usual)
    else:
        model = LinearSVC(tol=1e-5, dual=False, intercept_scaling=CONSTANT, **usual)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, target)
    return model.coef_[0], float(np.ravel(model.intercept_)[0]), int(np.max(model.n_iter_)) < passes
