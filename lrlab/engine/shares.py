"""Shares runs of identical jobs: thirty people who press Run on the same job follow one computation.

Whoever comes later is sent what has been computed so far, and then the same messages as all others. A run that has
ended by itself is given out for a minute more, where it is small; the run ends when nobody follows it any more.
"""

import json
import logging
import threading
import time
from collections.abc import Callable

from lrlab.engine.handles import Inbox, LiveRun
from lrlab.engine.messages import Failed, Finished, Message, NewIterates, Started
from lrlab.protocol import Stop, parts
from lrlab.runs.job import Job

LOG = logging.getLogger("lrlab.jobs")
"""One line of JSON a job, at its end."""
KEEP_SECONDS = 60.0
KEEP_BYTES = 2**20
MOST_RUNS = 64
"""How long, of what size, and how many runs that have ended are given out again."""
BY_CHANCE = (Stop.TIMEOUT, Stop.CANCELLED)
"""Ends that another run of the same job need not come to."""


class SharedRun(Inbox):
    """A run and those who follow it, as an inbox for the engine's thread."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self.live, self.began_at, self.ended_at = LiveRun(job), time.monotonic(), 0.0
        self._followers: list[tuple[Inbox, int]] = []
        self._lock = threading.Lock()

    @property
    def fresh(self) -> bool:
        """Whether who asks for the job now may follow this run."""
        if not self.live.over:
            return True
        small = sum(part.nbytes for _, estimate in self.live.trace.history for part in parts(estimate)) <= KEEP_BYTES
        by_itself = self.live.state == "done" and self.live.trace.stop not in BY_CHANCE
        return by_itself and small and time.monotonic() < self.ended_at + KEEP_SECONDS

    def put(self, message: Message, number: int = 0) -> None:
        """Pass a message on to all followers."""
        with self._lock:
            self.live.apply(message)
            self.ended_at = time.monotonic()
            for inbox, place in self._followers:
                inbox.put(message, place)
            if self.live.over:
                self._log(len(self._followers))
                self._followers = []

    def _log(self, followers: int) -> None:
        job, trace = self.live.job, self.live.trace
        entry = {
            "model": job.spec.model, "seed": job.spec.seed, "solver": job.solver, "followers": followers,
            "end": trace.stop.name if trace.stop else "FAILED", "error": self.live.error,
            "iterations": len(trace.rows), "seconds": round(time.monotonic() - self.began_at, 3),
        }  # fmt: skip
        LOG.info(json.dumps(entry))

    def join(self, inbox: Inbox, place: int) -> None:
        """Send what there is so far, and from now on everything."""
        with self._lock:
            live, trace = self.live, self.live.trace
            if live.state != "waiting":
                inbox.put(Started(""), place)
                so_far = NewIterates(
                    list(trace.rows), list(trace.history), trace.stride, trace.estimate, trace.note, live.progress,
                    trace.intervals,
                )  # fmt: skip
                inbox.put(so_far, place)
            if live.state == "failed":
                inbox.put(Failed(live.error), place)
            elif trace.stop is not None:
                inbox.put(Finished(trace.stop), place)
            else:
                self._followers.append((inbox, place))

    def leave(self, inbox: Inbox) -> bool:
        """Send nothing more to a follower, and return whether it was the last one of a run under way."""
        with self._lock:
            others = [follower for follower in self._followers if follower[0] is not inbox]
            if not others:
                # Its followers hear of the end when it has come, with what was computed until then.
                return not self.live.over
            for follower, place in self._followers:
                if follower is inbox:
                    inbox.put(Finished(Stop.CANCELLED), place)
            self._followers = others
            return False


class Shares:
    """The runs of an engine by their jobs."""

    def __init__(self) -> None:
        self._runs: dict[Job, SharedRun] = {}
        self._lock = threading.Lock()

    def join(self, job: Job, inbox: Inbox, place: int, begin: Callable[[SharedRun], None]) -> SharedRun:
        """Let an inbox follow the run of a job: one that is there, or a new one, which `begin` starts."""
        with self._lock:
            for ended in [known for known, run in self._runs.items() if run.live.over and not run.fresh]:
                del self._runs[ended]
            while len(self._runs) > MOST_RUNS and (over := [k for k, run in self._runs.items() if run.live.over]):
                del self._runs[over[0]]
            try:
                run = self._runs.get(job)
            except TypeError:
                # A job on a person's own rows is not hashable, and nobody else has them.
                run = SharedRun(job)
                begin(run)
            else:
                if run is None:
                    run = self._runs[job] = SharedRun(job)
                    begin(run)
            run.join(inbox, place)
            return run

    def leave(self, run: SharedRun, inbox: Inbox) -> bool:
        """End the following of a run, and return whether the run itself is to end."""
        with self._lock:
            last = run.leave(inbox)
            if last:
                self._runs = {job: known for job, known in self._runs.items() if known is not run}
            return last
