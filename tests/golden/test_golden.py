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
