"""Figures of papers: small versions of each preset, the tables and pages they write, and the fits they report."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab import presets
from lrlab.engine.results import LocalResults, collect
from lrlab.presets import page, rates, result
from lrlab.presets.definition import Preset
from lrlab.runs.run import solve
from lrlab.runs.trial import Trial
from lrlab.sweeps.toml_source import Source

FIGURES = {name: presets.load(name) for name in presets.names()}


@pytest.fixture(scope="module")
def first_figure():
    plan = presets.plan(FIGURES["yi2015-fig1"])
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def number(item):
    return item.number if isinstance(item, Trial) else item.trial


@pytest.mark.parametrize("name", presets.names())
def test_every_file_says_what_it_is_and_can_be_planned(name, tmp_path):
    preset = presets.load(name)
    assert preset.name == name and preset.title and preset.reference and preset.explanation.endswith(".")
    for file in (f"{data}-{part}.npz" for data in preset.data for part in ("train", "test")):
        (tmp_path / file).touch()
    plan = presets.plan(preset, trials=2, data=tmp_path if preset.data else None)
    assert plan.items and len({number(item) for item in plan.items}) == 2


def test_the_paper_s_settings_are_the_files_settings():
    one = presets.plan(FIGURES["yi2015-fig1"])
    assert {(i.spec.n, i.spec.p) for i in one.items} == {(3000, 20)} and {i.trial for i in one.items} == set(range(10))
    two = presets.plan(FIGURES["yi2015-fig2"])
    assert {i.job.spec.p for i in two.items} == {10, 20, 40} and {i.number for i in two.items} == set(range(100))
    three = presets.plan(FIGURES["yi2015-fig3"])
    assert {(i.job.spec.p, i.job.spec.sparsity) for i in three.items} == {
        (100, 5),
        (100, 10),
        (200, 5),
        (200, 10),
        (400, 5),
    }
    assert any(i.job.spec.n < i.job.spec.p for i in three.items)
    for plan in (two, three):
        specs = [item.job.spec for item in plan.items]
        assert {s.flip for s in specs if s.model == "flipped-logistic"} == {0.1}
        assert {round(s.noise**2, 12) for s in specs if s.model == "one-bit-sensing"} == {0.1}
        assert {s.threshold for s in specs if s.model == "one-bit-phase-retrieval"} == {1.0}


@pytest.mark.slow
def test_figure_1_agrees_with_the_prediction_and_not_with_the_population_curve(first_figure):
    table = first_figure.table
    points, panels = table[table["level"] == "point"], table[table["level"] == "panel"]
    assert len(panels) == 3 and len(first_figure.panels) == 3
    assert points["top_deviation"].abs().max() <= 0.05
    assert points["second_deviation"].abs().max() <= 0.10
    for _, panel in panels.iterrows():
        own = points[points["panel"] == panel["panel"]]
        assert abs(panel["top_deviation"]) == own["top_deviation"].abs().max()
        assert abs(panel["population_top_deviation"]) > 2 * abs(panel["top_deviation"])
        assert abs(panel["population_second_deviation"]) > 2 * abs(panel["second_deviation"])


def test_figure_1_shows_and_says_what_finite_p_does(first_figure):
    for panel in first_figure.panels:
        bands = [trace for trace in panel.figure.data if trace.fill == "toself"]
        assert [trace.name.partition(",")[0] for trace in bands] == ["largest", "second"]
    logistic, sensing, phase = first_figure.panels
    assert all("draws at this n and p have a mean overlap of 0.2" in panel.caption for panel in (logistic, phase))
    assert "Where the dashed curves meet" not in sensing.caption, "they do not meet for variances up to 2"


def test_figure_1_takes_the_moment_with_a_gap_and_can_be_computed_again_from_its_trials(first_figure):
    table, trials = first_figure.table, first_figure.trials
    phase = table[(table["level"] == "point") & (table["model"] == "one-bit-phase-retrieval")]
    assert (phase["moment"] == np.where(phase["at"] < 0.6745, "M'", "M")).all()
    row = phase[phase["at"] == 1.0].iloc[0]
    own = trials[(trials["panel"] == row["panel"]) & (trials["at"] == 1.0) & (trials["moment"] == "M")]
    assert own[own["rank"] == 1]["value"].mean() == pytest.approx(row["mean_top"])
    seed = int(own["seed"].iloc[0])
    trace = lrlab.solve(lrlab.spec("one-bit-phase-retrieval", threshold=1.0, seed=seed), "pairwise-moment",
                        moment="M", eigensolver="lanczos")  # fmt: skip
    assert -trace.metrics["objective"] == pytest.approx(own["value"].iloc[0])


def changed(preset, content):
    """Return a preset with other content."""
    source = Source("")
    source.content = content
    return dataclasses.replace(preset, source=source)


def small(name, values, trials, series):
    """Compute the panels that `values` names by their models, with the first few series."""
    content = dict(FIGURES[name].content)
    axis = rates.axis_of(FIGURES[name], ("panels", 0))[0]
    content["series"] = content["series"][:series]
    panels = [panel for panel in content["panels"] if panel["model"] in values]
    content["panels"] = [{**panel, "axes": {axis: values[panel["model"]]}, "trials": trials} for panel in panels]
    plan = rates.plan(changed(FIGURES[name], content))
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def fits(table):
    return table[table["level"] != "point"].set_index(["model", "series"])


@pytest.mark.soak
def test_figure_2_in_small_is_straight_above_the_threshold_and_nowhere_else():
    values = {
        "one-bit-sensing": [0.03, 0.07, 0.11, 0.14, 0.4],
        "one-bit-phase-retrieval": [0.02, 0.045, 0.07, 0.09, 0.25],
    }
    computed = small("yi2015-fig2", values, trials=20, series=2)
    table, found = computed.table, fits(computed.table)
    assert (found["r2"] > 0.95).all()
    points = table[table["level"] == "point"]
    assert (
        points["used"] == (points["rate"] <= points["model"].map(found["largest_rate"].groupby("model").first()))
    ).all()
    for panel, (model, own) in zip(computed.panels, points.groupby("model", sort=False), strict=True):
        exact = next(trace for trace in panel.figure.data if trace.name == "exact limit for large p")
        chosen = own[own["used"].astype(bool)]
        predicted = np.interp(chosen["rate"].astype(float), exact.x, exact.y)
        np.testing.assert_allclose(chosen["error"], predicted, rtol=0.15, err_msg=model)
    below = points[~points["used"].astype(bool)]
    assert (below["error"] > 0.85).all(), "below the threshold the error is that of a random direction"


@pytest.mark.soak
def test_figure_3_in_small_is_straight_and_the_same_for_every_sparsity():
    values = {"one-bit-sensing": [0.06, 0.09, 0.12, 0.14, 0.3], "one-bit-phase-retrieval": [0.08]}
    table = small("yi2015-fig3", values, trials=12, series=2).table
    found = fits(table)
    assert (found.loc["one-bit-sensing", "r2"] > 0.9).all()
    slopes = found.loc["one-bit-sensing", "slope"]
    assert slopes.max() < 1.25 * slopes.min()
    alone = found.loc[("one-bit-phase-retrieval", "p = 100, s = 5")]
    assert alone["points_used"] == 1 and np.isnan(alone["r2"]), "one point makes no line"


@pytest.mark.parametrize(
    ("power", "noise", "trials", "word"),
    [
        (1.0, 0.05, 20, "reproduced"),
        (0.7, 0.05, 20, "agrees in direction"),
        (1.5, 0.05, 20, "agrees in direction"),
        (-0.5, 0.05, 20, "not reproduced"),
        (1.0, 0.6, 3, "not decided"),
        (1.0, 0.05, 1, "not decided"),
    ],
)
def test_a_verdict_on_a_line_allows_for_the_errors_of_its_dots(power, noise, trials, word):
    rng, rates_of = np.random.default_rng(1), np.linspace(0.02, 0.1, 5)
    rows = [
        {"series": name, "rate": rate, "trial": k, "error": 5.0 * rate**power * np.exp(noise * rng.normal())}
        for name in ("one", "two")
        for rate in rates_of
        for k in range(trials)
    ]
    rows = pd.DataFrame(rows)
    points = rows.groupby(["series", "rate"], as_index=False)["error"].mean().assign(used=True)
    verdict = rates._verdict("a line", points, rates._fits(points), 5.0, rows)
    assert verdict.word == word and "slopes of the series" in verdict.measured


def test_a_row_of_rates_is_a_run_of_the_library():
    content = {
        "figure": {"kind": "rates", "threshold_factor": 4.0},
        "model": "one-bit-sensing",
        "trials": 2,
        "spec": {"p": 40, "sparsity": 3},
        "axes": {"sparse-rate": [0.1]},
        "series": [{"label": "one", "solver": "sparse-pairwise-moment"}],
        "settings": {"moment": "M", "tol": 1e-6},
    }
    plan = rates.plan(changed(FIGURES["yi2015-fig3"], content))
    item = plan.items[1]
    [*_, row] = plan.finish(collect(LocalResults(plan.function, plan.items))).trials.to_dict("records")
    trace = solve(item.seeded.spec, "sparse-pairwise-moment", **content["settings"])
    assert row["error"] == trace.metrics["error"] and row["iterations"] == len(trace.rows)
    assert row["seed"] == item.seeded.spec.seed and row["stop"] == trace.stop.name
    assert row["rate"] == pytest.approx(0.1, rel=1e-3)


def test_the_line_through_the_origin_and_its_quality():
    assert rates.line_through_origin([1, 2, 3], [2, 4, 6]) == (2.0, 1.0)
    x, e = np.array([1.0, 2.0, 4.0, 5.0]), np.array([1.0, 2.5, 3.5, 5.5])
    slope, quality = rates.line_through_origin(x, e)
    lstsq = np.linalg.lstsq(x[:, None], e, rcond=None)[0][0]
    assert slope == pytest.approx(lstsq)
    assert quality == pytest.approx(1 - np.sum((e - lstsq * x) ** 2) / (len(e) * e.var()))
    # Straight, but far from the origin: the fit must not pass.
    assert rates.line_through_origin([1, 2, 3], [10, 11, 12])[1] < 0
    assert np.isnan(rates.line_through_origin([1, 2], [1, 2])).all()


def test_the_region_of_the_fit_starts_at_the_stated_multiple_of_the_threshold():
    spec = lrlab.spec("one-bit-sensing", n=3000, p=20, noise=0.0)
    assert rates.largest_rate(spec, 4.0) == pytest.approx((4 * 9.87) ** -0.5, rel=1e-3)
    table = rates.predicted_errors(spec, "dense-rate", [0.05, 0.5])
    assert table["error"].iloc[0] < 0.25 and table["error"].iloc[1] == pytest.approx(np.sqrt(2))


def test_running_writes_a_page_that_needs_nothing_and_two_tables(tmp_path):
    steps = []
    paths = presets.run("yi2015-fig1", tmp_path / "new", lambda *step: steps.append(step), LocalResults, trials=2)
    assert [p.name for p in paths] == ["yi2015-fig1.html", "yi2015-fig1.csv", "yi2015-fig1-trials.csv"]
    text = paths[0].read_text(encoding="utf-8")
    assert text.count('<div id="panel-') == 3 and "(c) One-bit phase retrieval" in text
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", text), "nothing is loaded from elsewhere"
    table, trials = (pd.read_csv(path) for path in paths[1:])
    assert (table["level"] == "panel").sum() == 3 and set(trials["trial"]) == {0, 1}
    assert table["trials"].dropna().min() == 2
    assert steps[-1] == (82, 82)


def test_titles_of_a_page_are_text():
    preset = Preset("x", "<b>A</b>", "rates", "R & S", "E", Source(""))
    text = page.page(preset, result.Result([], pd.DataFrame(), pd.DataFrame()))
    assert "<b>A</b>" not in text and "&lt;b&gt;A&lt;/b&gt;" in text and "R &amp; S" in text


def test_wrong_names_places_and_numbers_are_refused(tmp_path):
    with pytest.raises(lrlab.InputError, match=r'preset must be one of .* yi2015-fig1, .* did you mean "yi2015-fig1"'):
        presets.load("yi2015-fig11")
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(lrlab.InputError, match="out must be a directory that can be written to, got .*: name another"):
        presets.run("yi2015-fig1", file)
    with pytest.raises(lrlab.InputError, match="trials must be a whole number of 2 or more, got 1"):
        presets.plan(FIGURES["yi2015-fig1"], trials=1)


def test_verdicts_stand_in_captions_and_tables(first_figure, tmp_path):
    table = first_figure.table
    judged = table[table["verdict"].notna()]
    words = ["agrees in direction", "reproduced", "not decided"]
    assert judged["verdict"].tolist()[:3] == words, "close to 1, at 1.28, and constant; few trials for the gap"
    assert all("Verdict: " in panel.caption for panel in first_figure.panels)
    table.to_csv(tmp_path / "table.csv", index=False)
    sentences = [line.sentence for line in presets.verdicts(tmp_path / "table.csv")]
    assert len(sentences) == 7 and all("stays close" not in s and "Measured: " in s for s in sentences)


def test_figure_2_carries_predictions_and_the_exact_slopes():
    values = {
        model: [0.02, 0.025, 0.03] for model in ("flipped-logistic", "one-bit-sensing", "one-bit-phase-retrieval")
    }
    table = small("yi2015-fig2", values, trials=2, series=1).table
    slopes = table[table["level"] == "pooled"].set_index("model")["exact_slope"].astype(float)
    assert slopes.round(2).to_dict() == {
        "flipped-logistic": 19.27,
        "one-bit-sensing": 4.34,
        "one-bit-phase-retrieval": 6.25,
    }
    points = table[table["level"] == "point"]
    assert points["predicted_error"].notna().all()
    near = points[(points["model"] == "one-bit-sensing") & (points["rate"] < 0.021)]
    assert float(near["predicted_error"].iloc[0] / near["rate"].iloc[0]) == pytest.approx(4.34, rel=0.02)
