"""Label space transformation in closed form: with features in view (CPLST) and without (PLST)."""

from functools import partial
from typing import Annotated

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse

from lrlab import lowrank
from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs
from lrlab.lowrank import LowRank
from lrlab.models.multilabel import Multilabel
from lrlab.models.protocols import LabelData
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.multilabel.affine import Design
from lrlab.solvers.multilabel.leml_alternation import FittedRank, rank_of
from lrlab.solvers.multilabel.leml_squared import Spectrum
from lrlab.solvers.multilabel.requirements import multilabel_entry, refuse_high_rank, spectrum

Ridge = Annotated[
    float, Parameter(meaning="weight of ‖Z‖² / 2; 0 as the method was published", symbol="λ", low=0, high=1e9)
]
Means = Annotated[
    bool,
    Parameter(
        meaning="take the means off labels and features first, as the method was published, for features without a "
        "constant; always where predictors have intercepts"
    ),
]


def cplst(
    problem, *, regularization: Ridge = 0.0, fitted_rank: FittedRank = 0, centred: Means = False, rng: Generator
) -> Iterates:
    r"""Predict fully observed labels Y (n, L) by X Z, Z (d, L) of rank k: label directions that features predict.

    minimise    F(Z) = ||Y - X Z||_F^2 / 2 + lambda ||Z||_F^2 / 2 over Z of rank k
    solution    Z = B V V^T, B = (X^T X + lambda I)^+ X^T Y, V (L, k) the leading eigenvectors of Y^T X B

    Its minimum over all Z of rank k is known in closed form, so this is leml-squared with penalty=frobenius solved to
    the end. One eigendecomposition of the smaller of X^T X and X X^T. With centred=true Y and X are less their means,
    and predictions are x^T Z + offset, offset = mean(y) - Z^T mean(x), so that residuals have mean 0.
    Yields once: estimate Z, objective F.
    Reference: Chen & Lin (2012), "Feature-aware label space dimension reduction for multi-label classification", which
    is centred; Yu, Jain, Kar, Dhillon (2014), Claims 1 and 2, which are not.
    """
    design = design_of(problem, centred)
    spectrum, E, shrunk = ridge_parts(problem, design, regularization)
    # Y^T X B = E^T diag(weights) E, E the images of Y: V are right singular vectors of its root.
    root = np.sqrt(shrunk if spectrum.tall else spectrum.s * shrunk)[:, None] * E
    _, V = top_eigenpairs(root.T @ root, rank_of(problem, fitted_rank))
    yield fitted(problem, design, spectrum.back(shrunk[:, None] * (E @ V)), V, regularization)


def plst(
    problem, *, regularization: Ridge = 0.0, fitted_rank: FittedRank = 0, centred: Means = False, rng: Generator
) -> Iterates:
    r"""Predict fully observed labels Y (n, L) by X Z, Z (d, L) of rank k: principal directions of the labels.

    solution    Z = (X^T X + lambda I)^+ X^T (Y V) V^T, V (L, k) the leading eigenvectors of Y^T Y

    The directions are those that lose least of the labels, whether or not features predict them. centred: as in cplst.
    Yields once: estimate Z, objective ||Y - X Z||_F^2 / 2 + lambda ||Z||_F^2 / 2.
    Reference: Tai & Lin (2012), "Multilabel classification with principal label space transformation".
    """
    design = design_of(problem, centred)
    spectrum, E, shrunk = ridge_parts(problem, design, regularization)
    M = (problem.Y.T @ problem.Y).toarray()
    if design.mean is not None:
        mean = problem.Y.mean(axis=0)
        M -= problem.Y.shape[0] * np.outer(mean, mean)
    _, V = top_eigenpairs(M, rank_of(problem, fitted_rank))
    yield fitted(problem, design, spectrum.back(shrunk[:, None] * (E @ V)), V, regularization)


def design_of(problem: LabelData, centred: bool) -> Design:
    """Return the features, centred if that is required; InputError where labels are missing."""
    if problem.mask is not None:
        remedy = "observe all labels, or take leml-squared or binary-relevance"
        raise InputError("observed", "1 for this solver, whose closed form needs all labels", "missing labels", remedy)
    return Design.of(problem.X, centred or problem.intercept)


def ridge_parts(problem: LabelData, design: Design, weight: float) -> tuple[Spectrum, Array, Array]:
    """Return the spectrum of X, the images of Y in it, and 1 / (s + lambda) on its range."""
    spectrum = Spectrum.of(design.X)
    shrunk = np.divide(1.0, spectrum.s + weight, out=np.zeros_like(spectrum.s), where=spectrum.range)
    images = spectrum.images(problem.Y)
    return spectrum, images.toarray() if issparse(images) else images, shrunk


def fitted(problem: LabelData, design: Design, A: Array, V: Array, weight: float) -> Iterate:
    """Return the iterate of Z = A V^T with orthonormal V."""
    X, Y, images = design.X, problem.Y, design.X @ A
    mean = np.zeros(Y.shape[1]) if design.mean is None else Y.mean(axis=0)
    # Centred images are orthogonal to the means of the labels.
    squares = Y.nnz - Y.shape[0] * float(mean @ mean)
    misfit = squares - 2 * float(np.vdot(X.T @ (Y @ V), A)) + float(np.vdot(images, images))
    Z = design.estimate(LowRank, lowrank.from_product(A, V), mean)
    return Iterate(Z, (misfit + weight * float(np.vdot(A, A))) / 2)


def refuse_missing(spec: Multilabel, options: Options) -> None:
    """Refuse ranks that no W has, and missing labels."""
    refuse_high_rank(spec, options)
    if not spec.complete:
        name, value = ("observed", 1) if spec.observed < 1 else ("seen_per_row", 0)
        remedy = f"set {name}={value}, or take leml-squared or binary-relevance"
        got = spec.values()[name]
        raise InputError(name, f"{value} for this solver, whose closed form needs all labels", got, remedy)


closed_entry = partial(multilabel_entry, oracle=("rank",), memory=0.1, matrix=spectrum, refuse=refuse_missing)

ENTRIES = (
    closed_entry(
        title="CPLST",
        update=r"\hat Z = B V V^\top, \quad B = (X^\top X + \lambda I)^{+} X^\top Y, \quad V = k \text{ top"
        r" eigenvectors of } Y^\top X B",
        summary="Label directions that features predict best, in closed form; needs all labels.",
        run=cplst,
    ),
    closed_entry(
        title="PLST",
        update=r"\hat Z = (X^\top X + \lambda I)^{+} X^\top Y\, V V^\top, \qquad V = k \text{ top eigenvectors of"
        r" } Y^\top Y",
        summary="Principal directions of the labels, whatever features predict, in closed form; needs all labels.",
        run=plst,
    ),
)
