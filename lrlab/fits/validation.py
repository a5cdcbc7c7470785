"""Scores of settings on held-out rows: the metrics, the trial of one candidate, and the task of tuning."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from lrlab import catalog, ranking
from lrlab.fits.calibration import Calibration, best_threshold, calibrated, own_thresholds
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import GAINS, PLACES, Predictor, threshold_of
from lrlab.models.own_rows import OwnProblem, OwnRows, OwnThresholds, solver_stream
from lrlab.models.scaling import SCALINGS
from lrlab.parameters import Parameter, Value, require_known, settle
from lrlab.protocol import Iterate, Limits, drive, limits, parts
from lrlab.solver_entry import SolverEntry

HELD_OUT_SHARE = 0.2
"""Share of the training rows that is held out at a time."""
HELD_OUT_ROWS, MOST_FOLDS = 500, 5
"""Rows that are held out in all, where there are so many, and in how many parts at most: few rows compare badly."""
FOLDS_BYTES = 2**28
"""Memory of the rows of all parts."""
VANISHED = 1e-2
"""Deviation of the scores of a single label, as a share of the label's own, below which they say nothing of it."""
ITERATIONS = 10
"""Default limit of iterations of a run: test accuracy is often best after 2 to 5."""


class Metric(NamedTuple):
    """A score by which settings are chosen.

    value(scores, positives that are known, pattern of what is known or None, threshold); better: +1 where larger is
    better, else -1. Precision and nDCG rank all labels; only known positives count.
    """

    value: Callable[..., float]
    better: int = 1


def first_places(scores: ranking.Scores, Y: csr_array, *_: Any, name: str, **places: Any) -> float:
    """Return one of `ranking.row_measures`."""
    return ranking.row_measures(scores, Y, 0.0, **places)[name]


# Unknown labels are ranked among the others: where labels are unknown at random, so many of the true positives in the
# first k places are known as of all of them, and settings compare as they would if all were. Ranked among the known
# alone, where they are a fifth, third is about fifteenth of all: an easier problem, for which more regularisation is
# best.
METRICS: Mapping[str, Metric] = {
    **{f"precision@{k}": Metric(partial(first_places, name=f"precision_{k}", precisions=(k,))) for k in PLACES},
    **{f"ndcg@{k}": Metric(partial(first_places, name=f"ndcg_{k}", gains=(k,))) for k in GAINS},
    "auc": Metric(lambda scores, Y, known, threshold: ranking.instance_auc(scores, Y, known).value),
    "micro_auc": Metric(lambda scores, Y, known, threshold: ranking.micro_auc(scores, Y, known)),
    "macro_auc": Metric(lambda scores, Y, known, threshold: ranking.label_auc(scores, Y, known).value),
    "hamming": Metric(lambda scores, Y, known, threshold: ranking.hamming(scores, Y, threshold, known), better=-1),
}
METRIC = "ndcg@5"
"""The default metric: of those of the first places it has the least noise."""
BY_LABEL = ("macro_auc", "micro_auc", "hamming")
"""Metrics that tell settings apart where there is a single label, which the rankings of a row do not."""


class Candidate(NamedTuple):
    """Settings to be tried: 0 where a solver has no rank, None where it has no such option or its default is taken."""

    rank: int
    regularization: float | None
    scaling: str = "none"
    rate: float | None = None
    margin: float | None = None

    @property
    def options(self) -> dict[str, Value]:
        """The options of the solver that it sets."""
        given = {"fitted_rank": self.rank or None, "regularization": self.regularization}
        given |= {"rate": self.rate, "margin": self.margin}
        return {name: value for name, value in given.items() if value is not None}


class Result(NamedTuple):
    """The best score of a candidate on the validation rows, and its iteration; nan where there is none.

    threshold: the score above which labels of these rows are best predicted, nan where it is not better than the
    estimate's own; wrong: the share of them that is predicted wrongly above the best one, nan where no label is on.
    own: labels with a threshold of their own. calibration: of the scores.
    """

    candidate: Candidate
    iterations: int
    score: float
    threshold: float = math.nan
    wrong: float = math.nan
    own: OwnThresholds = ()
    calibration: Calibration = ()

    def row(self) -> dict[str, Any]:
        """Return it as plain values, without options that the solver does not have."""
        threshold = None if math.isnan(self.threshold) else self.threshold
        row = {**self.candidate._asdict(), "iterations": self.iterations, "score": self.score, "threshold": threshold}
        return {name: value for name, value in row.items() if name not in ("rate", "margin") or value is not None}


class TuningTask(NamedTuple):
    """What is tuned: a solver with its other options, each run's limits, the metric, the solver's seed.

    rank, regularization: fixed values; 0 and None leave them to the search. scaling: a fixed one, or auto. given: names
    of the options that are fixed.
    """

    solver: str
    options: tuple[tuple[str, Value], ...]
    rank: int
    regularization: float | None
    limits: Limits
    metric: str
    seed: int
    scaling: str = "auto"
    given: tuple[str, ...] = ()

    @property
    def free(self) -> Mapping[str, Parameter]:
        """The options of the solver that are not fixed."""
        return {name: one for name, one in self.entry.options.items() if name not in self.given}

    @property
    def entry(self) -> SolverEntry:
        """The solver's entry on the catalogue."""
        return catalog.solver(self.solver, Multilabel.model)

    def of_labels(self, L: int) -> "TuningTask":
        """Return the task by a metric that tells settings apart for L labels: macro AUC for one label."""
        return self._replace(metric=BY_LABEL[0]) if L == 1 and self.metric not in BY_LABEL else self

    def options_with(self, candidate: Candidate) -> dict[str, Value]:
        """Return all options of the solver with those of a candidate among them."""
        return dict(self.options) | candidate.options

    def threshold(self, best: Result) -> float | None:
        """Return the threshold that a fit with the best settings takes; None takes the estimate's own.

        Metrics of rankings do not see scale, by which scores may be far from 0 and 1.
        """
        return None if self.metric == "hamming" or math.isnan(best.threshold) else best.threshold


