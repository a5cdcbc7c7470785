"""Sparse logistic and probit regression: an l1 penalty whose weight is chosen by cross-validation."""

from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.single_index.likelihoods import LOGISTIC, PROBIT, Likelihood
from lrlab.solvers.single_index.penalised_path import objective, optimality, path, path_levels
from lrlab.solvers.single_index.requirements import needs_first_moment, single_index_entry

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


def sparse_probit(problem: SingleIndexData, *, folds: Folds = 5, rule: Rule = "best", rng: Generator) -> Iterates:
    r"""Recover a sparse b, with its sign, from one-bit answers by probit regression with an l1 penalty.

    minimise    F(b, c) = mean -log Phi(y_i (<x_i, b> + c)) + rho ||b||_1
    and all else as `sparse_logistic`.

    X (n, p), y (n,) in +-1. Yields each level: objective F at the chosen rho, residual the distance of 0 from the
    subdifferential of F (largest entry, relative to rho_max). The first one comes after the cross-validation.
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
        losses.append(
            [
                float(likelihood.loss(y_out * (X_out @ theta[1:] + theta[0])).mean())
                for theta, (_, _, X_out, y_out) in zip(thetas, parts, strict=True)
            ]
        )
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
