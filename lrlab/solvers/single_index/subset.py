"""Best-subset logistic regression by splicing: the yardstick for sparse single-index models."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Indices
from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options, all_of
from lrlab.solvers.single_index import requirements
from lrlab.solvers.single_index.regression import newton
from lrlab.solvers.single_index.requirements import (
    SupportSize,
    needs_both_answers,
    single_index_entry,
    sparse_size,
    support_size,
)
from lrlab.theory.likelihoods import LOGISTIC

NEWTON_STEPS = 25
WORTHWHILE = 1e-6


class Fit(NamedTuple):
    """Logistic regression on a support: b (p,), the intercept, the support (sorted) and the objective."""

    b: Array
    intercept: float
    support: Indices
    objective: float


@needs_both_answers
def subset_logistic(
    problem: SingleIndexData,
    *,
    kept: SupportSize = 0,
    selection: Annotated[
        str,
        Parameter(
            meaning="the support: exactly `kept` entries, or at most so many, each charged log(p)/n in the loss",
            choices=("exactly", "at-most"),
        ),
    ] = "exactly",
    rng: Generator,
) -> Iterates:
    r"""Recover an s-sparse b from one-bit answers by the subset of entries that explains them best.

    minimise    mean log(1 + exp(-y_i (<x_i, b> + c))) + charge ||b||_0  over ||b||_0 <= s and c,
                charge = 0 with ||b||_0 = s (`exactly`), or log(p) / n (`at-most`)
    start       the s entries with the largest |sum (y_i - mean y) x_i|
    update      exchange k entries of the support, those whose loss costs least (b_j^2 h_j), for the k others that
                promise most (g_j^2 / h_j), k = s, s/2, s/4, ..., or (`at-most`) drop the k cheapest; refit by Newton;
                take the best of these while the objective falls
    converges   in finitely many steps, as supports are finite; to a support that no such move improves

    g, h are the gradient and the diagonal of the Hessian. `at-most` charges 2 log p of deviance an entry, the
    risk-inflation criterion, which leaves out entries that are no larger than the largest of p - s noises: exactly
    s entries give the smaller loss, and the larger error, on signals some of whose entries are small.
    On separable answers no coefficients are largest; the direction reached after 25 Newton steps is returned.

    X (n, p), y (n,) in +-1. Yields each accepted support: residual = share of the support that the next move changes,
    0 when none improves. An iteration is a pass over X and log2(s) fits of s + 1 coefficients.
    Reference: Zhu, Wen, Zhu, Zhang, Wang (2020), "A polynomial algorithm for best-subset selection problem",
    Algorithms 1-2; Foster & George (1994), "The risk inflation criterion for multiple regression".
    """
    X, y = problem.X, problem.y
    (n, p), s = X.shape, support_size(problem, kept)
    charge = math.log(p) / n if selection == "at-most" else 0.0
    score = np.abs((y - y.mean()) @ X)
    current = refit(X, y, np.argpartition(-score, s - 1)[:s], Fit(np.zeros(p), 0.0, np.arange(0), 0.0), charge)
    while True:
        candidates = (refit(X, y, support, current, charge) for support in moves(X, y, current, drop=charge > 0))
        following = min(candidates, key=lambda fit: fit.objective, default=current)
        improved = following.objective < current.objective - WORTHWHILE
        moved = len(np.setxor1d(current.support, following.support)) if improved else 0
        note = f"{len(current.support)} of {p} entries."
        yield Iterate(current.b, objective=current.objective, residual=moved / (2.0 * s), note=note)
        if not improved:
            return Stop.CONVERGED
        current = following


def refit(X: Array, y: Array, support: Indices, start: Fit, charge: float) -> Fit:
    """Return the logistic fit with an intercept on `support`, from the coefficients of `start`."""
    support = np.sort(support)
    Z = np.column_stack([np.ones(len(y)), X[:, support]])
    begin = np.concatenate([[start.intercept], start.b[support]])
    *_, theta = islice(newton(LOGISTIC, Z, y, begin), NEWTON_STEPS)
    b = np.zeros(X.shape[1])
    b[support] = theta[1:]
    loss = float(LOGISTIC.loss(y * (Z @ theta)).mean())
    return Fit(b, float(theta[0]), support, loss + charge * len(support))


def moves(X: Array, y: Array, fit: Fit, drop: bool) -> Iterator[Indices]:
    """Yield supports to try: the k weakest entries exchanged for the k most promising others, or dropped."""
    inside = fit.support
    outside = np.setdiff1d(np.arange(X.shape[1]), inside)
    margin = y * (X @ fit.b + fit.intercept)
    gradient = (y * LOGISTIC.slope(margin)) @ X / len(y)
    # The floor keeps 0/0 away where separable answers leave no curvature.
    diagonal = np.einsum("ij,ij,i->j", X, X, LOGISTIC.curvature(margin)) / len(y) + np.finfo(float).tiny
    weakest = inside[np.argsort((fit.b**2 * diagonal)[inside], kind="stable")]
    best = outside[np.argsort(-np.abs(gradient / np.sqrt(diagonal))[outside], kind="stable")]
    k = len(inside)
    while k >= 1:
        if k <= len(outside):
            yield np.concatenate([weakest[k:], best[:k]])
        if drop and k < len(inside):
            yield weakest[k:]
        k //= 2


def workspace(spec: SingleIndexSpec, options: Options) -> int:
    """Hold the columns kept, twice weighted, and their Hessian; a few vectors of length n and p."""
    s = sparse_size(spec, options) + 1
    return 8 * (3 * spec.n * s + 3 * s * s + 16 * (spec.n + spec.p)) + 2**20


ENTRY = single_index_entry(
    title="Best-subset logistic regression",
    update=r"S \leftarrow S \setminus \{k \text{ smallest } b_j^2 h_j\} \cup \{k \text{ largest } g_j^2 / h_j\},"
    r" \quad b \leftarrow \arg\min_{\operatorname{supp} b \subseteq S} F(b), \quad g = \nabla F, \ h ="
    r" \operatorname{diag} \nabla^2 F",
    summary="The few entries that explain the answers best under a logistic link, found by exchanging entries.",
    run=subset_logistic,
    knows=("sparsity",),
    workspace=workspace,
    refuse=all_of(requirements.refuse_first_moment, requirements.needs_answers),
)
