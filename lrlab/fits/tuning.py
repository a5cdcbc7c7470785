"""Chooses the settings of a fit on rows held out, in the same way for every solver.

All proposals can be tried at once, here (`tune_rows`) or on the engine (`tuned_run`). The rows held out are the same
for all solvers.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from lrlab.datasets import Dataset
from lrlab.fits.calibration import best_threshold, calibrated, held_out, own_thresholds
from lrlab.fits.fit_memory import largest_rank, table_bytes
from lrlab.fits.fit_result import Row
from lrlab.fits.given import Folds, on_folds, run_given
from lrlab.fits.metrics import METRICS, validation_score
from lrlab.fits.own_files import default_rank, max_rank
from lrlab.fits.search import LEAD, Result, best_of, proposals
from lrlab.fits.settings import Candidate, FitSettings
from lrlab.models.multilabel_problem import Predictor
from lrlab.models.own_rows import OwnProblem, OwnRows, folds
from lrlab.models.scaling import Scaling
from lrlab.protocol import Iterate

HELD_OUT_ROWS = 500
"""Rows that are held out in all, where there are so many: few rows compare badly."""
FOLDS_BYTES = 2**28
"""Memory of the rows of all folds."""

Progress = Callable[[int, float], None]
"""Called with the number of settings that have been tried, and the best validation score so far."""


def fold_count(n: int, held_bytes: int) -> int:
    """Return how many fifths of n rows, of held_bytes, are held out in turn: as many as make up HELD_OUT_ROWS."""
    most = min(5, n, max(1, FOLDS_BYTES // max(1, held_bytes)))
    return max(1, min(most, math.ceil(5 * HELD_OUT_ROWS / n)))


def evaluate(problems: Sequence[OwnProblem], settings: FitSettings, candidate: Candidate) -> Result:
    """Return the best validation score among the iterates of one run, a mean over problems; of equal ones the first."""
    metric, best, kept = METRICS[settings.metric], (0, math.nan), list[Predictor]()

    def watch(row: Row, iterate: Iterate) -> None:
        nonlocal best
        if math.isnan(best[1]) or metric.better * (row["score"] - best[1]) > 0:
            best, kept[:] = (int(row["iteration"]), row["score"]), iterate.estimate.estimates

    rows_held_out = Folds(problems, lambda problem, estimate: validation_score(problem, estimate, metric))
    options, entry = settings.options_with(candidate), on_folds(settings.entry)
    run_given(rows_held_out, entry, options, settings.limits, settings.seed, watch)
    if not kept:
        return Result(candidate, *best)
    held = held_out(problems, kept)
    common = best_threshold(held)
    base = kept[0].threshold if settings.metric == "hamming" or math.isnan(common) else common
    return Result(candidate, *best, common, own_thresholds(held, base), calibrated(held))


class CandidateTrial(NamedTuple):
    """A candidate, with rows that are read where it runs."""

    spec: OwnRows
    settings: FitSettings
    candidate: Candidate


def run_candidate(trial: CandidateTrial) -> Result:
    """Return the result of a trial, on fifths of the rows of its spec."""
    spec = trial.spec.replace(scaling=trial.candidate.scaling)
    return evaluate(spec.held_out(fold_count(spec.n, spec.held_bytes)), trial.settings, trial.candidate)


@dataclass
class Tuned:
    """The settings that rows held out chose by a metric, the best result, and all results; requested: the metric."""

    metric: str
    chosen: Result
    table: list[Row] = field(repr=False)
    requested: str

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence where the metric does not tell settings apart, or the best score was not taken."""
        if self.metric != self.requested:
            return (f"Of a single label {self.requested} is the same for all settings: tuned by {self.metric}.",)
        if len(self.table) < 2:
            return ()
        better = METRICS[self.metric].better
        scores = [row["score"] for row in self.table if not math.isnan(row["score"])]
        best = max(scores, key=lambda score: better * score, default=math.nan)
        if better * (best - self.chosen.score) > 0:
            noise = f"on few rows held out a lead of less than {LEAD:.1%} is noise"
            return (f"Rows of one length had {best:.4g}: {noise}.",)
        if len(set(scores)) > 1:
            return ()
        other = "macro_auc" if self.metric == "hamming" else "macro_auc or hamming"
        return (f"All settings have the same {self.metric}, so that it chose none of them: tune by {other}.",)

    def summary(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {"metric": self.metric, **self.chosen.row(), "table": self.table}


def tune_rows(rows: Dataset, requested: FitSettings, progress: Progress) -> Tuned:
    """Choose settings by fifths of these rows, held out one after the other; a single label by a metric of labels."""
    settings, rank, results = requested.of_labels(rows.L), default_rank(max_rank(rows)), list[Result]()
    splits = list(folds(rows, fold_count(rows.n, table_bytes(rows.X)), settings.seed))

    @lru_cache(maxsize=1)
    def problems(name: str) -> list[OwnProblem]:
        return [
            OwnProblem.between(*pair, rank, intercept=settings.intercept, scaling=Scaling.of(pair[0].X, name))
            for pair in splits
        ]

    most = max(1, largest_rank(settings.solver, dict(settings.options), rows, max_rank(rows)))
    better = METRICS[settings.metric].better
    for candidate in proposals(settings, most, rows.n):
        results.append(evaluate(problems(candidate.scaling), settings, candidate))
        progress(len(results), best_of(results, better).score)
    return Tuned(settings.metric, best_of(results, better), [one.row() for one in results], requested.metric)
