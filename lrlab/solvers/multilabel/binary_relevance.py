"""Binary relevance: one classifier, or support vector machine, for each label by itself, on its observed rows."""

import warnings
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import csc_array, csr_array, issparse, vstack

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.models.multilabel import Multilabel
from lrlab.models.protocols import LabelData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.multilabel import ridge
from lrlab.solvers.multilabel.affine import Design
from lrlab.solvers.multilabel.label_losses import HINGE, LOGISTIC, SQUARED, SQUARED_HINGE, Loss
from lrlab.solvers.multilabel.requirements import multilabel_entry, spectrum

Ridge = Annotated[
    float, Parameter(meaning="weight of ‖w‖² / 2 of each label", symbol="λ", low=1e-6, high=1e9, scale="log")
]

LOSSES = {"squared": SQUARED, "logistic": LOGISTIC, "squared-hinge": SQUARED_HINGE}
CLOSED = 4000
"""Up to so many features, or rows, the normal equations are formed where all labels are observed."""
PASSES = (10, 100, 1000, 10_000)
"""Passes that scikit-learn's solvers may take over a label, the first time and where that was not enough."""
TOLERANCES = {HINGE: 1e-4}
TOLERANCE = 1e-5
FAR = 0.02
"""Share of the first gradient above which a label that scikit-learn calls solved is not."""
CONSTANT = 10.0
"""The constant feature of LIBLINEAR's intercepts, whose weight it penalises as it does all others."""


def binary_relevance(
    problem: LabelData,
    *,
    regularization: Ridge = 10.0,
    loss: Annotated[
        str, Parameter(meaning="squared: ridge regression on labels 0, 1; else on labels -1, 1", choices=tuple(LOSSES))
    ] = "squared",
    rng: Generator,
) -> Iterates:
    r"""Predict each label j by x^T w_j, with a w_j of its own: the full-rank baseline.

    minimise    F(Z) = sum over observed (i, j) of l(Y_ij, x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ..., w_L)
    squared     all labels observed: one Cholesky factorisation of X^T X + lambda I, or of X X^T + lambda I if smaller;
                else conjugate gradients for all labels at once, each with its own step lengths
    others      scikit-learn's solvers: logistic by L-BFGS, squared hinge by LIBLINEAR; all labels in 10 passes at most,
                then those for which that was too few in 100, 1,000, 10,000

    With intercepts b_j, where the problem wants them, scores are x^T w_j + b_j; nothing penalises b_j. The rank of the
    problem is not used; the estimate has the rank min(d, L).
    Yields estimate Z, objective F; squared: residual ||F'(Z)|| / ||F'(0)||, both divided by the norms of X's columns.
    Reference: Yu, Jain, Kar, Dhillon (2014), section 5.2; scikit-learn's LogisticRegression and LinearSVC.
    """
    if loss != "squared":
        return (yield from one_by_one(problem, LOSSES[loss], regularization))
    elif problem.mask is None and min(problem.X.shape) <= CLOSED:
        yield ridge.closed(problem, regularization)
    else:
        yield from ridge.by_steps(problem, regularization)


def svm(problem: LabelData, *, regularization: Ridge = 10.0, rng: Generator) -> Iterates:
    r"""Predict labels Y (n, L), coded -1 and +1, by the signs of x^T w_j: the widest margin for each label j by itself.

    minimise    F(Z) = sum over observed (i, j) of max(0, 1 - Y_ij x_i^T w_j) + lambda ||Z||_F^2 / 2, Z = (w_1, ...)
    update      all labels by LIBLINEAR's dual coordinate descent with C = 1 / lambda, in 10 passes over the rows
                at most, then those for which that was too few in 100, 1,000, 10,000

    Its squared loss max(0, .)^2 is binary-relevance with loss=squared-hinge. Intercepts, where the problem wants them,
    are weights of a constant feature 10, for LIBLINEAR penalises them: a hundredth of what others bear.
    Yields estimate Z, objective F. The rank of the problem is not used.
    Reference: Hsieh, Chang, Lin, Keerthi, Sundararajan (2008), "A dual coordinate descent method for large-scale linear
    SVM"; scikit-learn's LinearSVC; a rival in Qiu et al. (2017), Table 2.
    """
    return (yield from one_by_one(problem, HINGE, regularization))


