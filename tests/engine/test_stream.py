"""Streams of results: a part of the items at a time, numbered, cancelled, ended with the engine."""

import math
from functools import partial

import pytest

from lrlab.engine.inbox import Inbox
from lrlab.engine.messages import ChunkDone, Failed
from lrlab.engine.stream import Collection, LocalStream, collect
from lrlab.engine.worker_stream import LOOK_AHEAD_MAX_ITEMS, WorkerStream


def prompt_stream(items, parts):
    """Return a stream of workers that return each item as soon as they get it, and count their parts."""
    inbox = Inbox()

    def add(part):
        parts.append(len(part))
        inbox.put(ChunkDone(part, 0.0))

    return WorkerStream(items, inbox, add, lambda: None, lambda: 0)


def test_items_that_are_generated_are_taken_a_part_at_a_time():
    taken, parts = [], []
    stream = prompt_stream((taken.append(k) or k for k in range(10**6)), parts)
    for _ in range(4):
        before = len(taken)
        while not (results := stream.take()):
            pass
        assert len(results) <= LOOK_AHEAD_MAX_ITEMS and len(taken) - before <= LOOK_AHEAD_MAX_ITEMS
    assert stream.alive and stream.total is None and stream.seconds_left is None and stream.done == sum(parts[:4])
    assert not prompt_stream(iter([]), parts).alive and len(parts) == 5


def test_a_collection_is_handed_over_whole():
    parts = []
    stream = prompt_stream(range(10**5), parts)
    assert stream.total == 10**5 and parts == [10**5]
    assert collect(stream) == list(range(10**5)) and not stream.alive


def test_an_engine_that_has_ended_raises_its_sentence_after_the_last_results():
    def ended():
        inbox = Inbox()
        stream = WorkerStream([5, 6], inbox, lambda part: inbox.put(ChunkDone([(1, 6)], 0.0)), lambda: None, int)
        inbox.put(Failed("The engine has ended."))
        return stream

    stream = ended()
    assert stream.take() == [(1, 6, 6)] and stream.alive
    with pytest.raises(RuntimeError, match="The engine has ended"):
        stream.take(0.0)
    assert not stream.alive and stream.take() == []
    with pytest.raises(RuntimeError, match="The engine has ended"):
        collect(ended())
    collection = Collection(ended())
    collection.refresh()
    collection.refresh()
    assert (collection.results, collection.error, collection.alive) == ({1: 6}, "The engine has ended.", False)


@pytest.mark.parametrize("items", [[[1], [1], [4]], iter([[1], [1], [4]])])
def test_results_here_have_the_number_of_items_that_repeat_and_have_no_hash(items):
    stream = LocalStream(lambda item: item[0] / (item[0] - 4), items, chunk_seconds=0.0)
    results = []
    while stream.alive:
        results += stream.take()
    assert [(number, item) for number, item, _ in results] == [(0, [1]), (1, [1]), (2, [4])]
    assert results[0].value == -1 / 3 and "ZeroDivisionError" in results[2].value.sentence
    assert (stream.total, stream.done, stream.seconds_left) == (3, 3, 0.0)


@pytest.mark.parametrize("where", ["engine", "here"])
def test_a_cancelled_stream_returns_what_was_not_taken_and_nothing_more(where, engine):
    start = engine.map if where == "engine" else partial(LocalStream, chunk_seconds=0.0)
    stream = start(math.sqrt, (k for k in range(10**6)))
    while not (taken := stream.take()):
        pass
    rest = stream.cancel()
    numbers = [number for number, *_ in taken + rest]
    assert len(set(numbers)) == len(numbers) == stream.done
    assert not stream.alive and stream.take() == [] == stream.cancel() and stream.seconds_left == 0.0
    with pytest.raises(RuntimeError, match="Cancelled"):
        collect(stream)


def test_items_may_be_generated_for_workers(engine):
    progress = []
    values = collect(engine.map(math.sqrt, (k for k in range(3000))), lambda *step: progress.append(step))
    assert values == [math.sqrt(k) for k in range(3000)] and progress[-1] == (3000, 3000)
