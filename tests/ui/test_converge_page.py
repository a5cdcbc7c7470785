"""The page Run: its controls, exported code, limits on runs, faults that users saw."""

import base64
import json
import shlex
from concurrent.futures import Future
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from lrlab import catalog, spec
from lrlab.__main__ import main
from lrlab.engine.live import LiveRun
from lrlab.engine.results import Failure
from lrlab.figures.recovery import MOVING_MARKS
from lrlab.models.axes import positions
from lrlab.parameters import declared
from lrlab.protocol import Stop
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.runs.run import quick_run, run_job
from lrlab.ui.converge import results_view
from lrlab.ui.converge.results_view import live_parts, message, shown
from lrlab.ui.converge.run_controls import CurveSettings
from lrlab.ui.shared import live
from tests.ui.driving import accepted, current, drawn, errors, figure, figures, finished, opened, words
from tests.waiting import PATIENCE, until

# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def opened_run(**address):
    return accepted("converge", **{"n": "400", "p": "8", "solvers": "pairwise-moment", **address})


@pytest.mark.parametrize("model", catalog.MODELS)
def test_a_slider_has_round_values_and_stands_first_inside_its_range_or_at_a_bound(model):
    entry = catalog.model_entry(model)
    assert len(entry.main) in (3, 4)
    for parameter in declared(entry.spec).values():
        if parameter.kind in (int, float) and not parameter.choices:
            values, name = list(positions(entry, parameter.name)), parameter.name
            assert values == sorted(set(values)) and all(parameter.check(value) == value for value in values)
            assert name not in entry.main or parameter.default in values and len(values) > 5
            for first in {parameter.default, entry.held.get(name, parameter.default)}:
                assert values[0] < first < values[-1] or first in (parameter.low, parameter.high), (name, first)
    for name in {"m", "observed"} & {*entry.family.ranges} & {*declared(entry.spec)}:
        low, high, _ = entry.family.ranges[name]
        values = positions(entry, name)
        assert values[0] == pytest.approx(low, rel=0.05) and values[-1] >= high


def test_another_model_keeps_the_solvers_that_it_has_and_its_own_come_back_with_the_family():
    at = opened_run(solvers="pairwise-moment,sir")
    own = {}
    for model in ("flipped-logistic", "rank-one-sensing", "one-bit-sensing"):
        at.selectbox(key="converge.model").set_value(model).run()
        assert not at.exception and not errors(at)
        own[model] = {box.key.rpartition(".")[2] for box in at.checkbox if box.value}
    assert own["flipped-logistic"] == {"pairwise-moment", "sir"}
    for model in ("rank-one-sensing", "one-bit-sensing"):
        made = {entry.name for entry in catalog.solvers_for(model)}
        assert own[model] == made.intersection(catalog.family(model).solvers)


def test_changes_are_marked_or_start_a_run_and_new_data_has_a_new_seed():
    at = finished(opened_run(), "converge")
    first = at.session_state["converge:run"]
    assert not words(at, "converge.changed")
    at.number_input(key="converge.one-bit-sensing.noise").set_value(0.3).run()
    assert words(at, "converge.changed") == "changed press Run" and at.session_state["converge:run"] is first
    at.toggle(key="converge-on-change").set_value(True).run()
    second = at.session_state["converge:run"]
    assert second is not first and second.runs[0].job.spec.noise == 0.3
    at.run()
    assert at.session_state["converge:run"] is second
    at.toggle(key="converge-on-change").set_value(False).run()
    at.button(key="converge-new").click().run()
    assert at.session_state["converge:run"].runs[0].job.spec.seed == 1 and at.query_params["seed"] == "1"
    at.session_state["converge:run"].cancel()


CURVES = CurveSettings("error", "iteration", log_y=True)


def test_a_run_that_is_over_as_soon_as_it_has_begun_is_the_one_to_pin(monkeypatch):
    monkeypatch.setattr(live, "await_results", partial(live.await_results, seconds=PATIENCE))
    at = opened("converge", n="400", p="8", solvers="marginal-mean", seed="1")
    first = at.session_state["converge:run"]
    drawn(at.button(key="converge-run").click().run())
    last = at.session_state["converge:run"]
    at.button(key="converge-pin").click().run()
    [kept] = at.session_state["converge:pinned"][1]
    assert last is not first and kept.rows is last.runs[0].trace.rows


def test_figures_are_sent_when_iterates_arrive_and_a_pinned_run_stays_under_the_next_one():
    at = finished(opened_run(), "converge")
    update, run = live_parts(CURVES), at.session_state["converge:run"]
    sent = [update(run), update(run)]
    assert "converge.curves" in sent[0] and "converge.curves" not in sent[1] and "converge.cards" in sent[1]
    at.button(key="converge-pin").click().run()
    at = finished(at, "converge")
    names = [line.get("name") for line in figure(at, "converge-curves")["data"]]
    assert {"Pairwise moment", "Pairwise moment, pinned"} <= {*names}


