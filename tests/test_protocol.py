"""The driver: who owns loop, clock and stopping."""

import itertools

import numpy as np
import pytest

from lrlab.parameters import InputError
from lrlab.protocol import Interrupted, Iterate, Stop, child
from lrlab.runs.run import drive


def iterates(*states, after=None, ending=None):
    for objective, residual in states:
        yield Iterate(np.array([objective or 0.0]), objective=objective, residual=residual)
    if after:
        raise after
    return ending


def endless(objective=1.0, residual=1.0):
    return (Iterate(np.ones(2), objective=objective, residual=residual) for _ in itertools.count())


@pytest.mark.parametrize(
    ("source", "settings", "stop", "count"),
    [
        (iterates((3.0, 1.0), (2.0, 1e-9), (1.0, 1e-9)), {}, Stop.CONVERGED, 2),
        (iterates((3.0, 1.0)), {}, Stop.FINISHED, 1),
        (iterates((3.0, 1.0), ending=Stop.STALLED), {}, Stop.STALLED, 1),
        (iterates((3.0, 1.0), ending=Stop.CONVERGED), {}, Stop.CONVERGED, 1),
        (endless(), {"max_iter": 7}, Stop.MAX_ITER, 7),
        (endless(), {"max_seconds": 0.0}, Stop.TIMEOUT, 1),
        (endless(), {"cancelled": lambda: True}, Stop.CANCELLED, 1),
        (iterates((1.0, 1.0), (1e9, 1.0), (1e12, 1.0)), {}, Stop.DIVERGED, 2),
        (iterates((1.0, 1.0), (np.nan, 1.0)), {}, Stop.NONFINITE, 1),
        (iterates((1.0, None), after=Interrupted(Stop.TIMEOUT)), {}, Stop.TIMEOUT, 1),
    ],
)
def test_every_way_to_end(source, settings, stop, count):
    watched = []
    assert drive(source, lambda *row: watched.append(row), **settings) is stop
    assert [row[0] for row in watched] == list(range(1, count + 1))


def test_time_spent_watching_is_not_solver_time():
    seconds, now = [], [0.0]

    def solver():
        while True:
            now[0] += 1.0
            yield Iterate(np.ones(2))

    def watch(iteration, spent, iterate):
        now[0] += 100.0
        seconds.append(spent)

    drive(solver(), watch, max_iter=4, clock=lambda: now[0])
    assert seconds == [1.0, 2.0, 3.0, 4.0]


def test_block_streams_differ_and_repeat():
    stream = np.random.SeedSequence(3).spawn(2)[1]
    first, again, other = (child(stream, k).standard_normal(4) for k in (0, 0, 1))
    assert (first == again).all() and (first != other).all()


def test_what_is_no_iterate_ends_in_a_sentence_that_names_the_file():
    def arrays():
        yield np.zeros(3)

    sentence = r"what arrays \(test_protocol.py\) yields must be an Iterate, got ndarray: yield Iterate\(estimate\)"
    with pytest.raises(InputError, match=sentence):
        drive(arrays(), lambda *of: None)
