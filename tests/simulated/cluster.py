"""A thousand workers on one core: workers, network, scheduler and clock are simulated, and nothing else is.

How long pieces are, when they are sent, how results are collected and stored is the package's own code
(`engine.dispatch`, `engine.work`, `engine.worker_stream`, `sweeps.run`, `store`), in one thread. The scheduler takes
messages one after the other, each in its time. So does this process: engine and store share the interpreter, and with
it a core.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

from lrlab.engine.dispatch import Dispatcher
from lrlab.engine.inbox import Inbox
from lrlab.engine.messages import ChunkDone, Message, Started
from lrlab.engine.orders import AddWork, CancelWork, Order, SchedulerAnswered, TaskDone, TaskMessage
from lrlab.engine.stream import CHUNK_SECONDS
from lrlab.engine.work import MapWork
from lrlab.engine.worker import ComputeChunk
from lrlab.engine.worker_stream import WorkerStream
from lrlab.runs.trial import Trial, TrialResult
from tests.simulated.scheduler import Scheduler
from tests.simulated.store import made_up

NETWORK_SECONDS = 1e-3
ORDER_SECONDS, SEND_SECONDS, ITEM_SECONDS = 0.2e-3, 1.0e-3, 0.05e-3
"""What the engine takes for an order, for a task that it sends, and for each item of it."""
CANCEL_SECONDS = 5e-3
"""How long it takes to let one worker of many know that its task is to end."""
SWITCH_SECONDS = 5e-3
"""After how long a thread that works hands over the interpreter."""
HEARTBEAT_SECONDS = 6.0
"""Between two of a worker, where there are a thousand."""
POLL_SECONDS = 0.1


class Counts(NamedTuple):
    """What a simulated sweep came to.

    seconds: from start to end. ideal: of all computation, shared by the workers. messages, busiest: at the scheduler a
    second, on average and at most. busy: share of the scheduler's time. queue: messages that waited there at most.
    tasks: how many. commits: trials of each of the store's.
    """

    seconds: float
    ideal: float
    messages: float
    busiest: int
    busy: float
    queue: int
    tasks: int
    commits: list[int]

    @property
    def efficiency(self) -> float:
        """Ideal time as a share of the time that it took."""
        return self.ideal / self.seconds


class SimulatedCluster:
    """Scheduler and workers as the dispatcher sees them, and the loop in which all of it happens.

    now: the time of this process, which is busy at times; others have their own.
    """

    spare, resends, out_of_memory, no_workers = 0, True, "", ""

    def __init__(self, workers: int, duration: Callable[[Trial], float], slowness: float = 1.0) -> None:
        """Let so many workers be there.

        duration: returns the seconds that a trial takes. slowness: how many times as long as usual the scheduler needs.
        """
        self.now, self.computed_seconds = 0.0, 0.0
        self.tasks = self.cancels = self.kills = 0
        self._running = set[str]()
        self._duration, self._number, self._works = duration, count(), False
        self._events = list[tuple[float, int, Callable[[float], None]]]()
        self.scheduler = Scheduler(self._at, slowness)
        self._idle, self._queue = deque(f"worker-{k}" for k in range(workers)), deque[tuple[str, ComputeChunk]]()
        self.workers = workers
        self._dispatcher = Dispatcher(self, lambda: self.now)
        self._poll(0.0)
        for k in range(workers):
            self._at(HEARTBEAT_SECONDS * k / workers, self._heartbeat)

    def threads(self) -> dict[str, int]:
        """Return the numbers of threads of all workers."""
        return dict.fromkeys(self._idle, 1)

    def start(self, function: Callable[[Any], Any], items: Iterable[Any]) -> WorkerStream:
        """Compute function(item) for all items, as `Engine.map` does: a `stream.StartStream`."""
        inbox = SimulatedInbox(self)
        work = MapWork(function, CHUNK_SECONDS, float("inf"), inbox)
        add, cancel = lambda part: self._post(AddWork(work, part)), lambda: self._post(CancelWork(work))
        return WorkerStream(items, inbox, add, cancel, lambda: work.demand)

    def wait(self, seconds: float, condition: Callable[[], bool]) -> None:
        """Let things happen until the condition holds, so many seconds at most."""
        end = self.now + seconds
        while not condition():
            if self._events[0][0] > end:
                self.now = max(self.now, end)
                break
            time, _, then = heapq.heappop(self._events)
            then(time)

    def work(self, seconds: float) -> None:
        """Let this process be busy for so long, beside the engine, which goes first."""
        end, self._works = self.now + seconds, True
        while self._events[0][0] <= end:
            time, _, then = heapq.heappop(self._events)
            before = self.now = max(self.now, time)
            then(time)
            if self.now > before:
                end += self.now - before
        self.now, self._works = end, False

    def send(self, task: str, assignment: ComputeChunk, urgent: bool) -> None:
        """Let a task reach the scheduler."""
        self.tasks += 1
        self.now += SEND_SECONDS + ITEM_SECONDS * len(assignment.items)
        self._tell(self.now, "task", lambda now: self._queue.append((task, assignment)) or self._hand_out(now))

    def measure_lag(self) -> None:
        """Have SchedulerAnswered reported."""
        sent_at = self.now
        self._tell(sent_at, "question", lambda now: self._answer(now, sent_at))

    def cancel(self, tasks: Mapping[str, Sequence[str]]) -> None:
        """Have tasks end, one worker after the other hearing of it."""
        self.cancels += bool(tasks)
        for place, (worker, names) in enumerate(tasks.items()):
            for name in names:
                end = self.now + CANCEL_SECONDS * (1 + place)
                self._at(end, lambda now, worker=worker, name=name: self._end(now, worker, name, ChunkDone([], 0.0)))

    def kill(self, worker: str) -> None:
        """Count what is killed, and let it be."""
        self.kills += 1

    def locate(self, task: str) -> None:
        """Say nothing, as of tasks on an existing cluster."""

    def drop(self, future: None) -> None:
        """Let it be."""

    def _at(self, time: float, then: Callable[[float], None]) -> None:
        heapq.heappush(self._events, (time, next(self._number), then))

    def _tell(self, time: float, kind: str, then: Callable[[float], None]) -> None:
        self._at(time + NETWORK_SECONDS, lambda now: self.scheduler.receive(now, kind, then))

    def _post(self, order: Order, time: float = 0.0) -> None:
        self._at(max(time, self.now), lambda now: self._arrive(now, order))

    def _arrive(self, time: float, order: Order) -> None:
        # The engine's thread waits for the one that works to hand over the interpreter.
        if self._works:
            self._at(time + SWITCH_SECONDS, lambda now: self._carry_out(now, order))
        else:
            self._carry_out(time, order)

    def _carry_out(self, time: float, order: Order) -> None:
        self.now = max(self.now, time) + ORDER_SECONDS
        self._dispatcher.handle(order)
        self._dispatcher.step()

    def _poll(self, time: float) -> None:
        self.now = max(self.now, time)
        self._dispatcher.step()
        self._at(self.now + POLL_SECONDS, self._poll)

    def _heartbeat(self, time: float) -> None:
        self._tell(time, "heartbeat", lambda now: None)
        self._at(time + HEARTBEAT_SECONDS, self._heartbeat)

    def _answer(self, time: float, sent_at: float) -> None:
        answered = time + NETWORK_SECONDS
        self._post(SchedulerAnswered(answered - sent_at), answered)

    def _report(self, time: float, task: str, message: Message) -> None:
        self._tell(time, "event", lambda now: self._post(TaskMessage(task, message), now + NETWORK_SECONDS))

    def _hand_out(self, time: float) -> None:
        while self._idle and self._queue:
            worker, (task, assignment) = self._idle.popleft(), self._queue.popleft()
            self._compute(time + NETWORK_SECONDS, worker, task, assignment)

    def _compute(self, begun: float, worker: str, task: str, chunk: ComputeChunk) -> None:
        """Compute what a worker would within the time of a chunk, and report it."""
        self._running.add(task)
        self._report(begun, task, Started(worker))
        results, elapsed = list[tuple[int, TrialResult]](), 0.0
        for number, trial in zip(chunk.numbers, chunk.items, strict=True):
            if results and elapsed > chunk.seconds:
                break
            seconds = self._duration(trial)
            elapsed += seconds
            results.append((number, made_up(trial, seconds)))
        self.computed_seconds += elapsed
        self._at(begun + elapsed, lambda now: self._end(now, worker, task, ChunkDone(results, elapsed)))

    def _end(self, time: float, worker: str, task: str, done: ChunkDone) -> None:
        if task in self._running:
            self._running.discard(task)
            self._report(time, task, done)
            self._tell(time, "end", lambda now: self._ended(now, worker, task))

    def _ended(self, time: float, worker: str, task: str) -> None:
        self._idle.append(worker)
        self._hand_out(time)
        self._post(TaskDone(task, None), time + NETWORK_SECONDS)

    def counts(self, commits: list[int]) -> Counts:
        """Return what has happened until now; commits: trials of each of the store's."""
        messages, ideal = self.scheduler.messages, self.computed_seconds / self.workers
        rate, busy = messages.total() / self.now, self.scheduler.busy / self.now
        busiest, queue = max(messages.values()), self.scheduler.longest_queue
        return Counts(self.now, ideal, rate, busiest, busy, queue, self.tasks, commits)


class SimulatedInbox(Inbox):
    """An inbox that lets the simulation go on while it waits."""

    def __init__(self, cluster: SimulatedCluster) -> None:
        super().__init__()
        self._cluster, self._taken = cluster, 0

    def now(self) -> float:
        """Return the simulated time."""
        return self._cluster.now

    def sleep(self, seconds: float) -> None:
        """Let so many seconds pass."""
        self._cluster.wait(seconds, lambda: False)

    def wait(self, seconds: float) -> None:
        """Let things happen until there is a message."""
        self._cluster.wait(seconds, lambda: self.received > self._taken)

    def take(self, most_results: float = float("inf")) -> list[tuple[int, Message]]:
        """Return and remove messages."""
        messages = super().take(most_results)
        self._taken += len(messages)
        return messages