def test_a_card_says_what_a_run_waits_for():
    run = LiveRun(make_job(spec("one-bit-sensing", n=400, p=8), "sir"))
    for state, progress, said in (
        ("waiting", 0.0, "Waiting for a free worker."),
        ("running", 0.0, "Running."),
        ("running", 0.4, "Reading the data: 40%."),
        ("done", 0.4, ""),
    ):
        run.state, run.progress = state, progress
        looks, parts = shown(CURVES, [run])
        assert f"<p>{said}</p>" in parts["converge.cards"]
    title = run.job.entry.title
    assert message(looks, "error") == f"error of {title}: nothing is run yet"
    run.trace = run_job(run.job)
    said = f"{title}: error {run.trace.metrics['error']:.2g} after 1 iteration"
    assert message(shown(CURVES, [run])[0], "error").startswith(said)


def test_late_solvers_keep_their_last_curves_pale_while_a_slider_moves_and_theory_follows(monkeypatch):
    quick, failing, late, new = (
        make_job(spec("one-bit-sensing", n=413, p=9), solver)
        for solver in ("pairwise-moment", "marginal-mean", "sir", "save")
    )
    last = LiveRun(late)
    last.trace = run_job(late)
    values = {quick: theory.described(np.full(9, 0.25)), failing: Failure("It failed.")}

    def submit(function, item):
        future = Future()
        if function is quick_run:
            trace = function(item)
            trace.stop = trace.stop if item in values else Stop.CANCELLED
            if item == late:
                # It reaches no iterate in the time of a quick run.
                trace.rows.clear()
            future.set_result(trace)
        else:
            future.set_result(values.get(item, {}))
        return future

    monkeypatch.setattr(results_view, "together", SimpleNamespace(submit=submit))
    parts = results_view.Dragged(CURVES, [quick, failing, late, new], [last])(quick.spec)
    names = [line.name for line in parts["converge.curves"].data]
    assert "Pairwise moment" in names and {f"{job.entry.title} (after release)" for job in (late, new)} < set(names)
    assert theory.predictions(quick)["predicted_overlap"] == 0.25


def test_recommended_solvers_come_first_and_those_that_do_not_apply_share_a_line():
    at = opened_run(model="one-bit-phase-retrieval")
    titles = [box.label for box in at.checkbox]
    assert titles[:2] == ["Pairwise moment", "Link-free refinement"]
    [line] = [caption for caption in at.caption if caption.value.startswith("Not for this problem")]
    mean = catalog.solver("marginal-mean").title
    assert mean in line.value and mean not in titles and "mu_1" in line.help


def test_an_update_of_a_run_sends_its_numbers_and_little_else():
    # Scripts, styles and the common template come once with the page, not with every figure.
    at = finished(opened_run(p="50", n="4000"), "converge")
    sent = {json.loads(one.proto.json).get("name"): one.proto for one in at.get("bidi_component")}
    assert {"converge-measured", "converge-estimate", "converge-curves"} <= set(sent)
    for name in ("converge-measured", "converge-estimate", "converge-curves"):
        data = json.loads(sent[name].json)
        assert sent[name].ByteSize() < len(sent[name].json) + 1500
        figure = json.loads(data["figure"])
        assert len(data["figure"]) < 6000 and figure["data"] and "template" not in figure["layout"]


def test_few_marks_follow_a_dragged_slider_and_all_return_at_rest():
    at = finished(opened_run(p="1000", sparsity="10", solvers="marginal-mean"), "converge")
    x = figure(at, "converge-estimate")["data"][-1]["x"]
    assert len(np.frombuffer(base64.b64decode(x["bdata"]), x["dtype"])) == 1000
    previews = at.session_state["live:tab"].previews
    preview = next(preview for key, preview in previews.items() if key.endswith(".n.slider"))
    # A slow worker needs some tries.
    until(lambda: len(preview.show(0)["converge.estimate"].data[-1].x) == MOVING_MARKS)


LONG = {"solvers": "pairwise-moment", "p": "200", "x-axis": "n", "x-from": "10000", "x-to": "20000", "x-points": "4"}
LONG |= {"trials": "1000"}


def pressed(at, key):
    return drawn(at.button(key=key).click().run())


