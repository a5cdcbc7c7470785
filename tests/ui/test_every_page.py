"""Every page is clicked through, switched to every model and lesson and back; who wins where, and the crosshair."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog, lessons
from lrlab.models.axes import axes
from lrlab.protocol import Stop
from lrlab.runs.run import run_job, trial_spec
from lrlab.sweeps import session, winners
from lrlab.sweeps.definition import Span, Sweep
from lrlab.ui.shared import code
from lrlab.ui.sweep import sweep_controls, sweep_offers
from tests.test_plugins import FILE, MODEL, SENTENCE
from tests.thorough import a_third
from tests.ui import driving
from tests.ui.driving import PAGES, accepted, components, drawn, errors, figure, figures, finished, opened, read, words
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.usefixtures("engine")
TINY = {"p": "5", "x-points": "2", "y-points": "2", "trials": "1", "max_iter": "3", "model": "one-bit-sensing"}
WITH_MODELS = {
    "converge": {"n": "60", "p": "5", "max_iter": "3"},
    "spectrum": {"n": "60", "p": "5", "points": "2", "trials": "2"},
    "transition": TINY,
}


def models_on(page):
    return [name for name, entry in catalog.MODEL_ENTRIES.items() if entry.along or page != "spectrum"]


def controls(at):
    """Return the labels of all controls of a page, whether or not its run is over."""
    kinds = (at.selectbox, at.multiselect, at.number_input, at.text_input, at.toggle, at.checkbox, at.button)
    return sorted(one.label for kind in kinds for one in kind if one.label not in ("Cancel", "Pin this run"))


def switched(at, page, model):
    """Choose another model while a result is shown; the result stays, and the page can be run."""
    drawn(at.selectbox(key=f"{page}.model").set_value(model).run())
    assert not errors(at) and at.selectbox(key=f"{page}.model").value == model
    assert not at.button(key=f"{page}-run").disabled and f"{page}:run" in at.session_state
    assert any(data.get("figure") for data in components(at))
    return at


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_MODELS)
def test_models_are_switched_while_a_result_is_shown(page):
    at, models, before = finished(opened(page, **WITH_MODELS[page]), page), models_on(page), {}
    for model in [*models, *reversed(models)]:
        switched(at, page, model)
        assert controls(at) == before.setdefault(model, controls(at)), model
    again = opened(page, **at.query_params)
    assert not errors(again) and controls(again) == controls(opened(page, model=model))


@pytest.mark.slow
@pytest.mark.parametrize("axes", [{}, {"y-axis": "none"}], ids=["plane", "line"])
def test_a_result_of_each_family_stays_while_a_model_of_every_other_one_is_chosen(axes):
    page, at = "transition", opened("transition", **TINY, **axes)
    models = [*{catalog.family(model).name: model for model in models_on(page)}.values()]
    for k, shown in enumerate(models):
        drawn(at.selectbox(key=f"{page}.model").set_value(shown).run())
        run = finished(at, page).session_state[f"{page}:run"]
        assert run.results.done
        # One function draws the lines of all models: another one is enough.
        for model in [models[k - 1]] if axes else models:
            assert switched(at, page, model).session_state[f"{page}:run"] is run
    drawn(at.number_input(key=f"{page}.trials").set_value(0).run())
    assert errors(at) and any(data.get("figure") for data in components(at)), "a refused setting removes no result"


@pytest.mark.parametrize("model", catalog.MODELS)
def test_names_of_axes_are_short_and_different(model):
    titles = axes(catalog.MODELS[model])
    assert len({*titles.values()}) == len(titles) and max(map(len, titles.values())) <= 26
    if "condition" in titles:
        assert titles["condition"] == "condition number, κ"


@pytest.mark.parametrize("model", ["rank-one-sensing", "polynomial-network"])
def test_a_sweep_over_the_condition_number_holds_m_near_the_threshold(model):
    at = opened("transition", model=model, **{"x-axis": "condition", "y-axis": "none"})
    [m] = [number.value for number in at.number_input if number.label == "m"]
    held = catalog.spec(model, **catalog.model_entry(model).held)
    assert 1.2 < m / held.degrees_of_freedom < 2.2


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted(path.stem for path in PAGES.glob("*.py")))
def test_a_page_opens_without_an_error_and_each_of_its_buttons_can_be_clicked(page):
    at = opened(page)
    assert not errors(at) and at.title[0].value
    for one in figures(at):
        axes = [axis for name, axis in one["layout"].items() if name.startswith(("xaxis", "yaxis"))]
        assert axes and all(axis.get("title", {}).get("text") for axis in axes if axis.get("visible", True))
    for key in [button.key for button in at.button]:
        present = [button for button in at.button if button.key == key and not button.disabled]
        if present:
            drawn(present[0].click().run())
    again = opened(page, **at.query_params)
    assert not errors(again) and again.title[0].value == at.title[0].value


WITHOUT_SPECTRUM = [name for name, entry in catalog.MODEL_ENTRIES.items() if not entry.along]


@pytest.mark.parametrize("model", WITHOUT_SPECTRUM)
def test_a_model_without_a_spectrum_is_refused(model):
    at = opened("spectrum", model=model, seed="3")
    [sentence] = errors(at)
    assert sentence.startswith("model must be one of ") and f"got {model}" in sentence
    assert catalog.MODELS[model].title not in at.selectbox(key="spectrum.model").options
    switch = at.selectbox(key="spectrum.model").set_value("phase-retrieval").run()
    assert not errors(drawn(switch)) and any(data.get("figure") for data in components(switch))


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Give the server a file of custom solvers, a model, and a broken file."""
    monkeypatch.setenv("LRLAB_PLUGINS", "")
    files = {"own_solvers.py": FILE, "own_model.py": MODEL, "broken.py": "import nothing_here"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    catalog.load([tmp_path / name for name in files])


@pytest.mark.usefixtures("own")
def test_a_file_runs_on_converge_and_its_failure_is_a_sentence():
    at = finished(accepted("converge", n="200", p="8", solvers="own-mean,own-failure,sir"), "converge")
    runs = {run.job.solver: run for run in at.session_state["converge:run"].runs}
    assert runs["own-mean"].trace.rows and runs["sir"].trace.rows and runs["own-failure"].error == SENTENCE
    at.session_state["converge-tabs"] = "Code"
    at.run()
    python = next(block.value for block in at.code if block.value.startswith("import lrlab"))
    assert python.splitlines()[1] == "lrlab.register('own_solvers.py')" and "'own-mean'" in python
    assert code.imports("one-bit-sensing", ["sir"]) == "import lrlab"


@pytest.mark.usefixtures("own")
def test_a_model_in_a_file_is_run_by_the_solvers_of_its_family():
    given = {"model": "own-rank-one", "m": "60", "d1": "4", "d2": "4", "rank": "1", "solvers": "gauss-newton"}
    [run] = finished(accepted("converge", **given), "converge").session_state["converge:run"].runs
    assert run.job.spec.model == "own-rank-one" and run.trace.stop is Stop.CONVERGED


@pytest.mark.usefixtures("own")
def test_a_broken_file_is_named_on_every_page():
    at = opened("home")
    [sentence] = [read(warning.value) for warning in at.warning]
    assert sentence.startswith("Left out: broken.py: does not import (ModuleNotFoundError: No module named")


@pytest.mark.slow
@pytest.mark.parametrize("name", a_third([*lessons.lessons()], parts=6))
def test_a_lesson_is_gone_through_step_by_step(name):
    lesson, at = lessons.load(name), accepted("learn", lesson=name)
    for k, step in enumerate(lesson.steps):
        assert at.header[0].value == step.title
        assert len(at.latex) == bool(step.equation)
        if step.question:
            assert len(figures(at)) == 1
            at.button(key="learn-choice-0").click().run()
            right = step.question.right(step.number("answer")) == 0
            said = "**Yes.**" if right else f"**No.** {step.filled(step.question.choices[0].why)}"
            assert any(word.value.startswith(said) for word in at.markdown)
            [slider] = [data for data in components(at) if "texts" in data]
            assert step.figure.slider.values[slider["at"]] == step.start, "the slider goes to what was asked"
            assert step.figure.slider.values[slider["origin"]] == step.figure.slider.before
        assert len(figures(at)) == 1
        last, key = step.figure.slider.values[-1], f"learn.{name}.{k}"
        at.session_state[f"{key}:at"] = last
        at.run()
        assert step.figure.sentence(last) == words(at, f"{key}.words")
        at.button(key="learn-next").click().run()
        assert not at.exception and at.query_params["step"] == str(k + 2)
    assert lesson.closing in [m.value for m in at.markdown]
    following = [one.title for one in lessons.lessons().values() if one.place == lesson.place + 1]
    assert [one.label for one in at.button if one.key == "learn-following"] == [f"Next lesson: {t}" for t in following]
    at.button(key="learn-all").click().run()
    assert at.title[0].value == "Learn" and "lesson" not in at.query_params
    [badges] = [one.value for one in at.caption if "badge[done]" in one.value]
    assert f"about {lesson.minutes} minutes" in badges


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "address", "sentence"),
    [
        ("transition", {"model": "one-bit-sensing", "x-axis": "ratio"}, "different quantities"),
        ("transition", {"trials": "1000", "x-points": "60", "y-points": "60"}, "lower trials or points"),
        ("sweep", {"x-values": "1, two"}, "values must be a number, got two"),
        ("sweep", {"rule.metric": "error", "rule.level": "nan"}, "level must be a number"),
        ("learn", {"lesson": "nothing"}, "lesson must be one of draw-the-transition, "),
        ("classroom", {"code": "NOPE"}, "of an open class, got NOPE: ask your teacher; it may have ended"),
        ("papers", {"paper": "jain2013-claim3", "at": "11"}, "one of 10, 20, 50, 100"),
        ("papers", {"paper": "yu2014-table3"}, "data must be a folder with data sets"),
    ],
)
def test_what_an_address_cannot_have_is_one_sentence(page, address, sentence, monkeypatch, tmp_path):
    monkeypatch.setenv("LRLAB_DATA", str(tmp_path / "none"))
    at = opened(page, **address)
    assert sum(sentence in error for error in errors(at)) == 1, errors(at)
    if address.get("paper") == "yu2014-table3":
        assert at.button(key="papers-run").disabled


def test_the_old_address_of_the_lecture_leads_to_the_lessons():
    assert accepted("learn", lecture="true").title[0].value == "Learn"


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
    monkeypatch.setattr(catalog, "solvers_for", lambda *given: entries[:1])
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
        [job] = sweep_offers.jobs_at(sweep, place)
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
    monkeypatch.setattr(sweep_offers.st, "session_state", {})
    click({"customdata": [ranks[-1], sizes[-1], "Gauss-Newton"]})
    assert sweep_offers.st.session_state == {PLACE: [1, 2]}