class CandidateTrial(NamedTuple):
    """A candidate, with rows that are read where it runs."""

    spec: OwnRows
    task: TuningTask
    candidate: Candidate


def run_candidate(trial: CandidateTrial) -> Result:
    """Return the result of a trial, on the rows that its spec holds out, part after part."""
    spec = trial.spec.replace(scaling=trial.candidate.scaling)
    return evaluate(spec.held_out(folds(spec.n, spec.held_bytes)), trial.task, trial.candidate)


def folds(n: int, held_bytes: int) -> int:
    """Return how many parts of n rows are held out, one after the other: as many as make up HELD_OUT_ROWS.

    At most MOST_FOLDS, and as few as keep the rows, of held_bytes, within FOLDS_BYTES.
    """
    held = max(1, round(HELD_OUT_SHARE * n))
    most = min(MOST_FOLDS, n // held, max(1, FOLDS_BYTES // max(1, held_bytes)))
    return max(1, min(most, math.ceil(HELD_OUT_ROWS / held)))


def evaluate(problems: Sequence[OwnProblem], task: TuningTask, candidate: Candidate) -> Result:
    """Return the best validation score among the iterates of one run, a mean over problems; of equal ones the first."""
    metric, best, kept = METRICS[task.metric], (0, math.nan), list[Predictor]()

    def watch(iteration: int, seconds: float, iterate: Iterate) -> None:
        nonlocal best
        estimates = iterate.estimate.estimates
        pairs = zip(problems, estimates, strict=True)
        scores = [validation_score(problem, estimate, metric) for problem, estimate in pairs]
        # Rows held out may have labels of one kind only, of which an AUC says nothing.
        score = float(np.mean([one for one in scores if not math.isnan(one)] or [math.nan]))
        if math.isnan(best[1]) or metric.better * (score - best[1]) > 0:
            best, kept[:] = (iteration, score), estimates

    options = task.options_with(candidate)
    runs = [task.entry.run(problem, **options, rng=solver_stream(task.seed)) for problem in problems]
    drive(joint(runs), watch, **task.limits._asdict())
    if not kept:
        return Result(candidate, *best)
    common = best_threshold(problems, kept)
    base = threshold_of(kept[0]) if task.metric == "hamming" or math.isnan(common[0]) else common[0]
    return Result(candidate, *best, *common, own_thresholds(problems, kept, base), calibrated(problems, kept))


class Together(tuple[Any, ...]):
    """All parts of the `estimates` of several problems."""

    estimates: Sequence[Predictor]


def joint(runs: Sequence[Iterator[Iterate]]) -> Iterator[Iterate]:
    """Yield iterates of several runs together until one of them ends: sums of objectives, the largest residual."""
    for iterates in zip(*runs, strict=False):
        together = Together(part for one in iterates for part in parts(one.estimate))
        together.estimates = [one.estimate for one in iterates]
        objectives, residuals = ([getattr(one, name) for one in iterates] for name in ("objective", "residual"))
        objective = None if None in objectives else sum(objectives)
        yield Iterate(together, objective, None if None in residuals else max(residuals))


def validation_score(problem: OwnProblem, estimate: Predictor, metric: Metric) -> float:
    """Return the score of an estimate on the rows that are held out.

    Of a single label, scores that hardly differ count as equal: their order is what an unfinished run has left of none.
    """
    scores: ranking.Scores = estimate.scores(problem.X_test)
    if problem.Y_test.shape[1] == 1:
        values = ranking.rows_of(scores, slice(None))
        if values.std() <= VANISHED * problem.Y_test.toarray().std():
            scores = np.full_like(values, values.mean())
    return float(metric.value(scores, problem.Y_test, problem.mask_test, threshold_of(estimate)))


def tuning_task(
    solver: str,
    settings: Mapping[str, object],
    rank: int,
    iterations: int | None,
    seconds: float,
    metric: str,
    seed: int,
    scaling: str = "auto",
) -> TuningTask:
    """Return the task, checked; `settings` are options of the solver, and those given are not tuned."""
    require_known(metric, METRICS, what="metric")
    require_known(scaling, SCALINGS, what="scaling")
    options = settle(catalog.solver(solver, Multilabel.model).run, settings)
    weight = float(options["regularization"]) if "regularization" in settings else None
    ending = limits({"max_iter": ITERATIONS if iterations is None else iterations, "max_seconds": seconds})
    return TuningTask(
        solver, tuple(options.items()), rank or int(options.get("fitted_rank", 0)), weight, ending, metric, seed,
        scaling, tuple(settings),
    )  # fmt: skip
