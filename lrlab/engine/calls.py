"""What callers ask of an engine, what of it is under way, and who is next.

Dask does not know who waits. A task with priority 100 behind eight tasks of 3 s begins after 2.7 s, because the
scheduler has already assigned those tasks. The engine therefore submits no more tasks than there are workers, and
decides here who is next.
"""

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from lrlab.engine.live import BatchDone, Failed, Finished, Inbox, Message, Send
from lrlab.engine.results import Failure
from lrlab.engine.worker import BUSY, OVERTIME_SECONDS, compute_batch, follow_job
from lrlab.protocol import Stop
from lrlab.runs.job import GIB, Job

GROWTH, MOST_ITEMS = 8, 10_000
"""Growth factor of batches, and their largest number of items."""
SHORT_SECONDS = 5.0
"""Seconds that further callers wait for short runs, if more callers follow runs than there are cores."""


class Call:
    """What one call asks for: followed jobs (no function), or a function of many items.

    urgent: whether it follows jobs. running: number of tasks under way. sent_at: when the last one was sent. size: of
    the next batch, in items. computed: seconds of all batches so far.
    """

    def __init__(
        self,
        items: Sequence[Any],
        function: Callable[[Any], Any] | None,
        batch_seconds: float = 0.0,
        item_seconds: float = inf,
        threads: int = 1,
    ) -> None:
        self.inbox, self.urgent, self.batch_seconds = Inbox(), function is None, batch_seconds
        self.running, self.sent_at, self.size, self.computed, self.ahead = 0, 0.0, 1, 0.0, 0
        self.items: dict[int, Any] = dict(enumerate(items))
        """Items without a result, by number."""
        self._function, self._item_seconds, self._threads = function, item_seconds, threads
        self._queue, self._alone, self._tried = deque(self.items), deque[int](), set[int]()

    @property
    def waiting(self) -> bool:
        """Whether there is something to send."""
        return bool(self._queue or self._alone)

    def next_batch(self, workers: int, longer: float) -> tuple[list[int], Callable[[Send], None]]:
        """Return the numbers of the next items, of up to `longer` times the usual duration, and the work on them."""
        # At the end fewer items, so that no worker waits long for another.
        last = max(2 * len(self._queue) // (3 * workers), self.size // 2)
        most = max(1, min(int(self.size * longer), last, len(self._queue)))
        source, size = (self._alone, 1) if self._alone else (self._queue, 1 if self.urgent else most)
        numbers = [source.popleft() for _ in range(size)]
        items = [self.items[number] for number in numbers]
        if self._function is None:
            return numbers, partial(follow_job, items[0], self._threads)
        return numbers, partial(compute_batch, self._function, numbers, items, 2.0 * longer * self.batch_seconds)

    def limit(self, numbers: Iterable[int]) -> float:
        """Return the time limit of a batch of these items, in seconds; then the engine ends it by force."""
        if self.urgent:
            return max(float(self.items[number].limits.max_seconds) for number in numbers)
        # The worker itself ends an item that is late, unless a call there holds the interpreter.
        longest = max(getattr(self.items[number], "max_seconds", inf) for number in numbers)
        return min(2.0 * BUSY * longest + 2.0 * OVERTIME_SECONDS, self._item_seconds)

    def put(self, number: int, message: Message) -> None:
        """Pass on a message about a followed job, or the results of items; results of given-up items are dropped."""
        if isinstance(message, BatchDone):
            known = [(number, value) for number, value in message.results if self.items.pop(number, self) is not self]
            if known:
                self.inbox.put(BatchDone(known, message.seconds))
        elif number in self.items:
            self.inbox.put(message, number)
            if isinstance(message, Finished | Failed):
                log_end(self.items.pop(number), message)

    def pace(self, done: BatchDone) -> None:
        """Set the size of the next batch by the pace of the last one."""
        self.computed += done.seconds
        pace = max(done.seconds, 1e-4) / max(len(done.results), 1)
        self.size = max(1, min(GROWTH * self.size, int(self.batch_seconds / pace), MOST_ITEMS))

    def put_back(self, numbers: Sequence[int]) -> None:
        """Put items without a result, which a worker has handed back, at the front of the queue."""
        self._queue.extendleft(number for number in reversed(numbers) if number in self.items)

    def lose(self, numbers: Sequence[int], sentence: str, retry: bool = False) -> None:
        """Try each item once more in its own batch, so that only the faulty one fails; or give up with the sentence."""
        for number in numbers:
            if number in self.items and (len(numbers) > 1 or (retry and number not in self._tried)):
                self._tried.add(number)
                self._alone.append(number)
            else:
                self.put(number, Failed(sentence) if self.urgent else BatchDone([(number, Failure(sentence))], 0.0))

    def give_up(self, numbers: Iterable[int], sentence: str = "") -> None:
        """Give up what waits, and followed jobs by their numbers: cancelled, or failed with a sentence."""
        self._queue.clear()
        self._alone.clear()
        if not self.urgent:
            self.items.clear()
            self.inbox.put(Failed(sentence))
        for number in sorted(set(numbers) & self.items.keys()):
            self.put(number, Failed(sentence) if sentence else Finished(Stop.CANCELLED))


@dataclass
class Batch:
    """Items under way on one worker.

    seconds: limit. began: when it was sent or has started, inf while it may wait for its worker. settled: whether
    nothing more is expected of it. deadline, stop: when and why it is ended by force.
    """

    call: Call
    numbers: list[int]
    seconds: float
    began: float
    future: Any = None
    last_message_at: float = -inf
    settled: bool = False
    deadline: float = inf
    stop: Stop = Stop.TIMEOUT

    def lose(self, sentence: str, retry: bool = False) -> None:
        """Try its items again, or give them up, see `Call.lose`."""
        if not self.settled:
            self.settled = True
            self.call.lose(self.numbers, sentence, retry)


def next_call(calls: Sequence[Call], workers: int, spare: int, now: float) -> Call | None:
    """Return the call that may have one more worker now; followed jobs first, then the call with the fewest tasks.

    spare: embedded workers beyond the cores. One is only for followed jobs, the others for calls without a task, so
    that nobody waits for the long items of others. Followed jobs leave one worker to items that wait. At most one
    caller more than there are cores begins to follow runs within some seconds: each of more callers would come to a
    core so seldom that no curve grows smoothly.
    """
    waiting, cores = [call for call in calls if call.waiting], max(workers - spare, 0)
    followed = sum(call.running for call in calls if call.urgent)
    mapped = sum(call.running for call in calls if not call.urgent)
    begun = sum(call.urgent and call.running > 0 and now < call.sent_at + SHORT_SECONDS for call in calls)
    most_followed = max(workers - any(not call.urgent for call in waiting), 1)

    def may(call: Call) -> bool:
        if call.urgent:
            return followed < most_followed and (not spare or begun <= cores)
        return not spare or mapped < cores or (not call.running and mapped < workers - 1)

    if followed + mapped >= workers:
        return None

    def turn(call: Call) -> tuple[bool, int, float]:
        # A single worker alternates between the kinds.
        return not call.urgent and workers > 1, call.running, call.sent_at

    return min(filter(may, waiting), key=turn, default=None)


def out_of_memory(limit: float | None) -> str:
    """Return the sentence on a worker that outgrew its memory in bytes, if lrlab has set its limit."""
    needed, other = ("more memory than its worker has", "give the workers more")
    if limit is not None:
        needed, other = f"more than {limit / GIB:.3g} GiB of memory", "set LRLAB_MEMORY_GIB"
    return f"The job needed {needed}: lower n or p, or {other}."


def log_end(job: Job, message: Finished | Failed) -> None:
    """Log one line of JSON at the end of a followed job."""
    end, error = ("FAILED", message.sentence) if isinstance(message, Failed) else (message.stop.name, "")
    entry = {"model": job.spec.model, "seed": job.spec.seed, "solver": job.solver, "end": end, "error": error}
    logging.getLogger("lrlab.jobs").info(json.dumps(entry))


def _by_value() -> tuple[Any, Any]:
    """Return what dask calls on a worker, and on a nanny that kills its worker.

    Nested, so that they are pickled by value: to unpickle a function of this module the scheduler and the nannies would
    import the package, a second during which they do nothing else.
    """

    def lrlab_task(payload: bytes) -> None:
        from lrlab.engine.worker import perform

        perform(payload)

    def kill(dask_worker: Any) -> None:
        import os

        os.kill(dask_worker.pid, 9)

    return lrlab_task, kill


PERFORM, KILL = _by_value()
