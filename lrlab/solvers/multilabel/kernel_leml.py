"""LEML with kernels: a low-rank predictor on features whose inner products are a kernel (Yu et al. 2014, 3)."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.linalg import solve_triangular

from lrlab.lowrank import LowRank
from lrlab.models.protocols import LabelData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterates
from lrlab.solvers.multilabel import kernel_features
from lrlab.solvers.multilabel.affine import Affine
from lrlab.solvers.multilabel.kernel_features import NAMES, Kernel, KernelRank, SignedKernelRank, divided, features
from lrlab.solvers.multilabel.leml import NewtonSteps, Steps, leml_logistic, leml_squared
from lrlab.solvers.multilabel.leml_alternation import FittedRank, Penalty, Regularization
from lrlab.solvers.multilabel.requirements import low_rank_entry

KernelName = Annotated[
    str, Parameter(meaning="rbf: exp(−‖x − z‖² / (2h²)); polynomial: (1 + ⟨x, z⟩ / h²) to the degree", choices=NAMES)
]
Bandwidth = Annotated[
    float,
    Parameter(
        meaning="length on which the kernel changes; 0 takes the median distance of rows (rbf) or their root mean "
        "square length (polynomial)",
        symbol="h",
        low=0,
        high=1e9,
    ),
]
Degree = Annotated[int, Parameter(meaning="degree of the polynomial kernel", low=1, high=kernel_features.MOST_DEGREE)]
Units = Annotated[
    str,
    Parameter(
        meaning="how features enter the kernel: each in standard deviations from its mean, or as given",
        choices=("deviations", "given"),
    ),
]
Landmarks = Annotated[
    int,
    Parameter(
        meaning="rows that stand for all others (Nystrom); 0 takes all rows up to 5,000, else 1,000 of them",
        symbol="m",
        low=0,
        high=20_000,
    ),
]
Choice = Annotated[
    str,
    Parameter(
        meaning="how landmarks are drawn: uniformly, or far from each other as seeds of k-means++ are",
        choices=("uniform", "spread"),
    ),
]
KernelLoss = Annotated[
    str, Parameter(meaning="squared, on labels 0, 1; logistic, on labels -1, 1", choices=("squared", "logistic"))
]


def kernel_leml(
    problem: LabelData,
    *,
    kernel: KernelName = "rbf",
    bandwidth: Bandwidth = 0.0,
    degree: Degree = 2,
    units: Units = "deviations",
    landmarks: Landmarks = 0,
    choice: Choice = "uniform",
    loss: KernelLoss = "squared",
    regularization: Regularization = 1.0,
    penalty: Penalty = "trace",
    fitted_rank: FittedRank = 0,
    newton_steps: NewtonSteps = 2,
    steps: Steps = 5,
    rng: Generator,
) -> Iterates:
    r"""Predict labels Y (n, L) by f(x) = sum over landmarks z_t of k(x, z_t) z_tj, of rank k: LEML on kernel features.

    minimise    sum over observed (i, j) of l(Y_ij, f_j(x_i)) + lambda r(f), r the trace norm of f, or ||f||^2 / 2, in
                the space of the kernel
    features    Phi (n, m) with Phi Phi^T = K, the kernel between all rows; or, with fewer landmarks than rows, its
                Nystrom approximation K_nm K_mm^-1 K_mn, which is exact on rows in the span of the landmarks
    update      as in leml_squared or leml_logistic, for X = Phi; `newton_steps` are those of the logistic loss

    Takes n x m numbers for Phi, and as many on the way to it. All rows as landmarks are the exact kernel machine, by
    the representer theorem.
    Yields after each iteration: estimate f as KernelRank, objective and residual of LEML on Phi.
    Reference: Yu, Jain, Kar, Dhillon (2014), "Remark on kernel extension"; Williams, Seeger (2001), Nystrom method;
    Arthur, Vassilvitskii (2007), k-means++.
    """
    n, d = problem.X.shape
    centre, unit = kernel_features.moments(problem.X) if units == "deviations" else (np.zeros(d), np.ones(d))
    X, centre = divided(problem.X, unit), centre / unit
    k = Kernel(kernel, bandwidth or kernel_features.usual_bandwidth(kernel, X, centre, rng), degree, centre)
    count = kernel_features.landmark_count(n, landmarks)
    Phi, landmark_rows, R = features(k, X, kernel_features.drawn_landmarks(k, X, count, choice, rng))
    Z = X[landmark_rows]
    mapped: Any = SimpleNamespace(X=Phi, Y=problem.Y, mask=problem.mask, rank=problem.rank, intercept=problem.intercept)
    shared: dict[str, Any] = {"regularization": regularization, "penalty": penalty}
    shared |= {"fitted_rank": fitted_rank, "steps": steps}
    if loss == "squared":
        kind, iterates = KernelRank, leml_squared(mapped, **shared, rng=rng)
    else:
        kind, iterates = SignedKernelRank, leml_logistic(mapped, **shared, newton_steps=newton_steps, rng=rng)
    note = f"bandwidth {k.bandwidth:.4g}; {len(landmark_rows)} landmarks"
    for iterate in iterates:
        U, s, V = iterate.estimate
        dual = LowRank(solve_triangular(R, U, lower=True, trans="T"), s, V)
        offset = iterate.estimate.offset if isinstance(iterate.estimate, Affine) else 0.0
        yield replace(iterate, estimate=kind.at(dual, k, Z, unit, offset), note=note)


ENTRY = low_rank_entry(
    title="LEML with a kernel",
    update=r"H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \sum_\Omega \ell(Y_{ij},"
    r" \phi_i^\top W h_j) + \tfrac\lambda2 (\|W\|^2 + \|H\|^2), \quad \Phi \Phi^\top = K",
    summary="LEML on the features of a Gaussian or polynomial kernel: for labels that no hyperplane tells apart.",
    run=kernel_leml,
    matrix=lambda spec, options: spec.n * kernel_features.landmark_count(spec.n, int(options["landmarks"])) // 2,
)
