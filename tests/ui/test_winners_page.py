"""Phase transitions: who wins where, and the crosshair that shows a grid point's first trial."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.runs.run import run_job, trial_spec
from lrlab.sweeps import session, winners
from lrlab.sweeps.definition import Span, Sweep
from lrlab.ui.sweep import crosshair, sweep_controls, sweep_offers
from tests.ui import driving
from tests.ui.driving import drawn, errors, figure, finished, words
from tests.waiting import PATIENCE, until

SMALL = {
    "rank-one-sensing": {"d1": "8", "d2": "7", "x-from": "1", "x-to": "2", "y-from": "20", "y-to": "120"},
    "compressed-sensing": {"p": "30", "x-from": "0.5", "x-to": "2", "y-from": "0.1", "y-to": "0.3"},
}


@pytest.mark.slow
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("model", "oracle"), [("rank-one-sensing", "rank"), ("compressed-sensing", "sparsity")])
def test_one_button_races_all_solvers_within_its_budget(monkeypatch, model, oracle):
    monkeypatch.setattr(session, "RACE_SECONDS", 2.0)
    at = driving.opened("transition", model=model, **SMALL[model], **{"x-points": "2", "y-points": "2"})
    assert not any("transition.said" in one.proto.body for one in at.get("html"))
    drawn(at.button(key="transition-race").click().run())
    run = at.session_state["transition:run"]
    assert run.sweep.race and len(run.sweep.solvers) > 4
    # Until each solver has a trial at some grid point, nothing is compared: a busy machine needs several budgets.
    for _ in range(60):
        assert run.wait(PATIENCE) and run.state in ("paused", "done")
        drawn(at.run())
        if words(at, "transition.said"):
            break
        drawn(at.button(key="transition-resume").click().run())
    assert not errors(at) and at.query_params["race"] == "true"
    assert "points" in words(at, "transition.said")
    assert any("up to 16 trials per grid point; max_seconds = 5" in driving.read(one.value) for one in at.caption)
    if run.spent:
        assert any("Resume goes on" in one.value for one in at.caption)
    drawing = figure(at, "transition-map")["data"]
    assert len(drawing) > 1 and drawing[-1]["type"] == "heatmap"
    assert "race=True" in sweep_offers.python(run.sweep)
    told = {name for name, known in winners.oracles(run.sweep).items() if oracle in known}
    assert told and told < set(run.sweep.solvers)
    drawn(at.toggle(key=f"transition.know-{oracle}").set_value(False).run())
    text = str(figure(at, "transition-map")["data"][-1]["text"])
    assert not any(f"{run.sweep.titles[name].partition(' (')[0]}:" in text for name in told)
    # Another figure of the same trials, without a new run.
    show = next(box.key for box in at.selectbox if box.label == "Show")
    drawn(at.selectbox(key=show).set_value("success_rate").run())
    assert not errors(at) and at.session_state["transition:run"] is run


def test_a_model_with_one_solver_has_no_race(monkeypatch):
    entries = catalog.solvers_for("rank-one-sensing")
    monkeypatch.setattr(catalog, "solvers_for", lambda model: entries[:1])
    at = driving.opened("transition", model="rank-one-sensing", solvers=entries[0].name)
    button = at.button(key="transition-race")
    assert button.disabled and button.help == "Needs two solvers."


def shown(at, name):
    return next(one.value for one in at.number_input if one.key == f"transition.{name}")


def left(at):
    """Return whether nothing of a race remains but its solvers."""
    drawn(at)
    assert not errors(at) and not {"race", "trials", "max_seconds", "adaptive"} & {*at.query_params}
    return shown(at, "trials") == 5 and at.toggle(key="transition.adaptive").value


@pytest.mark.parametrize("address", [{}, {"max_iter": "77"}])
def test_another_family_begins_with_its_own_number_of_iterations(address):
    at = driving.opened("transition", model="rank-one-sensing", **address)
    assert at.query_params.get("max_iter") == address.get("max_iter")
    for model in ("one-bit-sensing", "phase-retrieval", "inductive-completion"):
        at = at.selectbox(key="transition.model").set_value(model).run()
        assert not errors(at) and "max_iter" not in at.query_params


def test_a_race_leaves_an_adaptive_map_where_it_is_switched_off_and_to_another_model():
    axes = {"rank": Span(1, 2, 2), "m": Span(20, 120, 2)}
    race = winners.race(Sweep(spec=lrlab.spec("rank-one-sensing", d1=8, d2=7), axes=axes, solvers=["altmin"]))
    address = sweep_controls.address(race)
    assert "adaptive" not in address
    for key, value in (("transition.race", False), ("transition.model", "inductive-completion")):
        at = driving.opened("transition", **address, **{"know-rank": "false"})
        assert [at.toggle(key="transition.race").value, shown(at, "trials")] == [True, 16]
        assert not at.toggle(key="transition.know-rank").value
        kind = at.selectbox if isinstance(value, str) else at.toggle
        assert left(kind(key=key).set_value(value).run())
    # A second solver makes no race of it.
    [box] = [box for box in at.multiselect if box.label == "Solvers"]
    assert left(box.set_value(box.options[:2]).run()) and at.query_params["solvers"].count(",") == 1
    box = next(box for box in at.selectbox if box.label == "Show")
    drawn(box.set_value("winner").run())
    assert at.toggle(key="transition.know-rank").value
    drawn(at.selectbox(key="transition.model").set_value("rank-one-sensing").run())
    assert left(at)


def test_a_trial_opens_where_a_solver_other_than_the_first_is_applicable():
    axes = {"x-axis": "noise", "x-values": "0.1, 1", "y-axis": "ratio", "y-values": "1, 20"}
    solvers = {"solvers": "pairwise-moment,marginal-mean", "show": "winner"}
    at = driving.opened("transition", model="one-bit-sensing", p="5", **axes, **solvers)
    # The first solver is refused at n = p, where the sliders begin.
    assert not at.button(key="transition-trial-open").disabled


PLACE = "transition:place"


@pytest.mark.usefixtures("engine")
def test_the_crosshair_shows_the_first_trial_of_a_cell_and_follows_sliders_and_clicks(monkeypatch):
    axes = SMALL["rank-one-sensing"] | {"y-from": "10", "x-points": "2", "y-points": "3", "trials": "1"}
    at = finished(driving.opened("transition", **axes, crosshair="true"), "transition")
    sweep = drawn(at.run()).session_state["transition:run"].sweep
    assert not errors(at)
    ranks, sizes = sweep.grid.values()
    for place in ((0, 2), (1, 0)):
        at.session_state[PLACE] = place
        at.run()
        runs = at.session_state["transition:cell"][1]
        # As the live channel has it.
        until(lambda: (runs.refresh(), not runs.alive)[1])  # noqa: B023
        at.run()
        [job] = crosshair.jobs_at(sweep, place)
        [cell] = [one for one in sweep.cells if tuple(one.axes.values()) == (ranks[place[0]], sizes[place[1]])]
        assert job.spec == trial_spec(cell.job.spec, 0)
        assert figure(at, "transition-cell-curves")["data"][0]["name"] == "Gauss-Newton"
        count = 1 if run_job(job).rows[-1]["weakest_error"] < 0.1 else 0
        assert f"recovered by {count} of 1 solver," in words(at, "transition.cell-sentence")
        lines = figure(at, "transition-map")["data"][-1]
        assert lines["mode"] == "lines" and lines["x"][0] == ranks[place[0]] and lines["y"][-1] == sizes[place[1]]
    drag = at.session_state["live:tab"].previews["transition.crosshair.m"]
    # A slow worker needs some tries.
    until(lambda: any(np.isfinite(one.y).any() for one in drag.show(0)["transition.cell-curves"].data[:1]))
    parts = drag.show(0)
    assert parts["transition.map"].data[-1].y[-1] == sizes[0]
    assert f"{sizes[0]:g} measurements for" in parts["transition.cell-sentence"]
    drawn(at.toggle(key="transition.crosshair").set_value(False).run())
    assert not any("transition.cell-sentence" in one.proto.body for one in at.get("html"))
    click = sweep_offers.open_on_click(sweep, 2, together=True, crossed=True)
    monkeypatch.setattr(crosshair.st, "session_state", {})
    click({"customdata": [ranks[-1], sizes[-1], "Gauss-Newton"]})
    assert crosshair.st.session_state == {PLACE: [1, 2]}
