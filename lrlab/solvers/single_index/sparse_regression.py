"""Sparse logistic and probit regression: an l1 penalty whose weight is chosen by cross-validation."""

import warnings
from collections.abc import Iterator
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.requirements import needs_both_answers, needs_first_moment, single_index_entry
from lrlab.theory.likelihoods import LOGISTIC, PROBIT, Likelihood

PATIENCE = 3
ROUGH, FINE = 1e-3, 1e-8

Folds = Annotated[
    int, Parameter(meaning="parts of the measurements; each is held out once to choose the penalty", low=2, high=20)
]
Rule = Annotated[
    str,
    Parameter(
        meaning="the penalty: the best on held-out measurements, or the largest within one standard error of the best",
        choices=("best", "one-standard-error"),
    ),
]

RATIO, LEVELS = 0.8, 31
MOST_STEPS = 200
INNER, SWEEPS = 1e-14, 50
SMALLEST_WEIGHT = 1e-9


@needs_both_answers
def sparse_logistic(problem: SingleIndexData, *, folds: Folds = 5, rule: Rule = "best", rng: Generator) -> Iterates:
    r"""Recover a sparse b, with its sign, from one-bit answers by logistic regression with an l1 penalty.

    minimise    F(b, c) = mean log(1 + exp(-y_i (<x_i, b> + c))) + rho ||b||_1
    rho         among rho_max 0.8^k, k = 0..30, with rho_max the least that makes b = 0: the one with the greatest
                likelihood on held-out measurements (`best`), or the largest within one standard error of it, which
                keeps fewer entries; the path is left 3 levels after the best one
    update      down the path to rho, each level from the solution of the one before: Newton's quadratic model on the
                entries that are not zero or want to leave it, its l1 problem solved by scikit-learn's Lasso
    converges   F falls along the path, and each level is solved until its gradient is within 1e-8 rho_max of optimal

    X (n, p), y (n,) in +-1. Yields each level: objective F at the chosen rho, residual the distance of 0 from the
    subdifferential of F (largest entry, relative to rho_max). The first one comes after the cross-validation.
    Ends with the chosen level: FINISHED, or STALLED where no step there brought the gradient within 1e-8 rho_max.
    Reference: Friedman, Hastie, Tibshirani (2010), "Regularization paths for generalized linear models via coordinate
    descent", section 3.
    """
    return cross_validated_path(LOGISTIC, problem, folds, rule, rng)


@needs_both_answers
def sparse_probit(problem: SingleIndexData, *, folds: Folds = 5, rule: Rule = "best", rng: Generator) -> Iterates:
    r"""Recover a sparse b, with its sign, from one-bit answers by probit regression with an l1 penalty.

    minimise    F(b, c) = mean -log Phi(y_i (<x_i, b> + c)) + rho ||b||_1
    and all else as `sparse_logistic`. X (n, p), y (n,) in +-1.

    Reference: Friedman, Hastie, Tibshirani (2010), section 3, with the probit likelihood.
    """
    return cross_validated_path(PROBIT, problem, folds, rule, rng)


def cross_validated_path(
    likelihood: Likelihood, problem: SingleIndexData, folds: int, rule: str, rng: Generator
) -> Iterates:
    """Yield the path on all measurements down to the level that is best on held-out ones."""
    X, y = problem.X, problem.y
    levels = path_levels(likelihood, X, y)
    losses = held_out_losses(likelihood, problem, levels, rng.permutation(len(y)) % folds)
    chosen = chosen_level(losses, rule)
    rho = levels[chosen]
    note = f"Penalty {rho:.3g}, level {chosen + 1} of the path: held-out loss {losses[chosen].mean():.4g}."
    for theta in path(likelihood, X, y, levels[: chosen + 1], FINE * levels[0]):
        value, lack = objective(likelihood, X, y, theta, rho), optimality(likelihood, X, y, theta, rho)
        entries = np.count_nonzero(theta[1:])
        yield Iterate(theta[1:], objective=value, residual=lack / levels[0], note=f"{note} {entries} entries.")
    return Stop.FINISHED if lack <= FINE * levels[0] else Stop.STALLED


