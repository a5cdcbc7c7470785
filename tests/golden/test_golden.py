"""A tenth of the golden numbers (LRLAB_TEST_SEED) agrees with the record; a changed constant is noticed."""

import os

import pytest

from tests import thorough  # noqa: F401  (sets the seed)
from tests.golden import record


@pytest.mark.slow
def test_a_sample_of_the_numbers_agrees_with_the_record():
    report = record.compare(record.sample(int(os.environ["LRLAB_TEST_SEED"])), here=True)
    assert not report, "\n".join([*report, "meant? make golden WRITE='NAME...'"])


@pytest.mark.slow
def test_a_changed_constant_is_a_difference(monkeypatch):
    name = "single-index/link-free-refinement/one-bit-sensing/hard"
    assert not [line for line in record.compare([name], here=True) if line.startswith(name)]
    monkeypatch.setattr("lrlab.linalg.DAMPING", 1e-3)
    assert [line for line in record.compare([name], here=True) if line.startswith(name)]


@pytest.mark.parametrize(
    ("recorded", "today", "number"),
    [
        ([1.0, 1e-9], [1.0, 1.00005e-9], 0),
        ([1.0, 1e-3], [1.0, 1.00001e-3], 1),
        ({"stop": "CONVERGED"}, {"stop": "STALLED"}, 1),
        ({"a": 1.0}, {}, 1),
        ([1.0], [1.0, 2.0], 1),
        (None, 1.0, 1),
    ],
)
def test_numbers_differ_by_more_than_rounding(recorded, today, number):
    assert len(list(record.differences(recorded, today, record.TOLERANCE))) == number
