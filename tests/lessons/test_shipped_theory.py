"""The theory that is shipped of defaults and lessons: all of it is there, and some of it computed again agrees."""

import pytest

from benchmarks import shipped_theory
from lrlab.protocol import Spec
from lrlab.runs import theory


def test_all_that_is_to_be_shipped_is():
    assert sorted(theory.shipped()) == sorted(map(theory.key_of, shipped_theory.items()))


@pytest.mark.slow
def test_what_is_shipped_is_what_is_computed_now():
    items = [item for item in shipped_theory.items() if not isinstance(item, Spec)]
    quick = [item for item in items if item.entry.sample_seconds(item.spec, dict(item.options)) < 2.5e-3]
    assert len(quick) > 10
    for item in quick[::4]:
        assert theory.shipped()[theory.key_of(item)] == pytest.approx(theory.exact(item), rel=1e-4), item


def test_a_default_has_its_bound_at_once():
    spec = theory.without_seed(next(iter(shipped_theory.jobs())).spec)
    numbers = theory.cached(spec)
    assert numbers["best_error_low"] < numbers["best_error"] < numbers["best_error_high"]
    assert 0.02 < numbers["best_error"] < 0.04
