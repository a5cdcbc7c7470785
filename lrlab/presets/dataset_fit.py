"""Fits a solver to a data set in files, with settings chosen on held-out samples, for the tables of papers."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lrlab.data.dataset import Dataset
from lrlab.data.reading import read
from lrlab.data.recover import job_of
from lrlab.engine import solve
from lrlab.models.multilabel import drawn_pattern
from lrlab.models.multilabel_problem import measured, only_observed
from lrlab.parameters import InputError, Value
from lrlab.presets.papers import Files
from lrlab.runs.trace import Row

MOST_SECONDS = 3600.0
"""Longest run."""
BLOCKS = 20
"""Number of blocks of test samples: the spread of their scores gives the error of a difference between solvers."""


@dataclass(frozen=True)
class DatasetFit:
    """A solver on a data set, with unscaled features and no intercepts, as in papers.

    share: rank over the number of labels, 0 without a rank. observed: fraction of observed labels. tune_by: metric that
    chooses regularization and iterations on held-out samples. trial: seed of split, observed labels and solver.
    """

    data: str
    files: Files
    solver: str
    share: float
    observed: float
    iterations: int
    tune_by: str
    settings: tuple[tuple[str, Value], ...] = ()
    trial: int = 0


def fit_dataset(task: DatasetFit) -> dict[str, Any]:
    """Return the test scores of the tuned solver, its regularization, and the seconds of the last fit.

    The rank is at most the number of features. refused: the solver's sentence if it rejects the data, or "". trace: the
    scores after each iteration. blocks: the final scores on each of BLOCKS blocks of the test samples.
    """
    about = {name: getattr(task, name) for name in ("data", "solver", "share", "observed", "trial")}
    try:
        train, test, labels = task.files
        training = read(train, labels, beside=test)
        fresh = read(test, labels, like=training)
        about["rank"] = min(training.d, max(1, round(task.share * training.L))) if task.share else 0
        settings: dict[str, Any] = dict(task.settings)
        job = job_of(
            (hide(training, task.observed, task.trial), fresh),
            solver=task.solver,
            tune_by=task.tune_by,
            max_iter=task.iterations,
            max_seconds=MOST_SECONDS,
            intercept=False,
            scaling="none",
            seed=task.trial,
            **({"rank": about["rank"]} if about["rank"] else {}),
            **settings,
        )
    except InputError as error:
        return {**about, "regularization": None, "refused": str(error), "trace": []}
    trace = solve.run(job, worker=False)
    scored, weight = [named(row) for row in trace.rows], dict(job.options).get("regularization")
    own = {**about, "regularization": weight, "refused": "", "trace": scored}
    if not scored:
        return own
    problem: Any = job.spec.build()
    estimate: Any = trace.estimate
    X, Y = problem.X_test, problem.Y_test
    parts = [part for part in np.array_split(np.arange(X.shape[0]), BLOCKS) if len(part)]
    return {**own, **scored[-1], "blocks": [named(measured(estimate, X[part], Y[part])) for part in parts]}


def named(row: Row) -> Row:
    """Return scores by their names in papers: precision in percent, the others as fractions."""
    return {
        name.replace("_", "@") if name[-1].isdigit() else name: 100.0 * value if "precision" in name else value
        for name, value in row.items()
        if name not in ("objective", "residual")
    }


def hide(data: Dataset, fraction: float, seed: int) -> Dataset:
    """Return the rows with a random fraction of their known labels."""
    if fraction == 1:
        return data
    drawn = drawn_pattern(np.random.default_rng(seed), data.Y.shape, fraction)
    known = drawn if data.observed is None else csr_array(drawn.multiply(data.observed))
    return replace(data, Y=only_observed(data.Y, known), observed=known)
