"""Tunes solvers on held-out rows and then fits them to all rows, on the engine, as a page follows it."""

import json
import time
from collections.abc import Sequence
from typing import Any

from lrlab.engine.engine import Engine
from lrlab.engine.handles import LiveRun
from lrlab.engine.messages import Failure
from lrlab.engine.stream import Collection
from lrlab.fits.search import Result, search
from lrlab.fits.settings import Candidate, FitSettings
from lrlab.fits.tuning import CandidateTrial, run_candidate
from lrlab.parameters import InputError
from lrlab.runs.job import Job, make_job


class Tuning:
    """The search of one solver's settings, batch by batch; over once it has `best`, or `error` says why not."""

    def __init__(self, engine: Engine, job: Job, settings: FitSettings) -> None:
        self.job, self.settings, self._results = job, settings, list[Result]()
        self.best: Result | None = None
        self.error = ""
        # Jobs on own data are on OwnRows.
        self._engine, self._spec = engine, job.spec
        spec: Any = job.spec
        self._search = search(settings, min(spec.size))
        self._begin(next(self._search))

    @property
    def table(self) -> list[Result]:
        """The results so far, in the order in which the settings were proposed."""
        batch = sorted(self._batch.results.items())
        return self._results + [result for _, result in batch if isinstance(result, Result)]

    @property
    def version(self) -> tuple[int, int]:
        """Differs where there is something new to show."""
        return len(self._results), self._batch.version

    @property
    def over(self) -> bool:
        """Whether the search has ended."""
        return self.best is not None or bool(self.error)

    def refresh(self) -> None:
        """Take the new results, and begin the next batch once one is complete."""
        if self.over:
            return
        for *_, result in self._batch.refresh():
            if isinstance(result, Failure):
                self.error = self.error or result.sentence
                self._batch.cancel()
        if self._batch.alive or self.error:
            return
        if self._batch.done < self._batch.total:
            self.error = self._batch.error or "Cancelled while it was tuned."
            return
        batch = [self._batch.results[k] for k in range(self._batch.total)]
        try:
            candidates = self._search.send(batch)
        except StopIteration as over:
            self.best = over.value
        else:
            self._results += batch
            self._begin(candidates)

    def cancel(self) -> None:
        """End it."""
        self._batch.cancel()

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

    def _begin(self, candidates: list[Candidate]) -> None:
        trials = [CandidateTrial(self._spec, self.settings, candidate) for candidate in candidates]
        self._batch = Collection(self._engine.map(run_candidate, trials))


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