def one_by_one(problem: LabelData, loss: Loss, weight: float) -> Iterates:
    """Yield after all labels are fitted by scikit-learn in a few passes, and after more for those that want them."""
    L, intercepts = problem.Y.shape[1], problem.intercept
    # Sparse rows are not centred, which these libraries could not do without filling them.
    design = Design(problem.X, np.zeros(problem.X.shape[1])) if intercepts else Design(problem.X, None)
    design = Design.of(problem.X, intercepts) if not issparse(problem.X) else design
    # Indices of the type that LIBLINEAR takes; columns are picked one at a time.
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
            left[j] = gradient_share(features, target, scores, loss, weight * Z[:, j], basis, sizes)
        far = int(np.count_nonzero(left > FAR))
        note = f"{far} of {L} labels are far from their optimum: scale the features." if far else ""
        note = f"{len(unfinished)} of {L} labels want more than {passes} passes." if unfinished else note
        W = lowrank.from_dense(Z)
        W = W if basis is None else W._replace(U=basis @ W.U)
        estimate = design.estimate(loss.kind, W, b)
        yield Iterate(estimate, float(values.sum()), note=note)
        if not unfinished:
            return Stop.STALLED if far else Stop.FINISHED
    return Stop.MAX_ITER


def gradient_share(
    X: Array | csr_array, target: Array, scores: Array, loss: Loss, pull: Array, basis: Array | None, sizes: Array
) -> float:
    """Return ||gradient|| over that of the loss at w = 0, both divided by the norms of features; 0 for the hinge.

    basis: that of which X are coordinates, or None.
    """
    if loss is HINGE:
        return 0.0
    ends = [X.T @ loss.slope(target, scores) + pull, X.T @ loss.slope(target, 0.0 * scores)]
    ends = ends if basis is None else [basis @ end for end in ends]
    now, first = (float(np.linalg.norm(end / sizes)) for end in ends)
    return now / first if first else 0.0


def classifier(
    X: Array | csr_array, target: Array, loss: Loss, weight: float, passes: int, intercept: bool
) -> tuple[Array, float, bool]:
    """Return w and the intercept of one label, from rows where it is observed, and whether so many passes sufficed."""
    # Loaded where it is used: it takes 100 MB, which ridge regression and all other solvers do without.
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


def normal_equations(spec: Multilabel, options: Options) -> int:
    """Return the numbers in the weights of all labels, and in the normal equations if they are formed."""
    closed = options["loss"] == "squared" and spec.complete and min(spec.n, spec.d) <= CLOSED
    return spectrum(spec, options) if closed else spec.d * spec.labels


ENTRIES = (
    multilabel_entry(
        title="Binary relevance",
        update=r"w_j = \arg\min_w \sum_{i \in \Omega_j} \ell(Y_{ij}, x_i^\top w) + \tfrac\lambda2 \|w\|^2",
        summary="A linear classifier for each label by itself: the full-rank baseline that low rank has to beat.",
        run=binary_relevance,
        memory=0.1,
        matrix=normal_equations,
    ),
    multilabel_entry(
        title="Support vector machines",
        update=r"w_j = \arg\min_w \sum_{i \in \Omega_j} \max(0, 1 - Y_{ij}\, x_i^\top w) + \tfrac\lambda2 \|w\|^2",
        summary="The widest margin for each label by itself; full rank, as binary relevance is.",
        run=svm,
        memory=0.1,
        matrix=lambda spec, options: spec.d * spec.labels,
    ),
)
