"""Principal Hessian directions: the eigenvector, largest in size, of a difference of second moments."""

from typing import Annotated, Any

from numpy.random import Generator
from scipy.linalg import cholesky, solve_triangular

from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import choice
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.class_moments import class_moments, whitened
from lrlab.solvers.single_index.family import moment_solver, needs_samples, needs_second_moment
from lrlab.theory import principal_hessian


def refuse_phd(spec: Any, options: Options) -> None:
    """Refuse fewer measurements than the inverse moment wants, and links whose mean of y x x^T says nothing."""
    if options["whitening"] == "sample":
        needs_samples(spec, options)
    needs_second_moment(spec, options)


def predict_phd(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlap of principal Hessian directions."""
    limit = principal_hessian.predict(spec.link_function.moments, spec.n / spec.p, str(options["whitening"]))
    return {"limit_overlap": limit.overlap}


@moment_solver(
    refuse_phd, predict=predict_phd, equivariant=lambda options: options["whitening"] == "sample", simulate=True
)
def phd(
    problem: SingleIndexData,
    *,
    whitening: Annotated[
        str, choice("sample", "identity", help="variance relative to the sample's second moment, or to the true one, I")
    ] = "sample",
    rng: Generator,
) -> Iterates:
    r"""Principal Hessian directions (PHD).

    Direction of the largest difference between the second moments of x given either response; not for odd links.

    .. math:: \hat b = L^{-\top} v, \quad L^{-1} M L^{-\top} v = \lambda v \text{ with the largest } |\lambda|, \qquad
        M = \tfrac1n \sum_i (y_i - \bar y)\, x_i x_i^\top, \quad S = L L^\top

    maximize    |b^T M b| / b^T S b,  M = mean (y_i - mean y) x_i x_i^T,  E[M] = (mu_2 - mu_0) b b^T, and
                S = mean x_i x_i^T (`sample`) or I (`identity`)
    solution    b = L^{-T} v,  S = L L^T,  v the eigenvector of L^{-1} M L^{-T} whose eigenvalue is largest in size
    converges   the error is O(sqrt(p / n)) if mu_2 is not mu_0; exactly, see `theory.principal_hessian`
    cost        one pass over X (n, p) by blocks, n > p for `sample`, memory O(p^2)

    Although x is known to have covariance I, the sample's is the better yardstick: it takes the random variation of x
    out of M, as least squares does for the mean of y x. M and S are about 0, the known mean of x, not the sample's.
    Yields once: objective -|b^T M b| / b^T S b.

    Reference: Li (1992), "On principal Hessian directions for data visualization and dimension reduction"; `identity`
    is the spectral initialization of phase retrieval, Lu & Li (2017).
    """
    moments = class_moments(problem)
    n, answer = moments.n, moments.mean_answer
    M = moments.weighted((1.0 - answer) / n, -(1.0 + answer) / n)
    if whitening == "identity":
        value, b = largest_in_size(M)
    else:
        L = cholesky(moments.weighted(1.0 / n, 1.0 / n), lower=True, overwrite_a=True)
        value, v = largest_in_size(whitened(M, L))
        b = unit(solve_triangular(L, v, lower=True, trans="T"))
    yield Iterate(b, objective=-abs(value), note=f"The eigenvalue largest in size is {value:.3g}.")


def largest_in_size(M: Array) -> tuple[float, Array]:
    """Return the eigenvalue of a symmetric M (p, p) that is largest in size, and its unit eigenvector."""
    top, above = top_eigenpairs(M, 1)
    bottom, below = top_eigenpairs(-M, 1)
    return (float(top[0]), above[:, 0]) if top[0] >= bottom[0] else (-float(bottom[0]), below[:, 0])
