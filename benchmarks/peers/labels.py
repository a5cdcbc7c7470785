"""Many labels: leml-squared on bibtex beside full-rank ridge regressions by scikit-learn.

The rows are those of `bibtex` in the folder that LRLAB_DATA names; without it there is nothing to compare.
"""

import itertools
import os
from typing import Any

import numpy as np

from benchmarks.peers.frame import Contest, Entrant
from lrlab import catalog
from lrlab.arrays import Array
from lrlab.data import reading as tables
from lrlab.lowrank import LowRank
from lrlab.models.multilabel import MultilabelProblem
from lrlab.parameters import declared, settle
from lrlab.presets.papers import FOLDER, located

TITLE = "many labels"
DISTRIBUTIONS = ("scikit-learn",)
RANK, ITERATIONS = 64, 5


def build(seed: int) -> MultilabelProblem:
    """Return the training and test rows, the same for every seed."""
    files = located(None, ("bibtex",))["bibtex"]
    train, test = (tables.read(rows, files.labels) for rows in (files.train, files.test))
    return MultilabelProblem(train.X, train.Y, None, test.X, test.Y, RANK)


def leml(problem: MultilabelProblem) -> LowRank:
    """leml-squared with its defaults, after five iterations."""
    run = catalog.solver("leml-squared", "multilabel").run
    *_, last = itertools.islice(run(problem, rng=np.random.default_rng(0), **settle(declared(run), {})), ITERATIONS)
    return last.estimate


def ridge(problem: MultilabelProblem, **options: Any) -> Array:
    """Ridge regression of full rank, with scikit-learn's default penalty."""
    from sklearn.linear_model import Ridge

    return Ridge(**options).fit(problem.X, problem.Y.toarray()).coef_.T


def error(problem: MultilabelProblem, estimate: LowRank | Array) -> float:
    """Return the share of wrong labels among the three that score best, on test rows."""
    Z = (
        estimate
        if isinstance(estimate, LowRank)
        else LowRank(estimate, np.ones(len(estimate.T)), np.eye(len(estimate.T)))
    )
    return 1.0 - problem.score(Z)["precision_3"]


CHOLESKY = Entrant("scikit-learn Ridge, cholesky", lambda rows: ridge(rows, solver="cholesky", fit_intercept=False))
DEFAULTS = Entrant("scikit-learn Ridge", ridge)
CONTESTS = (
    Contest(
        f"bibtex, rank {RANK}, {ITERATIONS} iterations",
        build,
        error,
        (Entrant("leml-squared", leml),),
        (CHOLESKY, DEFAULTS),
        "leml-squared within 2 x Ridge by Cholesky's factorisation; the error is 1 - precision@3",
    ),
) * (FOLDER in os.environ)
