"""A solver fitted to people's own multi-label data: read, tuned, fitted, tested after every iteration."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lrlab import catalog, datasets
from lrlab.datasets import Dataset
from lrlab.fits import tuning
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.own_files import (
    File,
    checked_options,
    half,
    most_rank,
    read,
    require_rank,
    require_share,
    rows_of_both_kinds,
)
from lrlab.fits.record import Record, Row
from lrlab.fits.validation import (
    METRIC,
    METRICS,
    SHARE,
    Candidate,
    Question,
    Result,
    evaluate,
    question,
)
from lrlab.models.multilabel import Multilabel
from lrlab.models.own_rows import OwnProblem, hide, solver_stream, split
from lrlab.protocol import limits

Progress = Callable[[int, float], None]
"""Called with the number of settings that have been tried, and the best validation score so far."""

MODEL = Multilabel.model
ITERATIONS = 5
"""Most iterations where they are not tuned."""


@dataclass
class Tuned:
    """What one validation split has chosen: rank, regularisation and number of iterations, and all that was tried."""

    metric: str
    chosen: Result
    table: list[Row] = field(repr=False)

    def summary(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"metric": self.metric, **self.chosen.row(), "table": self.table}


@dataclass(kw_only=True)
class Fit(Record):
    """What a fit left behind: a `Record`.

    columns: the training data without its rows. auc_rows: test rows with labels of both kinds, over which auc is a
    mean. areas: AUC over all entries and over labels, at the last iteration.
    """

    auc_rows: int
    columns: Dataset = field(repr=False)
    areas: Row = field(default_factory=dict)
    tuned: Tuned | None = None

    @property
    def model(self) -> FittedModel:
        """What predicts labels of new rows; it can be saved."""
        return FittedModel(self.solver, dict(self.options), self.estimate, self.columns)

    @property
    def beside(self) -> dict[str, Any]:
        """How many rows and labels the AUC are means over, and what was tuned."""
        tuned = {"tuned": self.tuned.summary()} if self.tuned else {}
        return {"auc_rows": self.auc_rows, **self.areas, **tuned}


def fit(
    train: File,
    test: File,
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int | None = None,
    observed: float = 1.0,
    seed: int = 0,
    max_seconds: float = 3600.0,
    tune_by: str = "",
    progress: Progress = lambda tried, best: None,
    **settings: object,
) -> Fit:
    """Fit a multi-label solver to the rows of one file, and test it on those of another after every iteration.

    labels: as for `datasets.read`. rank: 0 takes half of what is possible. iterations: the most there are, 5 unless
    given. observed: share of the known training labels that is kept, drawn with the seed; the rest is unknown to the
    solver. settings: the solver's options. tune_by: a metric of `validation.METRICS`; what is not given of rank and
    regularization, and the number of iterations (of at most `iterations`, or 10), is then chosen as by `tune`, and all
    rows are fitted with that.
    Scores: precision@1, @3, @5 in percent, ndcg@3, @5, hamming, auc (a mean over `auc_rows` rows that have labels of
    both kinds); of the last iteration also micro_auc and macro_auc (a mean over `auc_labels` labels).
    InputError where a file, a setting or a size is wrong.
    """
    options = solver_options(solver, settings)
    ending = limits({"max_iter": ITERATIONS if iterations is None else iterations, "max_seconds": max_seconds})
    asked = question(solver, settings, rank, iterations, max_seconds, tune_by, seed) if tune_by else None
    given, fresh = read(train, test, labels, observed, seed)
    require_rank(rank, given)
    columns = given.rows(slice(0, 0))
    found = Fit(solver=solver, options=options, auc_rows=rows_of_both_kinds(fresh), columns=columns)
    if asked:
        found.tuned = tuned_on(given, asked, progress)
        best = found.tuned.chosen
        found.options, ending = asked.settings(best.candidate), ending._replace(max_iter=max(1, best.iterations))
    problem = OwnProblem.between(given, fresh, rank or half(given))
    iterates = catalog.solver(solver, MODEL).run(problem, **found.options, rng=solver_stream(seed))
    found.fill(iterates, lambda estimate: named(problem.score(estimate)), ending)
    if found.estimate is not None:
        found.areas = problem.areas(found.estimate)
    return found


def tune(
    train: File,
    labels: Any = None,
    *,
    solver: str = "leml-squared",
    rank: int = 0,
    iterations: int | None = None,
    observed: float = 1.0,
    seed: int = 0,
    max_seconds: float = 3600.0,
    metric: str = METRIC,
    progress: Progress = lambda tried, best: None,
    **settings: object,
) -> Tuned:
    """Choose rank, regularisation and number of iterations by one validation split of the rows of a file.

    A fifth of the rows is held out, drawn with the seed and the same for all solvers; of its labels those that are
    known, and kept where `observed` is less than 1, count. A rank or a `regularization` that is given stays as it is.
    max_seconds: of each run. The other parameters are as for `fit`.
    """
    solver_options(solver, settings)
    asked = question(solver, settings, rank, iterations, max_seconds, metric, seed)
    given = hide(datasets.read(train, labels), require_share(observed), seed)
    require_rank(rank, given)
    return tuned_on(given, asked, progress)


def tuned_on(given: Dataset, asked: Question, progress: Progress) -> Tuned:
    """Choose settings by one validation split of these rows."""
    learnt, held = split(given, SHARE, asked.seed)
    problem, table = OwnProblem.between(learnt, held, half(given)), list[Result]()

    def attempt(candidates: list[Candidate]) -> list[Result]:
        for candidate in candidates:
            table.append(evaluate(problem, asked, candidate))
            progress(len(table), tuning.best_of(table, METRICS[asked.metric].better).score)
        return table[-len(candidates) :]

    best = tuning.explore(tuning.search(asked, most_rank(given)), attempt)
    return Tuned(asked.metric, best, [result.row() for result in table])


def named(scores: Mapping[str, float]) -> Row:
    """Return scores by the names of the shell, as papers print them: precision in percent, the others as shares."""
    at = {name: name.replace("_", "@") if name[-1].isdigit() else name for name in scores}
    return {at[name]: (100.0 if name.startswith("precision") else 1.0) * value for name, value in scores.items()}


def solver_options(solver: str, settings: Mapping[str, object]) -> dict[str, Any]:
    """Return all options of a multi-label solver, checked."""
    return checked_options(MODEL, solver, settings)
