"""LEML with a kernel: a low-rank predictor on Nystroem features of a Gaussian kernel (Yu et al. 2014, section 3)."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from scipy.sparse import issparse

from lrlab.models.protocols import LabelData
from lrlab.solver_entry import Generator, Iterates, choice, number
from lrlab.solvers.multilabel import labels as shared
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.multilabel.predictors import KernelRank, scaled

LANDMARKS = 1000
"""Default number of landmarks."""


@shared.low_rank_solver(matrix=lambda spec, options: spec.n * min(spec.n, int(options["landmarks"]) or LANDMARKS) // 2)
def kernel_leml(
    problem: LabelData,
    *,
    bandwidth: Annotated[float, number(0, 1e9, "length scale; 0: root mean square distance of rows", symbol="h")] = 0.0,
    landmarks: Annotated[int, number(0, 20_000, "rows that stand for all; 0: at most 1,000", symbol="m")] = 0,
    loss: Annotated[str, choice("squared", "logistic", help="squared on labels 0, 1; logistic on -1, 1")] = "squared",
    regularization: shared.Regularization = 1.0,
    penalty: shared.Penalty = "trace",
    fitted_rank: shared.FittedRank = 0,
    steps: shared.Steps = 5,
    rng: Generator,
) -> Iterates:
    r"""LEML with a kernel.

    LEML on the features of a Gaussian kernel: for labels that no hyperplane separates.

    .. math:: H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \sum_\Omega \ell(Y_{ij}, \phi_i^\top
        W h_j) + \tfrac\lambda2 (\|W\|^2 + \|H\|^2), \quad \Phi \Phi^\top = K

    minimize    sum over observed (i, j) of l(Y_ij, f_j(x_i)) + lambda r(f), r the nuclear norm of f, or ||f||^2 / 2, in
                the space of the kernel k(x, z) = exp(-||x - z||^2 / (2 h^2)) of standardized features,
                f(x) = sum over landmarks z_t of k(x, z_t) times a matrix of rank k
    features    Phi (n, m) = K_nm K_mm^(-1/2), so that Phi Phi^T is the Nystroem approximation K_nm K_mm^-1 K_mn, and K
                if all rows are landmarks, which is the exact kernel machine by the representer theorem
    update      as in leml, for X = Phi
    cost        as leml with n x m dense features, after a singular value decomposition of m x m

    Yields after each iteration: estimate f as KernelRank, objective and residual of LEML on Phi.

    Reference: Yu, Jain, Kar, Dhillon (2014), "Remark on kernel extension"; Williams, Seeger (2001), Nystroem method;
    scikit-learn's Nystroem.
    """
    from sklearn.kernel_approximation import Nystroem
    from sklearn.preprocessing import StandardScaler

    X = problem.X
    scaler = StandardScaler(with_mean=not issparse(X)).fit(X)
    centre = np.zeros(X.shape[1]) if issparse(X) else scaler.mean_
    # Two rows differ by 2 in the mean square of each standardized feature.
    h = bandwidth or math.sqrt(2.0 * max(1, int(np.count_nonzero(scaler.var_))))
    units = np.sqrt(2.0) * h * scaler.scale_
    count, seed = min(X.shape[0], landmarks or LANDMARKS), int(rng.integers(2**31))
    nystroem = Nystroem(gamma=1.0, n_components=count, random_state=seed)
    Phi, rest = nystroem.fit_transform(scaled(X, centre, units)), ("Y", "mask", "rank", "intercept")
    mapped: Any = SimpleNamespace(X=Phi, **{name: getattr(problem, name) for name in rest})
    options: dict[str, Any] = {"regularization": regularization, "penalty": penalty, "fitted_rank": fitted_rank}
    for iterate in leml(mapped, loss=loss, **options, steps=steps, rng=rng):
        Z, parts = iterate.estimate, {"landmarks": nystroem.components_, "centre": centre, "units": units}
        ends = {"offset": getattr(Z, "offset", 0.0), "threshold": Z.threshold}
        estimate = KernelRank.at(Z._replace(U=nystroem.normalization_.T @ Z.U), **parts, **ends)
        yield replace(iterate, estimate=estimate, note=f"bandwidth {h:.4g}; {count} landmarks")
