"""Label space transformation in closed form: directions that features predict (CPLST), or of the labels only (PLST)."""

from typing import Annotated, Any

import numpy as np

from lrlab import lowrank
from lrlab.linalg import top_eigenpairs
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, Parameter, number
from lrlab.solvers.multilabel import labels as shared
from lrlab.solvers.multilabel.design import Design, Spectrum, dense

ALL_LABELS = "for this solver, whose closed form needs all labels"
OTHERS = "take leml or binary-relevance"


def refuse_missing(spec: Any, options: Options) -> None:
    """Refuse ranks that no W has, and missing labels."""
    shared.refuse_rank(spec, options)
    if not spec.complete:
        name, value = ("observed", 1) if spec.observed < 1 else ("seen_per_row", 0)
        remedy = f"set {name}={value}, or {OTHERS}"
        raise InputError(name, f"{value} {ALL_LABELS}", spec.values()[name], remedy)


@shared.label_solver(oracle="rank", matrix=shared.gram_numbers, refuse=refuse_missing)
def cplst(
    problem: LabelData,
    *,
    regularization: Annotated[float, number(0, 1e9, "regularization strength; 0 as published", symbol="λ")] = 0.0,
    fitted_rank: shared.FittedRank = 0,
    centred: Annotated[bool, Parameter(meaning="centering of labels and features, as published")] = False,
    labels_only: Annotated[bool, Parameter(meaning="PLST: principal directions of the labels")] = False,
    rng: Generator,
) -> Iterates:
    r"""CPLST.

    Label directions that features predict best, in closed form; needs all labels.

    .. math:: \hat Z = B V V^\top, \quad B = (X^\top X + \lambda I)^{+} X^\top Y, \quad V = k \text{ top
        eigenvectors of } Y^\top X B \text{, or for PLST of } Y^\top Y

    minimize    F(Z) = ||Y - X Z||_F^2 / 2 + lambda ||Z||_F^2 / 2 over Z (d, L) of rank k
    labels_only V (L, k) loses least of the labels, whether or not features predict them, and F is not minimal
    centred     Y and X less their means; predictions are x^T Z + mean(y) - Z^T mean(x), so that residuals have mean 0
    cost        one eigendecomposition of the smaller of X^T X and X X^T, and k eigenvectors of L x L

    The minimum over all Z of rank k has this closed form, so this is leml with penalty=frobenius solved to the end.
    Yields once: estimate Z, objective F.

    Reference: Chen & Lin (2012), "Feature-aware label space dimension reduction for multi-label classification", which
    is centered; Yu, Jain, Kar, Dhillon (2014), Claims 1 and 2, which are not; Tai & Lin (2012), "Multilabel
    classification with principal label space transformation" (PLST).
    """
    if problem.mask is not None:
        raise InputError("observed", f"1 {ALL_LABELS}", "missing labels", f"observe all labels, or {OTHERS}")
    Y, design = problem.Y, Design.of(problem.X, centred or problem.intercept)
    n, mean = Y.shape[0], np.zeros(Y.shape[1]) if design.mean is None else Y.mean(axis=0)
    spectrum = Spectrum.of(design.X)
    shrunk = np.divide(1.0, spectrum.s + regularization, out=np.zeros_like(spectrum.s), where=spectrum.range)
    E = dense(spectrum.images(Y))
    if labels_only:
        M = (Y.T @ Y).toarray() - n * np.outer(mean, mean)
    else:
        # Y^T X B = E^T diag(weights) E: V are right singular vectors of its root.
        root = np.sqrt(shrunk if spectrum.tall else spectrum.s * shrunk)[:, None] * E
        M = root.T @ root
    _, V = top_eigenpairs(M, shared.rank_of(problem, fitted_rank))
    A = spectrum.back(shrunk[:, None] * (E @ V))
    images = design.X @ A
    # Centered images are orthogonal to the means of the labels.
    misfit = (
        Y.nnz - n * float(mean @ mean) - 2 * float(np.vdot(design.X.T @ (Y @ V), A)) + float(np.vdot(images, images))
    )
    Z = design.estimate(LowRank, lowrank.from_product(A, V), mean)
    yield Iterate(Z, (misfit + regularization * float(np.vdot(A, A))) / 2)
