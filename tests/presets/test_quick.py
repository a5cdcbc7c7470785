"""Quick forms of presets, figures of a part of the trials, facts of the papers, and the report of all experiments."""

import re
from zlib import crc32

import pandas as pd
import pytest

from benchmarks import ship
from lrlab import InputError, presets
from lrlab.catalog import family
from lrlab.engine.results import LocalResults
from lrlab.presets import report, result, shipped
from lrlab.presets.definition import quick, read
from lrlab.presets.papers import PAPERS, paper_of
from lrlab.runs.run import TrialResult
from lrlab.spectra import pairwise
from tests.presets.test_preset_definitions import CURVES

VALUE = 0.5
SCORES = {"precision@1": 50.0, "precision@3": 50.0, "precision@5": 50.0, "hamming": 0.05, "auc": 0.7, "seconds": 1.0}


PARTS = {
    one["part"] for name in presets.names() for one in presets.load(name).content.get("series", ()) if "part" in one
}


def result_of(item):
    """Return a result of the form of a preset's, whatever its numbers."""
    if hasattr(item, "share"):
        about = {name: getattr(item, name) for name in ("data", "solver", "trial")}
        return {**about, "refused": "", "trace": [], **SCORES}
    if hasattr(item, "quantity"):
        return {"trial": item.number, "seed": 0, **dict.fromkeys(PARTS, VALUE)}
    if hasattr(item, "below"):
        return {"trial": item.number, "seed": 0, "measurements": 100.0}
    # Not all alike, so that lines can be fitted.
    value = VALUE * (1.0 + crc32(repr(item).encode()) / 2**32)
    return TrialResult(0, "CONVERGED", 1, value, dict.fromkeys(family(item.job.spec.model).measures, value))


PRINTED = {
    "yi2015": {"Figure 1", "Figure 2", "Figure 3"},
    "jain2013": {"Figure 1a", "Figure 1b", "Figure 1c", "Figure 1d"},
    "soltani2018": {"Figure 2a", "Figure 2b", "Figure 2c", "Table 1"},
    "qiu2017": {"Figure 1", "Table 1", "Table 2"},
    "yu2014": {
        "Figure 1", "Figure 2a", "Figure 2b, c", "Figure 3 and section 3.1", "Table 3", "Table 4", "Table 5",
        "Tables 6 to 10", "Tables 11 to 15",
    },
}  # fmt: skip
"""Every figure and table with results of each paper; Figure 1 of Soltani & Hegde is a drawing."""

PUBLISHED = [name for name in presets.names() if paper_of(name)]


def test_every_experiment_of_the_papers_is_a_preset():
    titles = {key: set() for key in PAPERS}
    for name in PUBLISHED:
        paper, title = paper_of(name), presets.load(name).title
        titles[paper.key].add(title.rstrip(")").rpartition(f"({paper.short.rpartition(' ')[0]} {paper.year}, ")[2])
    assert all(PRINTED[key] <= own for key, own in titles.items()), titles


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
            return shipped.load(preset.name).drawn
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
