"""Streams of results: a part of the items at a time, numbered, cancelled, ended with the engine."""

import math
from functools import partial

import pytest

from lrlab.engine.messages import BatchDone, Failed, Inbox
from lrlab.engine.results import LONGEST_PAUSE_SECONDS, LocalResults, WorkerResults, collect


def prompt_stream(items, parts):
    """Return a stream of workers that return each item as soon as they get it, and count their parts."""
    inbox = Inbox()

    def add(part):
        parts.append(len(part))
        inbox.put(BatchDone(part, 0.0))

    return WorkerResults(items, inbox, add, lambda: None, lambda: 0)


def test_a_collection_is_handed_over_whole():
    parts = []
    stream = prompt_stream(range(10**5), parts)
    assert stream.total == 10**5 and parts == [10**5]
    assert collect(stream) == list(range(10**5)) and not stream.alive


def test_an_engine_that_has_ended_raises_its_sentence_after_the_last_results():
    def ended():
        inbox = Inbox()
        stream = WorkerResults([5, 6], inbox, lambda part: inbox.put(BatchDone([(1, 6)], 0.0)), lambda: None, int)
        inbox.put(Failed("The engine has ended."))
        return stream

    stream = ended()
    assert stream.take() == [(1, 6, 6)] and stream.alive
    with pytest.raises(RuntimeError, match="The engine has ended"):
        stream.take(0.0)
    assert not stream.alive and stream.take() == []
    with pytest.raises(RuntimeError, match="The engine has ended"):
        collect(ended())
    results = ended()
    results.refresh()
    results.refresh()
    assert (results.values, results.error, results.alive) == ({1: 6}, "The engine has ended.", False)


@pytest.mark.parametrize("items", [[[1], [1], [4]], iter([[1], [1], [4]])])
def test_results_here_have_the_number_of_items_that_repeat_and_have_no_hash(items):
    stream = LocalResults(lambda item: item[0] / (item[0] - 4), items, batch_seconds=0.0)
    results = []
    while stream.alive:
        results += stream.take()
    assert [(number, item) for number, item, _ in results] == [(0, [1]), (1, [1]), (2, [4])]
    assert results[0].value == -1 / 3 and "ZeroDivisionError" in results[2].value.sentence
    assert (stream.total, stream.done, stream.seconds_left) == (3, 3, 0.0)


@pytest.mark.parametrize("where", ["engine", "here"])
def test_a_cancelled_stream_returns_what_was_not_taken_and_nothing_more(where, engine):
    start = engine.map if where == "engine" else partial(LocalResults, batch_seconds=0.0)
    stream = start(math.sqrt, (k for k in range(10**6)))
    while not (taken := stream.take()):
        pass
    rest = stream.cancel()
    assert stream.values == {number: value for number, _, value in rest}
    numbers = [number for number, *_ in taken + rest]
    assert len(set(numbers)) == len(numbers) == stream.done
    assert not stream.alive and stream.take() == [] == stream.cancel() and stream.seconds_left == 0.0
    with pytest.raises(RuntimeError, match="Cancelled"):
        collect(stream)


def test_the_engine_is_given_as_many_items_as_its_workers_need():
    parts, wanted = [], [0]
    inbox = Inbox()

    def add(part):
        parts.append(len(part))
        inbox.put(BatchDone(part[:3000], 0.0))

    results = WorkerResults(iter(range(10**6)), inbox, add, lambda: None, lambda: wanted[0])
    wanted[0] = 50_000
    results.take()
    assert parts == [64, 50_000]
    wanted[0] = 10**9
    results.take()
    assert sum(parts) - 3064 == 100_000


def test_a_slow_reader_gets_more_results_at_a_time(monkeypatch):
    pauses, inbox = [], Inbox()
    results = WorkerResults(range(4), inbox, lambda part: None, lambda: None, int)
    inbox.put(BatchDone([(0, 0)], 0.0))
    results.take(0.05)
    results._handed_on_at -= 600.0
    monkeypatch.setattr("time.sleep", pauses.append)
    inbox.put(BatchDone([(1, 0), (2, 0)], 0.0))
    assert len(results.take(1.0)) == 2 and pauses == [LONGEST_PAUSE_SECONDS]
