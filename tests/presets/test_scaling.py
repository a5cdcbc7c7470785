"""Presets of kind `growth`: times of traced runs, their exponents, and what is said of claimed ones."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lrlab import InputError, presets
from lrlab.engine.results import LocalResults, collect
from lrlab.presets import growth
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.rules import exponent
from lrlab.sweeps.toml_source import Source

LOOK = {"measure": "error", "level": 0.1}


def traced(power, trials=3):
    """Return rows of runs whose iterations take x^power milliseconds, and whose errors halve in each."""
    return pd.DataFrame(
        [
            {"series": "one", "m": x, "trial": k, "iteration": i, "seconds": 5.0 + i * x**power / 1e3, "error": 0.5**i}
            for x in (10, 20, 40, 80)
            for k in range(trials)
            for i in range(1, 8)
        ]
    )


def times(rows, quantity, look):
    """Return the points of a figure."""
    return growth.points(growth.seconds_of_runs(rows, "m", quantity, look), "m", "time")


def held(quantity, power, **look):
    """Return the times of all trials."""
    return samples_of(growth.seconds_of_runs(traced(power), "m", quantity, {**LOOK, **look}), "m", "time")


def test_times_of_an_iteration_leave_out_the_start_and_give_the_exponent():
    points = times(traced(1.5), "iteration", LOOK)
    assert points["y"].tolist() == pytest.approx([x**1.5 / 1e3 for x in (10, 20, 40, 80)])
    slope, interval = exponent(held("iteration", 1.5), "one")
    assert (slope, *interval) == pytest.approx((1.5, 1.5, 1.5), abs=1e-6)


def test_times_to_an_accuracy_are_those_of_the_first_iterate_below_it():
    points = times(traced(1.0), "accuracy", LOOK)
    assert points["y"].tolist() == pytest.approx([5.0 + 4 * x / 1e3 for x in (10, 20, 40, 80)])
    never = times(traced(1.0), "accuracy", {**LOOK, "level": 1e-9})
    assert never.empty and np.isnan(exponent(held("accuracy", 1.0, level=1e-9), "one")[0])


@pytest.mark.parametrize(
    ("times", "claimed", "word"),
    [
        ([1, 2.1, 3.9, 8.2], 1.0, "reproduced"),
        ([1, 2.1, 3.9, 8.2], 1.8, "reproduced"),
        ([1, 2.1, 3.9, 8.2], 3.0, "not decided"),
        ([1, 2.1, 3.9, 8.2], 0.0, "not reproduced"),
        ([1, 2.1, 3.9, 8.2], 0.5, "not reproduced"),
        ([8.2, 2.1, 3.9, 1], 1.0, "not decided"),
        ([1, 8.2, 2.1, 3.9], 1.0, "not decided"),
        ([4, 4.1, 3.9, 4], 1.0, "not decided"),
        ([8, 4, 2, 1], 1.0, "not decided"),
    ],
)
def test_a_formula_holds_where_growth_shows_and_is_no_faster(times, claimed, word):
    series = {"label": "one", "solver": "s", "claimed": {"m": claimed}, "why": "It reads the data."}
    held = Samples({"one": {x: np.array([y, y]) for x, y in zip((10, 20, 40, 80), times, strict=True)}})
    preset = SimpleNamespace(series=[series], content={})
    lines, sentences, (verdict,) = growth.exponent_lines(preset, "m", held, ["one"], "claimed", "formula")
    assert verdict.word == lines[0]["verdict"] == word and word in sentences[0]
    assert ("reads the data" in verdict.remark) == (word == "not reproduced")
    assert ("more slowly" in verdict.remark) == (claimed == 1.8)
    once = held._replace(values={"one": {x: own[:1] for x, own in held.values["one"].items()}})
    assert growth.exponent_lines(preset, "m", once, ["one"], "claimed", "formula")[2][0].word == "not decided"


def test_a_logarithm_in_the_formula_adds_to_its_exponent():
    sizes = [100, 150, 225, 340, 500]
    held = Samples({"one": {x: np.array([x * np.log(x)] * 3) * (1.0 + 0.004 * (k % 2)) for k, x in enumerate(sizes)}})
    words = {}
    for logarithms in ([], ["p"]):
        series = {"label": "one", "claimed": {"p": 1}, "logarithms": logarithms}
        preset = SimpleNamespace(series=[series], content={})
        [line], _, [verdict] = growth.exponent_lines(preset, "p", held, ["one"], "claimed", "formula")
        words[verdict.word] = line["claimed"], line["predicted"]
    assert words["not reproduced"] == (1, "p^1")
    assert words["reproduced"] == (pytest.approx(1.187, abs=0.005), "p^1 log(p)")


def test_table_1_in_small():
    preset, source = presets.load("soltani2018-table1"), Source("")
    panels = [
        {"title": f"{quantity} {axis}", "axes": {axis: values}, "spec": spec, "quantity": quantity}
        for axis, values, spec in (("m", [200, 400, 800], {"p": 8}), ("p", [6, 8, 12], {"m": 800}))
        for quantity in ("iteration", "accuracy")
    ]
    source.content = {**preset.content, "panels": panels, "spec": {"r": 1}, "settings": {"max_iter": 20}}
    plan = presets.plan(dataclasses.replace(preset, source=source), 2)
    assert len(plan.items) == 2 * 5 * len(preset.series), "panels share their runs"
    result = plan.finish(collect(LocalResults(plan.function, plan.items)))
    series = result.table[result.table["level"] == "series"]
    claimed = series[series["claimed"].notna()]
    assert len(series) == 4 * len(preset.series) and set(claimed["verdict"]) <= {
        "reproduced", "not decided", "not reproduced",
    }  # fmt: skip
    known = series.dropna(subset=["exponent"])
    assert len(known) > 20 and (known["low_95"] <= known["exponent"]).all() and "claimed 2" in result.panels[2].caption
    source.content = {**source.content, "panels": [{**panels[0], "axes": {"m": [200, 400]}}]}
    with pytest.raises(InputError, match="axes must be at least three values"):
        presets.plan(dataclasses.replace(preset, source=source), 2)
