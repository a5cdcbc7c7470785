"""Presets of kind `growth`: time and memory of runs against sizes, and their exponents beside formulas."""

import numpy as np
import pandas as pd
import pytest

from lrlab import InputError, presets
from lrlab.presets import growth
from lrlab.presets.definition import Preset

PRESET = presets.load("growth-of-costs")


def test_a_run_is_measured_without_its_data_in_time_and_with_it_in_memory():
    plan = presets.plan(PRESET)
    trial = next(item for item in plan.items if item.job.spec.n == 1000 and item.job.solver == "logistic")
    [row] = growth.measured(trial)
    assert row["processor"] > 0.0
    assert trial.job.spec.data_bytes / 1e6 <= row["megabytes"] < 10 * trial.job.spec.data_bytes / 1e6


def test_exponents_stand_beside_those_of_the_formulas():
    plan = presets.plan(PRESET)
    results = [
        [{"trial": t.number, "processor": 1e-6 * t.job.spec.n**1.5, "megabytes": 1e-3 * t.job.spec.n}]
        if t.job.spec.model == "one-bit-sensing" and t.job.spec.p == 50
        else None
        for t in plan.items
    ]
    table = plan.finish(results).table
    fits = table[(table["level"] == "series") & (table["series"] == "GAMP")].set_index("quantity")
    assert np.allclose(fits["exponent"], [1.5, 1.0]) and list(fits["claimed"]) == [1, 1]
    assert list(fits["verdict"]) == ["not reproduced", "reproduced"]
    assert set(table["panel"]) == {"One bit: rows n, p = 50"}


def test_an_exponent_needs_three_sizes():
    content = {**PRESET.content, "panels": [{**PRESET.panels[0], "axes": {"n": [1000, 2000]}}]}
    source = type(PRESET.source)("")
    source.content = content
    preset = Preset(PRESET.name, PRESET.title, PRESET.kind, PRESET.reference, PRESET.explanation, source)
    with pytest.raises(InputError, match="at least three values"):
        presets.plan(preset)


def test_quartiles_are_those_of_the_trials():
    rows = pd.DataFrame({"series": "one", "n": [1, 1, 1, 2, 2, 2], "processor": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    points = growth.points(rows, "n", "processor")
    assert points["y"].tolist() == [2.0, 5.0] and points["low"].tolist() == [1.5, 4.5]
    assert points["trials"].tolist() == [3, 3]
