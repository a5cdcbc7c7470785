"""LEML: low-rank empirical risk minimisation for multi-label learning with missing labels (Yu et al. 2014)."""

from typing import Annotated

from numpy.random import Generator

from lrlab.arrays import Array
from lrlab.lowrank import LowRank
from lrlab.models.multilabel import Multilabel
from lrlab.models.protocols import LabelData
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.methods.tron import newton
from lrlab.solvers.multilabel.label_losses import LOGISTIC, SQUARED, SQUARED_HINGE, Loss
from lrlab.solvers.multilabel.leml_alternation import FittedRank, Penalty, Regularization, alternate, rank_of
from lrlab.solvers.multilabel.leml_products import Labels, OfFeatures, OfLabels, times, transposed_times
from lrlab.solvers.multilabel.leml_squared import Spectrum, by_steps, table_of
from lrlab.solvers.multilabel.requirements import images, low_rank_entry, multilabel_entry, refuse_high_rank, spectrum

ACCURACY = 0.1

NewtonSteps = Annotated[int, Parameter(meaning="most Newton steps for each factor in an iteration", low=1, high=1000)]
Steps = Annotated[
    int,
    Parameter(
        meaning="most conjugate gradients for the factor of features; few of them regularise", low=1, high=10_000
    ),
]


def leml_squared(
    problem: LabelData,
    *,
    regularization: Regularization = 1.0,
    penalty: Penalty = "trace",
    fitted_rank: FittedRank = 0,
    inner: Annotated[
        str,
        Parameter(
            meaning="how the factor of features is computed: a few conjugate gradients, or exactly, which takes all "
            "labels observed and one eigendecomposition of XᵀX",
            choices=("cg", "exact"),
        ),
    ] = "cg",
    steps: Steps = 5,
    rng: Generator,
    loss: Loss = SQUARED,
    start: LowRank | None = None,
) -> Iterates:
    r"""Predict labels Y (n, L), coded 0 and 1, by X Z with a Z = W H^T (d, L) of rank k, from squared losses.

    minimise    J(W, H) = sum over observed (i, j) of (Y_ij - x_i^T W h_j)^2 / 2 + lambda (||W||_F^2 + ||H||_F^2) / 2
    update      H by least squares, a k x k system for all labels or for each; W by conjugate gradients on
                X^T (X W M - Y H) + lambda W, M = H^T H (all labels observed, Algorithm 2), or X^T D H + lambda W with D
                on the observed entries alone (Algorithm 1), stopped against the gradient at entry, in single precision
                for sparse rows with all labels; or exactly, in the eigenbases of X^T X and of M
    balance     W H^T = U s V^T, W <- U s^(1/2), H <- V s^(1/2), which lowers J to the loss + lambda ||Z||_*; with
                penalty=frobenius W, H <- U, V s before H and U s, V before W, so that J = loss + lambda ||Z||_F^2 / 2
    converges   J falls to a stationary value; to the global one with all labels at lambda = 0 (section 3)

    From W = QR(X^T Y Y^T X R), R random, or from the factors of `start`; SQUARED_SIGNS as `loss` codes labels -1 and 1.
    Test accuracy is often best after 2 to 5 iterations, and few conjugate gradients regularise too.
    Yields after each iteration: estimate Z, objective J, residual: the gradient of J over that of its loss at Z = 0,
    the larger of W's, divided by the norms of X's columns, and H's.
    Reference: Yu, Jain, Kar, Dhillon (2014), "Large-scale multi-label learning with missing labels", Algorithms 1-3.
    """
    labels = Labels.of(problem, loss)
    require_all(labels.full, inner)
    table = table_of(labels, regularization)
    Y = labels.coded
    spectrum = Spectrum.of(labels.X) if inner == "exact" else None

    def feature_factor(W: Array, H: Array) -> Array:
        if spectrum is None:
            return by_steps(table, W, H, steps)
        b, H = H[:, W.shape[1] :], labels.embeddings(H)
        return spectrum.solve(Y @ H - b.sum(axis=1) @ H, H.T @ H, regularization)

    def measure(A: Array, H: Array) -> tuple[float, tuple[Array, Array], tuple[Array, Array]]:
        return table.value(A, H), table.gradients(A, H), (table.correlated(labels.embeddings(H)), Y.T @ A)

    k = rank_of(problem, fitted_rank)
    yield from alternate(labels, k, regularization, penalty, table.label_factor, feature_factor, measure, rng, start)


def leml_logistic(
    problem: LabelData,
    *,
    regularization: Regularization = 1.0,
    penalty: Penalty = "trace",
    fitted_rank: FittedRank = 0,
    newton_steps: NewtonSteps = 2,
    steps: Steps = 5,
    rng: Generator,
) -> Iterates:
    r"""Predict labels Y (n, L), coded -1 and +1, by the signs of X Z, Z = W H^T (d, L) of rank k: logistic losses.

    minimise    J(W, H) = sum over observed (i, j) of log(1 + exp(-Y_ij x_i^T W h_j)) + lambda (||W||^2 + ||H||^2) / 2
    update      H, then W, by trust-region Newton steps, each by conjugate gradients on X^T U H + lambda S, U_ij =
                l''_ij (x_i^T S h_j) on the observed entries (Algorithm 1); then both are balanced, as in leml_squared

    Takes memory for one number for each observed entry. Starts and yields as leml_squared.
    Reference: Yu, Jain, Kar, Dhillon (2014), Algorithm 1; Lin, Weng, Keerthi (2008), trust-region Newton.
    """
    yield from by_newton(problem, LOGISTIC, regularization, penalty, fitted_rank, newton_steps, steps, rng)


