"""Streams of results: a part of the items at a time, numbered, cancelled, ended with the engine."""

import math
from functools import partial

import pytest

from lrlab.engine.messages import BatchDone, Failed, Inbox
from lrlab.engine.results import LocalResults, WorkerResults, collect


@pytest.mark.slow
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
