"""Reduced runs, the report of all experiments, resumed results, facts of the papers."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lrlab
from benchmarks import ship
from lrlab import InputError, Iterate, code_hash, presets
from lrlab.engine.results import LocalResults
from lrlab.presets import report, result, shipped
from lrlab.presets.definition import Preset, quick, read
from lrlab.presets.items import Drawing
from lrlab.presets.papers import PAPERS, paper_of
from lrlab.presets.result import Resumed, key
from lrlab.spectra import pairwise
from lrlab.store.store import Store
from tests.presets.test_rules import CURVES, SPECTRUM, TRACES

SCORES = {"precision@1": 50.0, "precision@3": 50.0, "precision@5": 50.0, "hamming": 0.05, "auc": 0.7, "seconds": 1.0}


def result_of(fit):
    """Return a result of the form of a fit's, whatever its numbers."""
    return {"data": fit.data, "solver": fit.solver, "trial": fit.trial, "refused": "", "trace": [], **SCORES}


PUBLISHED = [name for name in presets.names() if paper_of(name)]


def test_facts_of_a_paper_stand_in_one_place():
    for name in PUBLISHED:
        paper = paper_of(name)
        assert presets.load(name).reference.startswith(paper.citation)
    entry = PAPERS["yi2015"].bibtex
    assert entry.startswith("@inproceedings{yi2015,") and "Yi, Xinyang and Wang, Zhaoran and" in entry
    assert "Liu, Han" in entry and "eprint = {1505.03257}" in entry and entry.count("{") == entry.count("}")
    assert PAPERS["soltani2018"].short == "Soltani & Hegde 2018" and PAPERS["yu2014"].short == "Yu et al. 2014"


@pytest.mark.parametrize("name", ["yu2014-table4", "yu2014-tables6-10", "yu2014-tables11-15"])
def test_what_a_quick_form_leaves_out_is_not_decided(name):
    """A claim on another panel, series or data set has a verdict as well."""
    part = presets.load(name, quick=True)
    plan = presets.plan(part, data=ship.names_alone(part.data))
    found = result.lines(plan.finish([result_of(item) for item in plan.items]).table)
    claims = part.content.get("claims", [])
    assert {f"“{claim['paper']}”" for claim in claims} <= {line.claim for line in found}
    left_out = [line for line in found if line.ours.startswith(("not run", "this panel was not run"))]
    assert left_out and {line.verdict for line in left_out} == {"not decided"}


def test_a_quick_form_leaves_what_its_table_says():
    text = CURVES.replace("m = [40, 80]", "m = [40, 50, 60, 70, 80]")
    text += '[quick]\ntrials = 1\npoints = 3\nonly = { series = ["two"], panels = ["a"] }\n'
    content = quick(read("t", text)).content
    assert content["axes"]["m"] == [40, 60, 80] and content["trials"] == 1
    assert [one["label"] for one in content["series"]] == ["two"] and len(content["panels"]) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", {presets.load(name).kind: name for name in shipped.names()}.values())
