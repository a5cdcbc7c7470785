"""Fits a solver to users' own multi-label data, tuned if required, and tests it after every iteration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lrlab import catalog, datasets
from lrlab.datasets import Dataset
from lrlab.fits import baselines, tuning
from lrlab.fits.fit_memory import fits_memory, largest_rank, require_fit_memory
from lrlab.fits.fit_result import FitResult, Following, Row
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.own_files import (
    File,
    checked_options,
    count_auc_rows,
    default_rank,
    max_rank,
    read,
    require_iterations,
    require_rank,
)
from lrlab.fits.validation import HELD_OUT_SHARE, METRIC, METRICS, Candidate, Result, TuningTask, evaluate, tuning_task
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import threshold_of
from lrlab.models.own_rows import OwnProblem, solver_stream, split
from lrlab.models.scaling import SCALINGS, Scaling
from lrlab.parameters import require_known
from lrlab.protocol import limits

Progress = Callable[[int, float], None]
"""Called with the number of settings that have been tried, and the best validation score so far."""

MODEL = Multilabel.model
ITERATIONS = 5
"""Default limit of iterations where they are not tuned."""


@dataclass
class Tuned:
    """The settings that one validation split chose, the best result, and all results."""

    metric: str
    chosen: Result
    table: list[Row] = field(repr=False)

    def summary(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"metric": self.metric, **self.chosen.row(), "table": self.table}


@dataclass(kw_only=True)
class Fit(FitResult):
    """The result of a fit to labels: a `FitResult`.

    columns: the training data without its rows. auc_rows: test rows with labels of both kinds, over which auc is a
    mean. areas: AUC over all entries and over labels, at the last iteration. intercept, scaling: of the predictor.
    threshold: the score above which a label is predicted, None for the estimate's own. baselines: the scores of label
    frequencies and of full rank.
    """

    auc_rows: int
    columns: Dataset = field(repr=False)
    intercept: bool = True
    scaling: Scaling = field(default=Scaling(), repr=False)
    threshold: float | None = None
    baselines: dict[str, Row] = field(default_factory=dict)
    areas: Row = field(default_factory=dict)
    tuned: Tuned | None = None

    @property
    def model(self) -> FittedModel:
        """The model that predicts labels of new rows; it can be saved."""
        options = dict(self.options)
        return FittedModel(self.solver, options, self.estimate, self.columns, self.scaling, self.threshold)

    @property
    def extra_values(self) -> dict[str, Any]:
        """The numbers of rows and labels over which the AUC are means, and the result of tuning."""
        tuned = {"tuned": self.tuned.summary()} if self.tuned else {}
        threshold = threshold_of(self.estimate) if self.threshold is None else self.threshold
        prepared = {"intercept": self.intercept, "scaling": self.scaling.name, "threshold": threshold}
        compared = {"baselines": self.baselines, "remark": self.remark} if self.baselines else {}
        return {"auc_rows": self.auc_rows, **self.areas, **prepared, **compared, **tuned}

    @property
    def remark(self) -> str:
        """One sentence where the fit is below a baseline; else nothing."""
        return baselines.remark(self.rows[-1] if self.rows else {}, self.baselines)


def fit(
    train: File,
    test: File,
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int | None = None,
    observed: float = 1.0,
    intercept: bool = True,
    scaling: str = "auto",
    seed: int = 0,
    max_seconds: float = 3600.0,
    tune_by: str = "",
    compared: bool = True,
    limit: int = 0,
    areas: bool = True,
    progress: Progress = lambda count, best: None,
    following: Following = lambda iteration, iterations, seconds: None,
    **settings: object,
) -> Fit:
    """Fit a multi-label solver to the rows of one file, and test it on those of another after every iteration.

    labels: as for `datasets.read`. rank: 0 takes half of what is possible, at most 100. iterations: the most there are,
    5 unless given. observed: share of the known training labels that the solver observes, drawn with the seed.
    intercept: whether each label has one, which nothing penalises. scaling: of features, one of `scaling.SCALINGS`.
    settings: the solver's options. tune_by: a metric of `validation.METRICS`; rank and regularization, unless they are
    given, and the number of iterations (at most `iterations`, or 10) are then chosen as by `tune`, and all rows are
    fitted with these.
    compared: whether label frequencies and full rank, a ridge regression, are scored on the same rows, too.
    Scores: precision@1, @3, @5 in percent, ndcg@3, @5, hamming, auc (a mean over `auc_rows` rows that have labels of
    both kinds); of the last iteration, unless areas is false, also micro_auc and macro_auc (a mean over `auc_labels`
    labels). limit: how many rows of each file are read, the first ones; 0 takes all. progress(settings tried, best
    score) and following(iteration, most iterations, seconds of the solver) are called as the fit goes on.
    InputError where a file, a setting or a size is wrong, or where memory does not suffice.
    """
    options = checked_options(MODEL, solver, settings)
    require_known(scaling, SCALINGS, what="scaling")
    require_iterations(iterations)
    ending = limits({"max_iter": ITERATIONS if iterations is None else iterations, "max_seconds": max_seconds})
    task = tuning_task(solver, settings, rank, iterations, max_seconds, tune_by, seed, scaling) if tune_by else None
    training = read(train, labels, observed, seed, limit)
    fresh = datasets.read(test, labels, like=training, limit=limit)
    require_rank(rank, training)
    require_fit_memory(solver, options, training, fresh, rank or default_rank(training))
    columns = training.rows(slice(0, 0))
    fitted = Fit(solver=solver, options=options, auc_rows=count_auc_rows(fresh), columns=columns)
    fitted.notes = fresh.notes
    if task:
        fitted.tuned = tune_rows(training, task, progress, intercept=intercept)
        best = fitted.tuned.chosen
        fitted.options, ending = task.options_with(best.candidate), ending._replace(max_iter=max(1, best.iterations))
        scaling, fitted.threshold = best.candidate.scaling, task.threshold(best)
    problem = OwnProblem.between(
        training, fresh, rank or default_rank(training), intercept=intercept, scaling=Scaling.of(training.X, scaling)
    )
    fitted.intercept, fitted.scaling, problem.threshold = intercept, problem.scaling, fitted.threshold
    iterates = catalog.solver(solver, MODEL).run(problem, **fitted.options, rng=solver_stream(seed))
    fitted.fill(iterates, lambda estimate: named(problem.score(estimate)), ending, following)
    if fitted.estimate is not None and areas:
        fitted.areas = problem.areas(fitted.estimate)
    if compared:
        fitted.baselines = scores_of_baselines(training, problem, fitted, task)
    return fitted


def scores_of_baselines(rows: Dataset, problem: OwnProblem, fitted: Fit, task: TuningTask | None) -> dict[str, Row]:
    """Return the scores of label frequencies, and of full rank where a fit has less; tuned where the fit is."""
    estimates: dict[str, Any] = {baselines.FREQUENCIES: baselines.frequencies(rows.d, problem.Y, problem.mask)}
    if fitted.solver != baselines.SOLVER and baselines.feasible(rows.d, rows.L) and fits_memory(rows):
        settings: dict[str, Any] = {}
        if task:
            seconds, scaling = task.limits.max_seconds, fitted.scaling.name
            own = tuning_task(baselines.SOLVER, {}, 0, 1, seconds, task.metric, task.seed, scaling)
            best = tune_rows(rows, own, lambda count, best: None, intercept=fitted.intercept).chosen
            settings = best.candidate.options
        estimates[baselines.FULL_RANK] = baselines.full_rank(problem, settings)
    return {name: named(problem.score(estimate)) for name, estimate in estimates.items()}


def tune(
    train: File,
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int | None = None,
    observed: float = 1.0,
    intercept: bool = True,
    scaling: str = "auto",
    seed: int = 0,
    max_seconds: float = 3600.0,
    metric: str = METRIC,
    progress: Progress = lambda count, best: None,
    **settings: object,
) -> Tuned:
    """Choose rank, regularisation and number of iterations by one validation split of the rows of a file.

    A fifth of the rows is held out, drawn with the seed and the same for all solvers; of its labels only those
    count that are known and, where `observed` is less than 1, drawn. A given rank or `regularization` is not tuned.
    max_seconds: of each run. The other parameters are as for `fit`.
    """
    checked_options(MODEL, solver, settings)
    task = tuning_task(solver, settings, rank, iterations, max_seconds, metric, seed, scaling)
    rows = read(train, labels, observed, seed)
    require_rank(rank, rows)
    return tune_rows(rows, task, progress, intercept=intercept)


def tune_rows(rows: Dataset, task: TuningTask, progress: Progress, *, intercept: bool) -> Tuned:
    """Choose settings by one validation split of these rows."""
    training, held_out = split(rows, HELD_OUT_SHARE, task.seed)
    table = list[Result]()

    @lru_cache(maxsize=1)
    def problem(name: str) -> OwnProblem:
        scaled = Scaling.of(training.X, name)
        return OwnProblem.between(training, held_out, default_rank(rows), intercept=intercept, scaling=scaled)

    def attempt(candidates: list[Candidate]) -> list[Result]:
        for candidate in candidates:
            table.append(evaluate(problem(candidate.scaling), task, candidate))
            progress(len(table), tuning.best_of(table, METRICS[task.metric].better).score)
        return table[-len(candidates) :]

    most = largest_rank(task.solver, dict(task.options), rows, max_rank(rows))
    best = tuning.explore(tuning.search(task, most), attempt)
    return Tuned(task.metric, best, [result.row() for result in table])


def named(scores: Mapping[str, float]) -> Row:
    """Return scores by the names of the shell, as papers print them: precision in percent, the others as shares."""
    at = {name: name.replace("_", "@") if name[-1].isdigit() else name for name in scores}
    return {at[name]: (100.0 if name.startswith("precision") else 1.0) * value for name, value in scores.items()}
