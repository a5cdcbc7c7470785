"""Compressed sensing: the LASSO and orthogonal matching pursuit of scikit-learn, at the same strength or s."""

from typing import Any

import numpy as np

from benchmarks.peers.frame import Contest, Entrant, loaded, ours
from lrlab import catalog
from lrlab.arrays import Array
from lrlab.solvers.compressed_sensing.steps import strength_of

TITLE = "compressed sensing"
DISTRIBUTIONS = ("scikit-learn",)


def sklearn_lasso(problem: Any) -> Array:
    """Return the LASSO of coordinate descent; alpha is the strength over n."""
    from sklearn.linear_model import Lasso

    alpha = strength_of(problem, "universal", 0.0) / problem.shape[0]
    return Lasso(alpha=alpha, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(problem.A, problem.y).coef_


def sklearn_omp(problem: Any) -> Array:
    """Return the estimate of orthogonal matching pursuit with the true number of entries."""
    from sklearn.linear_model import OrthogonalMatchingPursuit

    model = OrthogonalMatchingPursuit(n_nonzero_coefs=problem.sparsity, fit_intercept=False)
    return model.fit(problem.A, problem.y).coef_


def error(problem: Any, estimate: Array) -> float:
    """Return the relative error."""
    return float(np.linalg.norm(estimate - problem.truth) / np.linalg.norm(problem.truth))


LASSO = Entrant("scikit-learn Lasso", sklearn_lasso, "sklearn.linear_model")
OMP = Entrant("scikit-learn OMP", sklearn_omp, "sklearn.linear_model")
SPEC = catalog.spec("compressed-sensing", n=500, p=1000, sparsity=50, noise=0.1)

CONTESTS = (
    Contest(
        "LASSO n=500 p=1000 s=50 noise 0.1",
        loaded(SPEC),
        error,
        (ours("lasso", tol=1e-10),),
        (LASSO,),
        "at most twice scikit-learn's time",
        {"lasso": LASSO.name},
    ),
    Contest("OMP n=500 p=1000 s=50 noise 0.1", loaded(SPEC), error, (ours("omp"),), (OMP,)),
)
