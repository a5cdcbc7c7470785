"""Figures of papers: settings of each preset, spectra, and the tables and pages that they write."""

import re

import numpy as np
import pandas as pd
import pytest

import lrlab
from lrlab import presets
from lrlab.engine.results import LocalResults, collect
from lrlab.presets import page, result
from lrlab.presets.definition import Preset

FIGURES = {name: presets.load(name) for name in presets.names()}


@pytest.fixture(scope="module")
def first_figure():
    plan = presets.plan(FIGURES["yi2015-fig1"])
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


@pytest.mark.slow
def test_figure_1_shows_and_says_what_finite_p_does(first_figure):
    for panel in first_figure.panels:
        bands = [trace for trace in panel.figure.data if trace.fill == "toself"]
        assert [trace.name.partition(",")[0] for trace in bands] == ["largest", "second"]
    logistic, sensing, phase = first_figure.panels
    assert all("samples at this n and p have a mean overlap of 0.2" in panel.caption for panel in (logistic, phase))
    assert "dashed curves" not in sensing.caption, "they do not meet for variances up to 2"


@pytest.mark.slow
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
    preset = Preset("x", "<b>A</b>", "lines", "R & S", "E", {})
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


@pytest.mark.slow
def test_verdicts_stand_in_captions_and_tables(first_figure, tmp_path):
    table = first_figure.table
    judged = table[table["verdict"].notna()]
    words = ["agrees in direction", "reproduced", "not decided"]
    assert judged["verdict"].tolist()[:3] == words, "close to 1, at 1.28, and constant; few trials for the gap"
    assert all("Verdict: " in panel.caption for panel in first_figure.panels)
    table.to_csv(tmp_path / "table.csv", index=False)
    sentences = [line.sentence for line in result.lines(pd.read_csv(tmp_path / "table.csv"))]
    assert len(sentences) == 7 and all("Verdict: " in s and "Measured: " in s for s in sentences)
