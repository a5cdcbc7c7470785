"""LEML with kernels: a low-rank predictor on Nystroem features of a kernel (Yu et al. 2014, section 3)."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import issparse

from lrlab.arrays import Array, Matrix
from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.parameters import choice, number
from lrlab.protocol import Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.multilabel import options as shared
from lrlab.solvers.multilabel.affine import Affine
from lrlab.solvers.multilabel.kernel_rank import MOST_DEGREE, NAMES, Kernel, KernelRank, scaled
from lrlab.solvers.multilabel.leml import leml

LANDMARKS, SAMPLE = 1000, 1000
"""Default number of landmarks; rows whose distances determine the bandwidth."""


def feature_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in the features of all rows."""
    return spec.n * min(spec.n, int(options["landmarks"]) or LANDMARKS) // 2


@shared.low_rank_solver(matrix=feature_numbers)
def kernel_leml(
    problem: LabelData,
    *,
    kernel: Annotated[
        str, choice(*NAMES, help="rbf: exp(−‖x − z‖² / (2h²)); polynomial: (1 + ⟨x, z⟩ / h²) to the degree")
    ] = "rbf",
    bandwidth: Annotated[
        float, number(0, 1e9, "length scale; 0: median distance (rbf), or root mean square length", symbol="h")
    ] = 0.0,
    degree: Annotated[int, number(1, MOST_DEGREE, "degree of the polynomial kernel")] = 2,
    units: Annotated[str, choice("deviations", "given", help="features: standardized, or as given")] = "deviations",
    landmarks: Annotated[
        int, number(0, 20_000, "rows that stand for all others (Nystroem); 0 takes 1,000 at most", symbol="m")
    ] = 0,
    loss: Annotated[
        str, choice("squared", "logistic", help="squared, on labels 0, 1; logistic, on labels -1, 1")
    ] = "squared",
    regularization: shared.Regularization = 1.0,
    penalty: shared.Penalty = "trace",
    fitted_rank: shared.FittedRank = 0,
    newton_steps: shared.NewtonSteps = 2,
    steps: shared.Steps = 5,
    rng: Generator,
) -> Iterates:
    r"""LEML with a kernel.

    LEML on the features of a Gaussian or polynomial kernel: for labels that no hyperplane separates.

    .. math:: H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \sum_\Omega \ell(Y_{ij}, \phi_i^\top
        W h_j) + \tfrac\lambda2 (\|W\|^2 + \|H\|^2), \quad \Phi \Phi^\top = K

    minimize    sum over observed (i, j) of l(Y_ij, f_j(x_i)) + lambda r(f), r the nuclear norm of f, or ||f||^2 / 2, in
                the space of the kernel, f(x) = sum over landmarks z_t of k(x, z_t) times a matrix of rank k
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

    given, d = problem.X, problem.X.shape[1]
    centre, unit = np.zeros(d), np.ones(d)
    if units == "deviations":
        scaler = StandardScaler(with_mean=not issparse(given)).fit(given)
        centre, unit = (np.zeros(d) if issparse(given) else scaler.mean_), scaler.scale_
    X = scaled(given, centre, unit)
    k = Kernel(kernel, bandwidth or usual_bandwidth(kernel, X, rng), degree)
    count, seed = min(X.shape[0], landmarks or LANDMARKS), int(rng.integers(2**31))
    nystroem = Nystroem(kernel=kernel, n_components=count, random_state=seed, **k.settings)
    mapped: Any = SimpleNamespace(
        X=nystroem.fit_transform(X), Y=problem.Y, mask=problem.mask, rank=problem.rank, intercept=problem.intercept
    )
    options: dict[str, Any] = {
        "regularization": regularization,
        "penalty": penalty,
        "fitted_rank": fitted_rank,
        "steps": steps,
    }
    for iterate in leml(mapped, loss=loss, newton_steps=newton_steps, **options, rng=rng):
        U, s, V = iterate.estimate
        offset = iterate.estimate.offset if isinstance(iterate.estimate, Affine) else 0.0
        estimate = KernelRank.at(
            LowRank(nystroem.normalization_.T @ U, s, V), kernel=k, landmarks=nystroem.components_, centre=centre,
            units=unit, offset=offset, threshold=iterate.estimate.threshold,
        )  # fmt: skip
        yield replace(iterate, estimate=estimate, note=f"bandwidth {k.bandwidth:.4g}; {count} landmarks")


def usual_bandwidth(name: str, X: Matrix, rng: Generator) -> float:
    """Return the median distance between rows for "rbf", their root mean square length for "polynomial"; 1 if it is 0.

    The median is over pairs of different rows among at most 1,000 of them.
    """
    from sklearn.metrics import euclidean_distances

    if name == "polynomial":
        return float(np.sqrt(X.multiply(X).sum() if issparse(X) else np.vdot(X, X)) / np.sqrt(X.shape[0])) or 1.0
    drawn = X[np.sort(rng.permutation(X.shape[0])[:SAMPLE])]
    distances: Array = euclidean_distances(drawn)[np.triu_indices(drawn.shape[0], 1)]
    # Rounding leaves something of the distance of equal rows.
    distances = distances[distances > 1e-7 * abs(drawn).max()]
    return float(np.median(distances)) if len(distances) else 1.0
