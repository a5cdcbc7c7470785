"""Tunes solvers on held-out rows and then fits them to all rows, on the engine, as a page follows it."""

import json
import time
from collections.abc import Sequence
from typing import Any, cast

from lrlab.engine.engine import Engine
from lrlab.engine.handles import LiveRun
from lrlab.engine.messages import Failure
from lrlab.engine.stream import Collection
from lrlab.fits.metrics import METRICS
from lrlab.fits.search import Result, best_of, proposals
from lrlab.fits.settings import FitSettings
from lrlab.fits.tuning import CandidateTrial, run_candidate
from lrlab.models.own_rows import OwnRows
from lrlab.parameters import InputError
from lrlab.runs.job import Job, make_job


class Tuning:
    """The trials of one solver's settings; over once it has `best`, or `error` says why not."""

    def __init__(self, engine: Engine, job: Job, settings: FitSettings) -> None:
        self.job, self.settings, self.error = job, settings, ""
        self.best: Result | None = None
        # Jobs on own data are on OwnRows.
        self._spec = cast(OwnRows, job.spec)
        candidates = proposals(settings, min(self._spec.size), self._spec.n)
        trials = [CandidateTrial(self._spec, settings, candidate) for candidate in candidates]
        self._trials = Collection(engine.map(run_candidate, trials))

    @property
    def table(self) -> list[Result]:
        """The results so far, in the order in which the settings were proposed."""
        return [result for _, result in sorted(self._trials.results.items()) if isinstance(result, Result)]

    @property
    def total(self) -> int:
        """The number of settings that are tried."""
        return self._trials.total

    @property
    def version(self) -> int:
        """Differs where there is something new to show."""
        return self._trials.version

    @property
    def over(self) -> bool:
        """Whether the search has ended."""
        return self.best is not None or bool(self.error)

    def refresh(self) -> None:
        """Take the new results, and choose the best one once all are there."""
        if self.over:
            return
        for *_, result in self._trials.refresh():
            if isinstance(result, Failure):
                self.error = self.error or result.sentence
                self._trials.cancel()
        if self._trials.alive or self.error:
            return
        if self._trials.done < self._trials.total:
            self.error = self._trials.error or "Cancelled while it was tuned."
        else:
            self.best = best_of(self.table, METRICS[self.settings.metric].better)

    def cancel(self) -> None:
        """End it."""
        self._trials.cancel()

    def fitted(self) -> Job | None:
        """Return the job that fits all rows with the best settings; None, with `error` saying why, where none can."""
        if self.best is None:
            return None
        best, spec = self.best, self._spec
        known = json.dumps([best.threshold_by(self.settings.metric), best.own, best.calibration])
        spec = spec.replace(scaling=best.candidate.scaling, threshold=known)
        limits = self.job.limits._replace(max_iter=max(1, best.iterations))
        try:
            return make_job(spec, self.job.solver, **self.settings.options_with(best.candidate), **limits._asdict())
        except InputError as error:
            # A higher rank than by hand may need more memory than there is.
            self.error = str(error)
            return None


class TunedRun:
    """Several solvers of jobs on OwnRows, tuned alike, then fitted: handled like the engine's own `Following`.

    tunings: the searches, one a solver. cancelled: whether somebody has ended it.
    """

    def __init__(self, engine: Engine, jobs: Sequence[Job], settings: Sequence[FitSettings]) -> None:
        self._engine, self.cancelled, self.started = engine, False, time.monotonic()
        self._following: Any = None
        self.tunings = [Tuning(engine, job, one) for job, one in zip(jobs, settings, strict=True)]

    @property
    def runs(self) -> list[LiveRun]:
        """The fits to all rows; none as long as something is being tuned."""
        return self._following.runs if self._following else []

    @property
    def alive(self) -> bool:
        """Whether anything can still arrive."""
        if self._following:
            return self._following.alive
        return not self.cancelled and any(not tuning.error for tuning in self.tunings)

    @property
    def version(self) -> object:
        """Differs where there is something new to show."""
        return [one.version for one in self.tunings], self._following and self._following.version

    def refresh(self) -> Any:
        """Take in what has arrived; once all are tuned, fit."""
        if self._following:
            return self._following.refresh()
        for one in self.tunings:
            one.refresh()
        if not self.cancelled and all(one.over for one in self.tunings):
            if jobs := [job for one in self.tunings if (job := one.fitted())]:
                self._following = self._engine.follow(jobs)
        return True

    def cancel(self) -> None:
        """End it; the results so far stay."""
        self.cancelled = True
        for one in (*self.tunings, *filter(None, [self._following])):
            one.cancel()