def chosen_level(losses: Array, rule: str) -> int:
    """Return the level with the least mean loss (levels, folds), or the first within a standard error of it."""
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    if rule == "best":
        return best
    error = losses[best].std(ddof=1) / np.sqrt(losses.shape[1])
    return int(np.flatnonzero(mean <= mean[best] + error)[0])


def held_out_losses(likelihood: Likelihood, problem: SingleIndexData, levels: Array, fold: Indices) -> Array:
    """Return the mean loss (levels, folds) on held-out measurements, up to PATIENCE levels after the best.

    fold (n,): the part to which each measurement belongs. All folds go down the path side by side.
    """
    X, y = problem.X, problem.y
    parts = [(X[fold != k], y[fold != k], X[fold == k], y[fold == k]) for k in range(int(fold.max()) + 1)]
    paths = [path(likelihood, X_in, y_in, levels, ROUGH * levels[0]) for X_in, y_in, _, _ in parts]
    losses: list[list[float]] = []
    for level, thetas in enumerate(zip(*paths, strict=True)):
        problem.checkpoint(level / len(levels))
        at = zip(thetas, parts, strict=True)
        losses.append([float(likelihood.loss(y_k * (X_k @ b[1:] + b[0])).mean()) for b, (*_, X_k, y_k) in at])
        if level - int(np.argmin(np.mean(losses, axis=1))) >= PATIENCE:
            break
    return np.array(losses)


