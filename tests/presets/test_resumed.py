"""Results of presets that are kept in a store as they arrive, and are not computed again."""

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab import Iterate, presets
from lrlab.engine.results import LocalResults
from lrlab.presets.definition import read
from lrlab.presets.items import Drawing
from lrlab.presets.resumed import Resumed, key
from lrlab.spectra import pairwise
from lrlab.store.store import Store
from tests.presets.test_preset_definitions import CURVES, SPECTRUM, TRACES

SMALL_SPECTRUM = SPECTRUM.replace("n = 3000", "n = 300").replace("trials = 10", "trials = 2")


def one_at_a_time(function, items):
    """Take one result with each look."""
    return LocalResults(function, items, batch_seconds=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("text", [CURVES, TRACES, SMALL_SPECTRUM], ids=["trials", "traces", "spectra"])
def test_results_are_stored_as_they_arrive_and_resumed(text, tmp_path, monkeypatch):
    monkeypatch.setattr(pairwise, "bands", lambda *given, **named: pd.DataFrame())
    plan = presets.plan(read("t", text))

    def opened():
        return Store(tmp_path / "trials.sqlite")

    first = Resumed(plan.function, plan.items, opened, one_at_a_time)
    first.refresh()
    first.refresh()
    assert first.done == 2 and first.alive
    assert first.seconds_left > 0.0
    figure = plan.finish([first.values.get(k) for k in range(len(plan.items))])
    assert figure.panels, "points are there before the last trial"
    first.cancel()
    again = Resumed(plan.function, plan.items, opened, one_at_a_time)
    known = again.take()
    assert len(known) == 2 and known[0].value == first.values[0]
    second = again
    while second.alive:
        second.refresh()
    assert second.values.keys() | {0, 1} == set(range(len(plan.items))) and not second.error
    last = Resumed(plan.function, plan.items, opened, one_at_a_time)
    assert len(last.take()) == len(plan.items) and not last.alive


def test_keys_tell_items_apart_by_their_values_and_their_code():
    trials, draws = presets.plan(read("t", TRACES)), presets.plan(read("t", SMALL_SPECTRUM))
    keys = {key(plan.function, item) for plan in (trials, draws) for item in plan.items}
    assert len(keys) == len(trials.items) + len(draws.items)
    assert key(np.mean, trials.items[0]) not in keys


def test_a_plugin_changes_no_key_of_a_quantity():
    def mine(problem, *, rng):
        yield Iterate(problem.truth)

    plan = presets.plan(presets.load("jain2013-theorem1", quick=True))
    drawing = next(item for item in plan.items if isinstance(item, Drawing))
    before = key(plan.function, drawing)
    lrlab.register(mine, models=[drawing.spec.model])
    assert key(plan.function, drawing) == before


@pytest.mark.slow
def test_a_theorem_is_resumed_with_the_same_numbers(tmp_path):
    preset, store = presets.load("jain2013-theorem1", quick=True), tmp_path / "store.sqlite"
    first, second = (presets.compute(preset, start=LocalResults, store=store).table for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
