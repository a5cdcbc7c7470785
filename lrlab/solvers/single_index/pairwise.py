"""Algorithm 1 of Yi et al. (2015): the leading eigenvector of a second moment of pairwise differences."""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import length, top_eigenpairs, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options, choice
from lrlab.solvers.single_index.class_moments import ClassMoments, choose, class_moments, pair_moments
from lrlab.solvers.single_index.family import moment_solver, needs_gap, needs_samples
from lrlab.theory import spiked

Pairs = Annotated[
    str, choice("consecutive", "all", help="pairs in the moment: neighbors, as in the paper, or all n(n-1)/2")
]
Moment = Annotated[
    str, choice("auto", "M", "M'", help="pairs with different (M) or equal responses (M'), or what stands out more")
]
NO_PAIRS = "The data have no such pair, so this matrix is 0. Raise n, or set pairs=all."


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the limits of Lu & Li for consecutive pairs.

    With `auto` they belong to the matrix that the link favors, M if phi > 0; a run may choose the other one, so the
    overlap of each is given by its name.
    """
    if options["pairs"] != "consecutive":
        return {}
    moments, ratio, moment = spec.link_function.moments, spec.n / spec.p, str(options["moment"])
    p = spiked.predict(moments, ratio, moment)
    limits = {"limit_overlap": p.overlap, "limit_top": p.top, "limit_second": p.second}
    if moment == "auto":
        limits |= {f"limit_overlap_{name}": spiked.predict(moments, ratio, name).overlap for name in ("M", "M'")}
    return limits


@moment_solver(needs_samples, needs_gap, predict=predict, simulate=True)
def pairwise_moment(
    problem: SingleIndexData,
    *,
    pairs: Pairs = "consecutive",
    moment: Moment = "auto",
    eigensolver: Annotated[
        str, choice("power", "lanczos", help="power iteration as in the paper, or scipy's Lanczos")
    ] = "power",
    rng: Generator,
) -> Iterates:
    r"""Pairwise moment.

    Leading eigenvector of a second moment of differences; needs no knowledge of the link.

    .. math:: b \leftarrow \frac{M b}{\|M b\|}, \qquad M = \tfrac2n \sum_{\text{pairs}} (\Delta y)^2\, \Delta
        x\, \Delta x^\top

    maximize    b^T M b  over ||b|| = 1,  M = (2/n) sum (dy)^2 dx dx^T over pairs (eq. 3.4), or M' with (y + y')^2
                (eq. 3.7); E[M/4] = phi b b^T + (1 - mu_0^2) I (Lemma 3.2). All responses tell which, see
                `class_moments`
    start       a random direction
    update      b <- M b / ||M b||  (Algorithm 1)
    converges   geometrically at the ratio of the two largest eigenvalues; the error is O(sqrt(p/n)) (Theorem 3.5)
    cost        M once, in one pass over X (n, p) by blocks; then p^2

    Yields endlessly (`power`) or once (`lanczos`): objective -b^T (M/4) b, residual ||M b - (b^T M b) b|| / (b^T M b).

    Reference: Yi, Wang, Caramanis, Liu (2015), "Optimal linear estimation under unknown nonlinear transform",
    Algorithm 1.
    """
    M, note = chosen_moment(problem, pairs, moment)
    if not M.any():
        yield Iterate(np.zeros(len(M)), note=f"{note} {NO_PAIRS}")
        return
    b = unit(rng.standard_normal(len(M))) if eigensolver == "power" else top_eigenpairs(M, 1)[1][:, 0]
    while True:
        Mb = M @ b
        value = float(b @ Mb)
        residual = length(Mb - value * b) / value if value > 0 else 0.0
        yield Iterate(b, objective=-value, residual=residual, note=note)
        if eigensolver == "lanczos":
            return
        b = unit(Mb)


def chosen_moment(
    problem: SingleIndexData, pairs: str, moment: str, choose: Callable[[ClassMoments], tuple[str, str]] = choose
) -> tuple[Array, str]:
    """Return M/4 or M'/4 (p, p) and a sentence that says which and why. choose: what `auto` does."""
    moment, note = choose(class_moments(problem)) if moment == "auto" else (moment, f"{moment}, as chosen.")
    return pair_moments(problem, pairs)[0 if moment == "M" else 1], note
