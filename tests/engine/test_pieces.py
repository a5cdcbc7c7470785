"""Pieces of work: their lengths, how many items wait for workers, and batches of results."""

import math

from lrlab.engine.inbox import Inbox
from lrlab.engine.messages import ChunkDone
from lrlab.engine.work import MOST_ITEMS, MapWork
from lrlab.engine.worker_stream import LONGEST_PAUSE_SECONDS, MOST_RESULTS, WorkerStream


def paced(items: int, seconds: float, chunks: int) -> MapWork:
    """Return work that has found out how long its items take, by so many chunks."""
    work = MapWork(abs, 0.2, math.inf, Inbox())
    work.add([(number, number) for number in range(items)])
    for _ in range(chunks):
        chunk = work.next(1)
        work.receive(chunk, ChunkDone([(number, 0) for number in chunk.numbers], seconds * len(chunk.numbers)))
    return work


def test_a_worker_of_many_is_sent_more_and_at_the_end_less():
    work = paced(100_000, 0.5, chunks=3)
    assert len(work.next(1000).numbers) == 20 and len(work.next(4).numbers) == 1
    assert work.demand == 21 + 4 * (2 + 4), "two pieces, and two seconds, for each worker"
    assert len(paced(100_000, 0.02, chunks=9).next(16).numbers) == 10
    ending = paced(6003, 0.5, chunks=3)
    chunk = ending.next(1000)
    assert len(chunk.numbers) == 4 and chunk.seconds == 4.0, "what takes twice as long is handed back"
    assert len(paced(100_000, 1e-6, chunks=6).next(1).numbers) == MOST_ITEMS


class TimedInbox(Inbox):
    """An inbox with a clock of its own."""

    time = 0.0

    def now(self) -> float:
        """Return the time."""
        return self.time

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.time += seconds

    wait = sleep


def test_who_needs_long_to_use_results_gets_more_of_them_at_a_time():
    inbox = TimedInbox()
    stream = WorkerStream(range(2000), inbox, lambda part: None, lambda: None, int)

    def arrive(number: int) -> None:
        inbox.put(ChunkDone([(number, 0)], 0.0))

    arrive(0)
    assert len(stream.take(0.05)) == 1
    inbox.time += 0.01
    arrive(1)
    assert stream.take(0.05) == [], "nine times as long as the last results took"
    arrive(2)
    assert len(stream.take(0.05)) == 2
    inbox.time += 600.0
    began = inbox.time
    arrive(3)
    while not stream.take(0.05):
        pass
    assert inbox.time - began <= LONGEST_PAUSE_SECONDS + 0.1
    inbox.time += 600.0
    began = inbox.time
    for number in range(4, 4 + MOST_RESULTS):
        arrive(number)
    assert len(stream.take(0.05)) == MOST_RESULTS and inbox.time == began, "so many are handed on at once"
    arrive(1999)
    assert len(stream.take(0.0)) == 1 and len(stream.take(0.0)) == 0, "who does not wait is handed what there is"


def test_the_engine_is_given_as_many_items_as_its_workers_need():
    parts, wanted = [], [0]
    inbox = Inbox()

    def add(part):
        parts.append(len(part))
        inbox.put(ChunkDone(part[:3000], 0.0))

    stream = WorkerStream(iter(range(10**6)), inbox, add, lambda: None, lambda: wanted[0])
    wanted[0] = 50_000
    stream.take()
    assert parts == [64, 50_000]
    wanted[0] = 10**9
    stream.take()
    assert sum(parts) - 3064 == 100_000