def test_a_figure_is_drawn_of_the_results_so_far(name, monkeypatch):
    monkeypatch.setattr(pairwise, "bands", lambda *given, **named: pd.DataFrame())
    run = shipped.load(name)
    plan = ship.plan(run)
    for count in {1, max(1, len(run.results) // 3)}:
        values = [value if k < count else None for k, value in enumerate(run.results)]
        result = plan.finish(values)
        assert sum(len(trace.x) for panel in result.panels for trace in panel.figure.data if "x" in trace) > 0
        assert not result.table.empty and all(panel.figure.to_json() for panel in result.panels)


@pytest.mark.slow
def test_the_report_of_what_is_shipped_has_all_experiments_and_verdicts(tmp_path):
    paths = report.write_report(tmp_path, stored=True)
    text = paths[0].read_text("utf-8")
    assert len(re.findall(r"<h2 id=", text)) == len(presets.names()) and "<script src" not in text
    judged = [line for name in shipped.names() for line in result.lines(shipped.load(name).table)]
    assert f"<p>{len(judged)} claims: {result.counts(judged)['reproduced']} reproduced, " in text
    for name in shipped.names():
        run = shipped.load(name)
        assert len(re.findall(rf'id="{name}-\d', text)) == len(run.panels) and run.words in text
        assert (tmp_path / f"{name}.csv").exists()
        assert all(word in text for word in result.counts(result.lines(run.table)))


def test_the_report_names_what_could_not_be_computed_and_computes_the_others(tmp_path, monkeypatch):
    def compute(preset, *given, **named):
        if preset.name == "yi2015-fig1":
            return shipped.load(preset.name)
        raise RuntimeError("a worker ended") if preset.data else InputError("m", "larger", 1, "raise it")

    monkeypatch.setattr(report.presets, "compute", compute)
    text = report.write_report(tmp_path, quick=True)[0].read_text("utf-8")
    assert "Not computed: a worker ended." in text and "Not computed: m must be larger" in text
    assert all(f">{word}<" in text for word in ("reproduced", "agrees in direction", "not decided", "not computed"))


@pytest.mark.slow
def test_what_two_presets_of_a_report_have_in_common_is_computed_once(tmp_path, monkeypatch):
    started = []

    def start(function, items):
        started.extend(items)
        return LocalResults(result_of, items)

    for part in ("train", "test"):
        (tmp_path / f"bibtex-{part}.npz").touch()
    monkeypatch.setattr(report.presets, "names", lambda: ["yu2014-fig2bc", "yu2014-table5"])
    text = report.write_report(tmp_path, quick=True, start=start, data=tmp_path)[0].read_text("utf-8")
    assert len(started) == len(set(started)) == 2 and "Not computed" not in text


SPECTRA = SPECTRUM.replace("n = 3000", "n = 300").replace("trials = 10", "trials = 2")
STORED = {name: read("t", text) for name, text in {"trials": CURVES, "traces": TRACES, "spectra": SPECTRA}.items()}
STORED["theorem"] = presets.load("jain2013-theorem1", quick=True)


@pytest.mark.slow
@pytest.mark.parametrize("preset", STORED.values(), ids=STORED)
def test_a_preset_that_is_computed_again_has_all_results_from_its_store(preset, tmp_path, monkeypatch):
    monkeypatch.setattr(pairwise, "bands", lambda *given, **named: pd.DataFrame())
    started = []

    def start(function, items):
        started.append(items)
        return LocalResults(function, items)

    plan, path = presets.plan(preset), tmp_path / "store"
    # Results are stored before all are there.
    begun = Resumed(plan.function, plan.items[1:], lambda: Store(path), partial(LocalResults, batch_seconds=0.0))
    done = len(begun.take())
    first, again = (presets.compute(preset, start=start, store=path).table for _ in range(2))
    pd.testing.assert_frame_equal(first, again)
    assert [len(items) for items in started] == [len(plan.items) - done] and done


def test_other_code_changes_the_key_of_a_quantity_whose_old_result_goes_and_a_plugin_does_not(monkeypatch):
    def mine(problem, *, rng):
        yield Iterate(problem.truth)

    plan = presets.plan(presets.load("jain2013-theorem1", quick=True))
    drawing = next(item for item in plan.items if isinstance(item, Drawing))
    before = key(plan.function, drawing)
    assert key(np.mean, drawing) != before
    lrlab.register(mine, models=[drawing.spec.model])
    assert key(plan.function, drawing) == before
    monkeypatch.setattr(code_hash, "EDITION", 0)
    with Store() as store:
        store.add_items({before: 1})
        store.add_items({(after := key(plan.function, drawing)): 2})
        assert store.items([before, after]) == {after: 2} and store.count_items() == 1


TEXTS = {
    path: " ".join(path.read_text("utf-8").split())
    for folder in (Path(lrlab.__file__).parent, Path(lrlab.__file__).parents[1] / "pages")
    for path in folder.rglob("*")
    if path.suffix in (".py", ".toml", ".md")
}


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.key)
def test_citations_name_the_authors_of_the_paper(paper):
    first, *others = (name.split()[-1] for name in paper.authors)
    # After a comma it is an author of another paper, but not the first one.
    cited = re.compile(rf"(?<!, )\b{first}\b((?:,? (?:&|and|et al\.|[A-Z]\w+),?)*) \(?{paper.year}\b")
    accepted = {("et", "al"), tuple(others)}
    found = [(path.name, match[0]) for path, text in TEXTS.items() for match in cited.finditer(text)]
    assert found
    wrong = [
        (name, words)
        for name, words in found
        if tuple(w for w in re.findall(r"\w+", words)[1:-1] if w != "and") not in accepted
    ]
    assert not wrong


FIGURES = {name: presets.load(name) for name in presets.names()}


def test_figure_1_takes_the_moment_with_a_gap_and_can_be_computed_again_from_its_trials():
    made = ship.made_anew(shipped.load("yi2015-fig1"))
    table, trials = made.table, made.trials
    phase = table[(table["level"] == "point") & (table["model"] == "one-bit-phase-retrieval")]
    assert (phase["moment"] == np.where(phase["at"] < 0.6745, "M'", "M")).all()
    row = phase[phase["at"] == 1.0].iloc[0]
    own = trials[(trials["panel"] == row["panel"]) & (trials["at"] == 1.0) & (trials["moment"] == "M")]
    assert own[own["rank"] == 1]["value"].mean() == pytest.approx(row["mean_top"])
    seed = int(own["seed"].iloc[0])
    trace = lrlab.solve(lrlab.spec("one-bit-phase-retrieval", threshold=1.0, seed=seed), "pairwise-moment",
                        moment="M", eigensolver="lanczos")  # fmt: skip
    assert -trace.metrics["objective"] == pytest.approx(own["value"].iloc[0], rel=1e-5), "to six digits"


def test_running_writes_a_page_that_needs_nothing_and_two_tables(tmp_path):
    steps = []
    paths = presets.run("yi2015-fig1", tmp_path / "new", lambda *step: steps.append(step), LocalResults, trials=2)
    assert [p.name for p in paths] == ["yi2015-fig1.html", "yi2015-fig1.csv", "yi2015-fig1-trials.csv"]
    text = paths[0].read_text(encoding="utf-8")
    assert text.count('<div id="yi2015-fig1-') == 3 and "(c) One-bit phase retrieval" in text
    assert not re.search(r"<(script|link|img)[^>]+(src|href)=", text), "nothing is loaded from elsewhere"
    table, trials = (pd.read_csv(path) for path in paths[1:])
    assert (table["level"] == "panel").sum() == 3 and set(trials["trial"]) == {0, 1}
    assert table["trials"].dropna().min() == 2 and table["model"].notna().all()
    assert steps[-1] == (82, 82)


def test_titles_of_a_page_are_text():
    preset = Preset("x", "<b>A</b>", "lines", "R & S", "E", {})
    text = result.page(preset, result.Result([], pd.DataFrame(), pd.DataFrame()))
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
