"""The path of l1-penalised regressions: F(b, c) = mean loss(y_i (<x_i, b> + c)) + rho ||b||_1 for falling rho."""

import warnings
from collections.abc import Iterator

import numpy as np

from lrlab.arrays import Array
from lrlab.solvers.single_index.likelihoods import Likelihood

RATIO, LEVELS = 0.8, 31
MOST_STEPS = 200
INNER, SWEEPS = 1e-14, 50
SMALLEST_WEIGHT = 1e-9


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
        with warnings.catch_warnings():
            # Optimality is checked on F itself, in `penalised`.
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, coefficients, _ = lasso_path(
                np.asfortranarray(root[:, None] * (columns - centre)),
                root * (response - mean),
                alphas=[rho * scale],
                coef_init=theta[1 + active],
                tol=INNER,
                max_iter=SWEEPS,
                check_input=False,
            )
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
