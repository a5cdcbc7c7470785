"""Running a sweep against a store: what is there is taken, what is missing is computed and kept as it arrives."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lrlab.engine import remote
from lrlab.engine.engine import get_engine
from lrlab.engine.streams import News, Start, Stream, on_engine
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import Job
from lrlab.runs.trial import Progress, Trial, TrialResult, run_trial, silent
from lrlab.store.outcome import Kept
from lrlab.store.store import Store
from lrlab.sweeps import adaptive
from lrlab.sweeps.cells import Asked, Item, jobs
from lrlab.sweeps.definition import Sweep

Watch = Callable[[Mapping[Item, TrialResult]], None]
"""Gets finished trials: what the store has, a cell at a time, before others are begun; every batch once it is kept."""


class Report(NamedTuple):
    """What a run of a sweep did.

    run: trials computed. reused: those that the store had already. failures: the sentences of those that failed.
    """

    run: int
    reused: int
    failures: dict[Item, str]


ON_ENGINE = on_engine(get_engine)


def unwatched(finished: Mapping[Item, TrialResult]) -> None:
    """Look at nothing."""


def never() -> bool:
    """Go on."""
    return False


def resume(
    sweep: Sweep,
    store: Store,
    start: Start = ON_ENGINE,
    progress: Progress = silent,
    watch: Watch = unwatched,
    stop: Callable[[], bool] = never,
) -> Report:
    """Compute what the store does not have of a sweep, keeping every batch as it arrives, whatever ends it.

    It ends early, within a second, once `stop()` is true (asked often, so it may look at a flag of another thread);
    called again, it goes on. All else happens in the calling thread, `watch` and `progress` too. A trial that fails is
    not kept: the next run tries it again. RuntimeError when the engine or the store cannot go on.
    """
    rounds = adaptive.rounds(sweep, store) if sweep.adaptive else [dict.fromkeys(jobs(sweep), range(sweep.trials))]
    intake = Intake(sweep, store, watch)
    for asked in rounds:
        of_all = sum(map(len, asked.values()))
        there = sum(found(job, numbers, store, watch) for job, numbers in asked.items())
        intake.reused += there
        total = sweep.most if sweep.adaptive else of_all
        progress(intake.done, total)
        if there == of_all:
            continue
        if not stop():
            work(
                start(run_trial, missing(asked, store)), intake, lambda total=total: progress(intake.done, total), stop
            )
        if stop():
            break
    return Report(intake.run, intake.reused, intake.failures)


def work(stream: Stream, intake: "Intake", tell: Callable[[], None], stop: Callable[[], bool]) -> None:
    """Take in what a stream computes, until it ends or is to stop."""
    try:
        while stream.alive and not stop():
            if news := stream.take():
                intake.take(news)
                tell()
    finally:
        # Ctrl-C may come between any two lines: what had been taken is kept again, which changes nothing.
        intake.take(stream.cancel())


def found(job: Job, numbers: range, store: Store, watch: Watch = unwatched) -> int:
    """Return how many of some trials of a cell a store has; who watches is shown them."""
    if watch is unwatched:
        return len(store.trials(job, numbers.stop) & set(numbers))
    outcomes = store.outcomes(job, numbers.stop)
    seen = {(job, number): outcome for number, outcome in outcomes.items() if number in numbers}
    if seen:
        watch(seen)
    return len(seen)


def missing(asked: Asked, store: Store) -> Iterator[Item]:
    """Yield the trials that a store does not have, looked up as they are needed.

    The first trial of every cell comes before any second one, then two more of each, four more, and so on: a sweep that
    is cut short has measured the whole grid.
    """
    first, end = 0, 1
    while any(numbers[first:] for numbers in asked.values()):
        for job, numbers in asked.items():
            if part := numbers[first:end]:
                there = store.trials(job, part.stop)
                yield from (Trial(job, number) for number in part if number not in there)
        first, end = end, 2 * end


class Intake:
    """Results on their way into a store."""

    def __init__(self, sweep: Sweep, store: Store, watch: Watch) -> None:
        """Nothing has come yet."""
        self._sweep, self._store, self._watch = sweep, store, watch
        self._pending: list[Kept] = []
        self.run = self.reused = 0
        self.failures: dict[Item, str] = {}

    @property
    def done(self) -> int:
        """Number of trials found, computed, or given up."""
        return self.reused + self.run + len(self.failures)

    def take(self, news: News) -> None:
        """Keep what is new, in one transaction with what an interruption has left."""
        for _, (job, number), result in news:
            if isinstance(result, remote.Failure):
                self.failures[job, number] = result.sentence
            elif result.stop != Stop.CANCELLED.name:
                self._pending.append(Kept(job, number, result))
        if self._pending:
            self._store.add(self._pending)
            self.run += len(self._pending)
            kept, self._pending = self._pending, []
            require_metric(self._sweep, kept[0].outcome.scores)
            self._watch({(job, number): outcome for job, number, outcome in kept})


def require_metric(sweep: Sweep, scores: dict[str, float]) -> None:
    """Raise InputError when trials have scores, but not the one that success is measured by."""
    if sweep.success and scores and sweep.success.metric not in scores:
        metrics = ", ".join(scores)
        raise InputError("metric", f"one that these trials have ({metrics})", sweep.success.metric, "name one of them")