def leml_squared_hinge(
    problem: LabelData,
    *,
    regularization: Regularization = 1.0,
    penalty: Penalty = "trace",
    fitted_rank: FittedRank = 0,
    newton_steps: NewtonSteps = 2,
    steps: Steps = 5,
    rng: Generator,
) -> Iterates:
    r"""Predict labels Y (n, L), coded -1 and +1, by the signs of X Z, Z = W H^T (d, L) of rank k: squared hinge.

    minimise    J(W, H) = sum over observed (i, j) of max(0, 1 - Y_ij x_i^T W h_j)^2 + lambda (||W||^2 + ||H||^2) / 2
    update      as in leml_logistic, with a generalised second derivative 2 where Y_ij x_i^T W h_j < 1 and 0 elsewhere

    Takes memory for one number for each observed entry. Starts and yields as leml_squared.
    Reference: Yu, Jain, Kar, Dhillon (2014), Algorithm 1; Lin, Weng, Keerthi (2008), trust-region Newton.
    """
    yield from by_newton(problem, SQUARED_HINGE, regularization, penalty, fitted_rank, newton_steps, steps, rng)


def by_newton(
    problem, loss: Loss, weight: float, penalty: str, fitted_rank: int, newton_steps: int, steps: int, rng: Generator
) -> Iterates:
    """Alternate between the factors by trust-region Newton steps."""
    labels = Labels.of(problem, loss)
    X = labels.X

    label_factor = lambda A, H: newton(OfLabels(labels, A, weight), H, newton_steps, steps, ACCURACY)  # noqa: E731
    feature_factor = lambda W, H: newton(OfFeatures(labels, H, weight), W, newton_steps, steps, ACCURACY)  # noqa: E731

    def gradients(A: Array, H: Array, at: float = 1.0) -> tuple[Array, Array]:
        Z = labels.embeddings(H)
        left, right = X.T @ times(labels.slopes(at * A, H), Z, len(A)), labels.slopes(at * A, H)
        return left, transposed_times(right, A)

    def measure(A: Array, H: Array) -> tuple[float, tuple[Array, Array], tuple[Array, Array]]:
        return labels.total(A, H), gradients(A, H), gradients(A, H, at=0.0)

    yield from alternate(
        labels, rank_of(problem, fitted_rank), weight, penalty, label_factor, feature_factor, measure, rng
    )


def require_all(full: bool, inner: str) -> None:
    """Refuse the closed form where labels are missing."""
    if inner == "exact" and not full:
        remedy = "take inner=cg, or observe all labels"
        raise InputError("inner", "cg where labels are missing: the closed form needs all of them", inner, remedy)


def refuse_squared(spec: Multilabel, options: Options) -> None:
    """Refuse ranks that no W has, and the exact inner solver where labels are missing."""
    refuse_high_rank(spec, options)
    require_all(spec.complete, str(options["inner"]))


ENTRIES = (
    multilabel_entry(
        title="LEML, squared loss",
        update=r"H \leftarrow \arg\min_H J, \quad W \leftarrow \arg\min_W J, \quad J = \tfrac12 \sum_\Omega"
        r" (Y_{ij} - x_i^\top W h_j)^2 + \tfrac\lambda2 (\|W\|^2 + \|H\|^2)",
        summary="Alternates between the factors of a low-rank predictor; least squares on the labels that are seen.",
        run=leml_squared,
        oracle=("rank",),
        memory=0.1,
        matrix=lambda spec, options: (spectrum if options["inner"] == "exact" else images)(spec, options),
        refuse=refuse_squared,
    ),
    low_rank_entry(
        title="LEML, logistic loss",
        update=r"H, W \leftarrow \text{Newton steps of } J = \sum_\Omega \log\bigl(1 + e^{-Y_{ij} x_i^\top W"
        r" h_j}\bigr) + \tfrac\lambda2 (\|W\|^2 + \|H\|^2)",
        summary="The same by trust-region Newton steps for logistic regression; often the best ranking of all labels.",
        run=leml_logistic,
    ),
    low_rank_entry(
        title="LEML, squared hinge loss",
        update=r"H, W \leftarrow \text{Newton steps of } J = \sum_\Omega \max(0, 1 - Y_{ij} x_i^\top W h_j)^2 +"
        r" \tfrac\lambda2 (\|W\|^2 + \|H\|^2)",
        summary="The same by trust-region Newton steps for the squared hinge loss of support vector machines.",
        run=leml_squared_hinge,
    ),
)
