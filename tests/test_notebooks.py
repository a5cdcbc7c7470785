"""What notebooks show: figures of runs and sweeps, traces, tables and fits as pictures, a widget that follows runs."""

import base64

import nbformat
import numpy as np
import plotly.io
import pytest
from nbclient import NotebookClient
from plotly.graph_objects import Figure

import lrlab
from lrlab.engine.results import LocalResults
from lrlab.figures import convergence
from lrlab.figures.runs import Run, recoveries, verdict
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.ui.shared import code
from tests.waiting import PATIENCE

SPEC = lrlab.spec("one-bit-sensing", n=300, p=8, noise=0.1)


@pytest.fixture(scope="module")
def trace():
    """Return a run."""
    return lrlab.solve(SPEC, "logistic")


@pytest.fixture(scope="module")
def table():
    """Return a sweep over two axes."""
    axes = {"m": [12, 24, 48], "noise": [0.0, 0.1]}
    spec = lrlab.spec("rank-one-sensing", d1=6, d2=5, rank=1)
    solvers = ["gauss-newton", "altmin"]
    return lrlab.sweep(spec, axes, solvers, trials=4, max_iter=40, start=LocalResults)


def numbers(values):
    """Return an array of plotly."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])
    return np.asarray(values, dtype=float)


def test_a_trace_has_the_figure_of_the_page(trace):
    figure = trace.figure(measure="overlap")
    assert isinstance(figure, Figure)
    drawn = recoveries(SPEC, [Run(trace.job, trace)])
    page = convergence.curves(drawn, "overlap", log_y=True, hold=True)
    assert [one.name for one in figure.data] == [one.get("name") for one in page.data]
    first = figure.to_plotly_json()["data"][0]
    assert numbers(first["y"]) == pytest.approx(trace.table["overlap"].to_numpy())
    with pytest.raises(InputError, match='metric must be one of .*did you mean "overlap"'):
        trace.figure(measure="overlp")
    with pytest.raises(InputError, match="time must be one of iteration, seconds, got hours"):
        trace.figure(time="hours")


def test_traces_are_compared_and_those_of_one_solver_have_different_names(trace):
    others = [lrlab.solve(SPEC.replace(seed=2), "logistic"), lrlab.solve(SPEC, "sir")]
    names = [one.name for one in lrlab.compare([trace, *others]).data if one.meta == "run"]
    assert names[0].endswith("seed = 0") and names[1].endswith("seed = 2") and names[0][:-1] == names[1][:-1]
    assert "," not in names[2] and isinstance(lrlab.compare([trace, *others]), Figure)
    with pytest.raises(InputError, match="traces must be some, all of one model, got none"):
        lrlab.compare([])
    with pytest.raises(InputError, match="traces must be some, all of one model, got <Trace of .*: give a list"):
        lrlab.compare(trace)
    with pytest.raises(InputError, match="traces must be some, all of one model, got one-bit-sensing, phase-retr"):
        lrlab.compare([trace, lrlab.solve(lrlab.spec("phase-retrieval", m=60, p=6), "wirtinger-flow")])


@pytest.fixture(autouse=True)
def notebook(monkeypatch):
    """Let plotly draw as in a notebook."""
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")


def test_a_trace_shows_itself_with_the_verdict_of_the_page(trace):
    shown = trace._repr_mimebundle_()
    assert trace.ending in shown["text/plain"] and f"{trace.metrics['error']:.4g}" in shown["text/plain"]
    figure = shown["application/vnd.plotly.v1+json"]
    title = figure["layout"]["title"]["text"].replace("<br>", " ")
    assert title.startswith(verdict(trace)) and title == shown["text/plain"]
    assert max(len(numbers(one["y"])) for one in figure["data"]) >= len(trace.rows)


@pytest.mark.slow
def test_a_table_shows_itself_and_draws_its_map(table):
    html = table._repr_html_()
    assert "of 24 trials succeed" in html and "24 rows" not in html and "48 rows" in html
    figure = lrlab.map(table)
    heat = next(one for one in figure.to_plotly_json()["data"] if one["type"] == "heatmap")
    first = table[table["solver"] == "gauss-newton"]
    rule = table.sweep.success
    success = (first[rule.metric] < rule.level) & (first["stop"] != "LOCAL_MINIMUM")
    share = first.assign(success=success).groupby(["noise", "m"])["success"].mean()
    assert numbers(heat["z"]).reshape(2, 3) == pytest.approx(share.to_numpy().reshape(2, 3))
    turned = lrlab.map(table, x="noise", y="m", show="error", apart=True)
    assert turned.layout.yaxis.title.text == figure.layout.xaxis.title.text


def test_rows_of_a_table_are_a_table_and_others_are_refused(table):
    few = table[table["trial"] < 1]
    assert "of 6 trials succeed" in few._repr_html_() and isinstance(lrlab.map(few), Figure)
    assert "trials succeed" not in table[["solver", "error"]]._repr_html_()
    with pytest.raises(InputError, match="table must be one with the column seed"):
        lrlab.map(table.drop(columns="seed"))
    assert isinstance(lrlab.map(table.drop(columns="refused")), Figure)
    import pandas as pd

    with pytest.raises(InputError, match="table must be one that lrlab.sweep returned, or rows of it, got DataFrame"):
        lrlab.map(pd.DataFrame(table))
    with pytest.raises(InputError, match="axis must be one of m, noise, got p"):
        lrlab.map(table, x="p")


def test_a_table_along_one_axis_has_lines_and_names_what_failed():
    def failing(problem, *, rng):
        yield from ()
        raise ValueError("no such luck")

    table = lrlab.sweep(SPEC, {"n": [100, 200, 400]}, ["logistic", failing], trials=3, start=LocalResults)
    html = table._repr_html_()
    assert "9 trials failed. The first: The job failed inside the solver (ValueError: no such luck)." in html
    assert isinstance(lrlab.map(table, show="error"), Figure)


def test_a_widget_follows_runs_to_their_ends(engine):
    def failing(problem, *, rng):
        yield lrlab.Iterate(problem.y @ problem.X)
        raise ValueError("no such luck")

    widget = lrlab.live(SPEC, ["logistic", failing], max_iter=30)
    widget.wait(PATIENCE)
    [good, _] = widget.traces
    assert good.stop and widget.errors == {"failing": "The job failed inside the solver (ValueError: no such luck)."}
    assert "FAILED. The job failed inside the solver (ValueError: no such luck)." in widget.words.value
    assert numbers(widget.figure.data[0].y) == pytest.approx(good.table["error"].to_numpy())
    assert widget.figure.layout.uirevision == "error iteration False True", "a zoom stays"
    with pytest.raises(InputError, match="solvers must be some solvers, got none"):
        lrlab.live(SPEC, [])
    with pytest.raises(InputError, match="setting of logistic must be one of"):
        lrlab.live(SPEC, ["logistic"], steps=3)


@pytest.mark.slow
def test_the_notebook_of_a_page_runs_and_shows_its_figure(tmp_path):
    jobs = [make_job(SPEC, name) for name in ("logistic", "sir")]
    book = nbformat.reads(code.notebook("lrlab", code.python(jobs), code.figure(jobs)), 4)
    folder = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(book, timeout=PATIENCE, startup_timeout=PATIENCE, resources=folder).execute()
    assert book.cells[-1]["source"] == "lrlab.compare([logistic, sir])"
    assert any("application/vnd.plotly.v1+json" in shown["data"] for shown in book.cells[-1]["outputs"])