def refuse_sparse_regression(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links whose mean of y x says nothing, and folds with fewer than two measurements."""
    needs_first_moment(spec, options)
    least = 2 * int(options["folds"])
    if spec.n < least:
        raise InputError("n", f"at least twice the folds = {least} for this solver", spec.n, "raise n or lower folds")


def workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the measurements of every fold, and the columns of one fit three times at most."""
    return 8 * (int(options["folds"]) + 3) * spec.n * (spec.p + 16) + 2**24


def path_levels(likelihood: Likelihood, X: Array, y: Array) -> Array:
    """Return the penalties of the path, from the least at which b = 0 downwards."""
    pull = np.abs(gradient(likelihood, X, y, intercept_alone(likelihood, X, y))[1:]).max()
    return float(pull) * RATIO ** np.arange(LEVELS)


def path(likelihood: Likelihood, X: Array, y: Array, levels: Array, tol: float) -> Iterator[Array]:
    """Yield (c, b), shape (p + 1,), at each level, from the solution of the one before."""
    theta = intercept_alone(likelihood, X, y)
    for rho in levels:
        theta = penalised(likelihood, X, y, theta, float(rho), tol)
        yield theta


def penalised(likelihood: Likelihood, X: Array, y: Array, theta: Array, rho: float, tol: float) -> Array:
    """Return the minimiser (c, b) of F at `rho`, to a subdifferential within `tol` of 0, started at `theta`."""
    for _ in range(MOST_STEPS):
        if optimality(likelihood, X, y, theta, rho) <= tol:
            break
        candidate = quadratic_model_minimum(likelihood, X, y, theta, rho)
        value, step = objective(likelihood, X, y, theta, rho), 1.0
        while step > 1e-6 and objective(likelihood, X, y, theta + step * (candidate - theta), rho) > value:
            step /= 2.0
        if step <= 1e-6:
            break
        theta = candidate if step == 1.0 else theta + step * (candidate - theta)
    return theta


def quadratic_model_minimum(likelihood: Likelihood, X: Array, y: Array, theta: Array, rho: float) -> Array:
    """Return the minimiser (c, b) of the second-order model of F at `theta`: a weighted Lasso on few entries."""
    # Imported here: it is a second of start-up that no other solver needs.
    from sklearn import config_context
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    active = np.flatnonzero((theta[1:] != 0) | (np.abs(gradient(likelihood, X, y, theta)[1:]) > rho))
    index = X @ theta[1:] + theta[0]
    weight = np.maximum(likelihood.curvature(y * index), SMALLEST_WEIGHT)
    response = index - y * likelihood.slope(y * index) / weight
    # The model's mean weight goes into the penalty, and the weights then sum to 1.
    scale = 1.0 / float(weight.mean())
    weight /= weight.sum()
    following, columns = np.zeros_like(theta), X[:, active]
    centre, mean = weight @ columns, float(weight @ response)
    if len(active):
        root = np.sqrt(weight * len(y))
        # Checks of the arguments take three times as long as the fit of a few entries.
        with warnings.catch_warnings(), config_context(skip_parameter_validation=True):
            # Optimality is checked on F itself, in `penalised`.
            warnings.simplefilter("ignore", ConvergenceWarning)
            weighted, target = np.asfortranarray(root[:, None] * (columns - centre)), root * (response - mean)
            how = {"alphas": [rho * scale], "coef_init": theta[1 + active], "tol": INNER, "max_iter": SWEEPS}
            _, coefficients, _ = lasso_path(weighted, target, check_input=False, **how)
        following[1 + active] = coefficients[:, 0]
    # The intercept is not penalised: it is what centring took away.
    following[0] = mean - float(centre @ following[1 + active])
    return following


def intercept_alone(likelihood: Likelihood, X: Array, y: Array) -> Array:
    """Return (c, 0), shape (p + 1,), with the intercept that fits the share of +1 among the answers best."""
    # Half an answer at least of either sign, so that the intercept is finite when all answers are the same.
    half = 0.5 / len(y)
    share = min(max(np.count_nonzero(y > 0) / len(y), half), 1.0 - half)
    theta = np.zeros(X.shape[1] + 1)
    theta[0] = likelihood.quantile(share)
    return theta


def objective(likelihood: Likelihood, X: Array, y: Array, theta: Array, rho: float) -> float:
    """Return F(b, c) at `rho`."""
    loss = likelihood.loss(y * (X @ theta[1:] + theta[0])).mean()
    return float(loss + rho * np.abs(theta[1:]).sum())


def gradient(likelihood: Likelihood, X: Array, y: Array, theta: Array) -> Array:
    """Return the gradient of the mean loss in (c, b)."""
    pull = y * likelihood.slope(y * (X @ theta[1:] + theta[0])) / len(y)
    return np.concatenate([[pull.sum()], pull @ X])


def optimality(likelihood: Likelihood, X: Array, y: Array, theta: Array, rho: float) -> float:
    """Return the distance of 0 from the subdifferential of F, its largest entry."""
    g, b = gradient(likelihood, X, y, theta), theta[1:]
    lack = np.where(b != 0, np.abs(g[1:] + rho * np.sign(b)), np.maximum(np.abs(g[1:]) - rho, 0.0))
    return max(float(lack.max()), abs(float(g[0])))


ENTRIES = (
    single_index_entry(
        title="Sparse logistic regression",
        update=r"(b, c) \leftarrow \arg\min_{b, c}\ \tfrac1n \sum_i \log\bigl(1 + e^{-y_i (\langle x_i, b\rangle"
        r" + c)}\bigr) + \rho \|b\|_1, \qquad \rho \leftarrow 0.8\, \rho",
        summary="Logistic regression with an l1 penalty chosen by cross-validation; needs no sparsity.",
        run=sparse_logistic,
        workspace=workspace,
        refuse=refuse_sparse_regression,
    ),
    single_index_entry(
        title="Sparse probit regression",
        update=r"(b, c) \leftarrow \arg\min_{b, c}\ -\tfrac1n \sum_i \log \Phi\bigl(y_i (\langle x_i, b\rangle +"
        r" c)\bigr) + \rho \|b\|_1, \qquad \rho \leftarrow 0.8\, \rho",
        summary="Probit regression with an l1 penalty chosen by cross-validation; needs no sparsity.",
        run=sparse_probit,
        workspace=workspace,
        refuse=refuse_sparse_regression,
    ),
)