@pytest.mark.slow
def test_sweeps_count_towards_the_runs_that_a_browser_may_have_also_when_they_resume(monkeypatch):
    monkeypatch.setenv("LRLAB_BROWSER_RUNS", "1")
    at = pressed(opened("sweep", "a" * 32, **LONG, seed="2003"), "transition-run")
    first = at.session_state["transition:run"]
    assert first.alive
    for page in ("converge", "transition"):
        other = pressed(opened(page, "a" * 32), f"{page}-run")
        assert any("runs must be fewer than 1 in this browser, got 1" in error for error in errors(other))
        assert page == "transition" or f"{page}:run" not in other.session_state, "it opens on shipped results"
    pressed(at, "transition-pause")
    assert first.wait(PATIENCE) and first.state == "paused"
    second = pressed(opened("sweep", "a" * 32, **LONG, seed="2004"), "transition-run").session_state["transition:run"]
    at = pressed(drawn(at.run()), "transition-resume")
    assert any("cancel one, or close its tab" in error for error in errors(at)) and not first.alive
    second.cancel()
    assert second.wait(PATIENCE)
    pressed(drawn(at.run()), "transition-resume")
    assert first.alive
    first.cancel()
    assert first.wait(PATIENCE)


GIVEN = {"n": "400", "p": "8", "noise": "0.3", "seed": "1003"}
SMALL_SPECTRUM = {"model": "one-bit-phase-retrieval", "p": "8", "n": "400", "points": "2", "trials": "2"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "given"),
    [
        ("converge", GIVEN | {"solvers": "pairwise-moment,sir", "pairwise-moment.pairs": "all", "max_iter": "3"}),
        ("sweep", GIVEN | {"x-points": "2", "trials": "2", "solvers": "pairwise-moment", "max_iter": "3"}),
        ("spectrum", SMALL_SPECTRUM),
    ],
)
def test_exported_code_gives_the_numbers_of_the_page(page, given, tmp_path, monkeypatch, capsys):
    page, given = current(page, given)
    at = finished(opened(page, **given), page)
    at.session_state["code"], at.session_state["converge-tabs"] = True, "Code"
    at.run()
    assert {"Python (.py)", "Notebook (.ipynb)"} <= {button.proto.label for button in at.get("download_button")}
    run, names, same = at.session_state[f"{page}:run"], {}, partial(pytest.approx, rel=1e-9, abs=1e-9, nan_ok=True)
    monkeypatch.chdir(tmp_path)
    exec(next(block.value for block in at.code if block.value.startswith("import lrlab")), names)
    if page == "converge":
        for name, one in zip(("pairwise_moment", "sir"), run.runs, strict=True):
            assert names[name].stop is one.trace.stop and names[name].metrics == same(one.trace.metrics)
        [first, _] = next(block.value for block in at.code if block.value.startswith("python")).splitlines()
        capsys.readouterr()
        assert main(shlex.split(first)[3:]) == 0
        assert json.loads(capsys.readouterr().out)["metrics"] == same(run.runs[0].trace.metrics)
        return
    table = names["table"]
    if page == "spectrum":
        shown = pd.DataFrame([row for number in sorted(run.values) for row in run.values[number]])
        keys = [name for name in shown if name in table and shown[name].dtype.kind == "f"]
        assert keys and all(np.sort(table[name]) == same(np.sort(shown[name])) for name in keys)
        return
    metric, by = run.sweep.contour.metric, [*run.sweep.grid, "solver"]
    shown = run.results.table(metric).set_index(by)["mean"].dropna().sort_index()
    each = table[np.isfinite(table[metric])].groupby(by)[metric].mean().sort_index()
    assert list(each.index) == list(shown.index) and each.to_numpy() == same(shown.to_numpy())


def test_phase_retrieval_names_its_signal_and_says_what_a_mark_is():
    at = opened("converge", model="phase-retrieval", p="40", m="300", solvers="gauss-newton")
    titles = [figure["layout"]["xaxis"].get("title", {}).get("text", "") for figure in figures(at)]
    assert "true entry  xⱼ" in titles
    [words] = [caption.value for caption in at.caption if caption.value.startswith("A mark: ")]
    assert "real or the imaginary part of an entry" in words and "phase" in words
    short = opened("converge", model="phase-retrieval", p="10", m="100", solvers="gauss-newton")
    assert any("The real parts of all entries come first" in caption.value for caption in short.caption)


def test_excess_risk_is_offered_where_it_exists():
    for model in ("multilabel", "one-bit-multilabel"):
        at = opened("sweep", model=model)
        [show] = [box for box in at.selectbox if box.label == "Show"]
        assert ("excess risk" in show.options) == (model == "multilabel" and not spec(model).absent_metrics)


def test_from_to_and_points_are_off_where_values_are_listed():
    at = opened("sweep", p="8", solvers="marginal-mean", **{"x-values": "20, 40"})
    ends = [box for box in at.number_input if box.label in ("from", "to", "points")]
    assert len(ends) >= 3 and all(box.disabled for box in ends[:3])
    free = opened("sweep", p="8")
    assert not any(box.disabled for box in free.number_input if box.label in ("from", "to", "points"))
    # The first values of the former page.
    [solvers] = [box.value for box in free.multiselect if box.label == "Solvers"]
    assert len(solvers) == 2 and free.number_input(key="transition.trials").value == 10
