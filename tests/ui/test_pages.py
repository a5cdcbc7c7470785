"""Every page on the real engine, without a browser: content, buttons, refusals."""

import json
import re

import numpy as np
import pytest

from lrlab import catalog
from lrlab.presets import sweeps as library
from lrlab.runs import theory
from lrlab.runs.run import Trial, run_trial, trial_spec
from lrlab.store.store import get_shared_store
from lrlab.sweeps import session
from lrlab.sweeps.toml import parse
from lrlab.ui.converge.results_view import recoveries
from lrlab.ui.home import EXPLORE, YOURS, cards, more_cards
from lrlab.ui.sweep.sweep_controls import address
from tests.sweeps.test_session import Gate
from tests.thorough import but
from tests.ui.driving import components, drawn, errors, figure, figures, finished, opened, place, unfold, words
from tests.waiting import PATIENCE, until

SMALL = {"n": "400", "p": "8"}
ONE_BIT = {"model": "one-bit-sensing"}


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def status(at):
    """Return the words for screen readers about the run of a page."""
    return [data["words"] for data in components(at) if "words" in data]


def test_home_opens_through_the_app():
    at = opened("home")
    assert not errors(at)
    assert len(at.get("page_link")) == len(cards()) + 2 + 7 == 15, "the frame has a link to each page"
    shown = unfold(at, "home", "more").run()
    assert len(shown.get("page_link")) == 8 + len(more_cards()), "drawn again without its frame"


@pytest.mark.parametrize("card", [*EXPLORE, *YOURS], ids=lambda card: card.title)
def test_each_card_of_the_home_page_opens_a_page_that_runs(card):
    at = opened(card.page, **card.address)
    assert not errors(at) and "run" not in at.query_params
    running = at.session_state[f"{card.page}:run"]
    assert running is not None
    running.cancel()


@pytest.mark.slow
def test_converge_runs_to_the_end_and_shows_scores_and_then_theory_at_the_size_of_the_run():
    given = {"n": "60", "p": "3", "noise": "0.77"}
    at = finished(opened("converge", solvers="pairwise-moment", max_iter="1000", **given), "converge")
    [run] = at.session_state["converge:run"].runs
    assert run.state == "done" and run.trace.stop.name == "CONVERGED"
    rows = words(at, "converge.cards")
    assert "Converged" in rows and f"{run.trace.rows[-1]['error']:.4g}" in rows
    until(lambda: drawn(at.run()) and not [*theory.not_cached([run.job.spec]), *theory.missing_draws([run.job])])
    at.run()
    numbers = theory.predictions(run.job)
    assert numbers["best_error_low"] < numbers["best_error"] < numbers["best_error_high"]
    assert f"Bayes-optimal {numbers['best_error']:.2g}" in words(at, "converge.sentence")
    assert f"theory {numbers['predicted_overlap']:.4g}" in words(at, "converge.cards")
    curves = figure(at, "converge-curves")["data"]
    assert curves[0]["name"] == "Pairwise moment" and any(trace.get("name") == "Bayes-optimal" for trace in curves)


@pytest.mark.parametrize(("show", "kind"), [("precision_3", "linear"), ("hamming", "log")])
def test_shares_of_successes_are_drawn_on_a_linear_axis(show, kind):
    at = opened("converge", model="multilabel", n="200", d="8", show=show)
    assert figure(at, "converge-curves")["layout"]["yaxis"]["type"] == kind


def test_settings_of_the_address_and_of_the_page_reach_the_job():
    given = {"model": "flipped-logistic", "n": "8000", "p": "8", "flip": "0.2", "solvers": "sir", "seed": "7"}
    at = opened("converge", **given, show="overlap", tol="0")
    drawn(unfold(at, "converge", "advanced", "more", "limits", "sir-options").run())
    key = "converge.flipped-logistic"
    assert [at.number_input(key=f"{key}.{name}").value for name in ("n", "flip")] == [8000, 0.2]
    assert at.number_input(key="converge.seed").value == 7
    assert at.checkbox(key=f"{key}.sir").value and not at.checkbox(key=f"{key}.pairwise-moment").value
    assert figure(at, "converge-curves")["layout"]["yaxis"]["title"]["text"].startswith("squared overlap")
    at.checkbox(key=f"{key}.pairwise-moment").set_value(True)
    unfold(at, "converge", "pairwise-moment-options").run()
    at.number_input(key=f"{key}.flip").set_value(0.25).run()
    at.number_input(key="converge.max_iter").set_value(3).run()
    at.selectbox(key=f"{key}.pairwise-moment.pairs").set_value("all").run()
    at = finished(at, "converge")
    [run] = [one for one in at.session_state["converge:run"].runs if one.job.solver == "pairwise-moment"]
    assert run.job.spec == catalog.spec("flipped-logistic", n=8000, p=8, flip=0.25, seed=7)
    assert dict(run.job.options)["pairs"] == "all" and len(run.trace.rows) == 3
    assert at.query_params["flip"] == "0.25" and at.query_params["pairwise-moment.pairs"] == "all"


def test_each_mistake_in_an_address_is_one_sentence_and_the_rest_is_used():
    wrong = {"n": "-1", "nn": "3", "model": "one-bit", "solvers": "sirr", "show": "eror"}
    at = opened("converge", p="12", **wrong)
    for sentence in (
        "n must be a whole number in 2..1000000, got -1: raise n to 2 or more",
        'parameter in the address must be one that this page has, got nn: did you mean "n"?',
        'did you mean "one-bit-sensing"?',
        'did you mean "sir"?',
        'did you mean "error"?',
    ):
        assert sum(sentence in error for error in errors(at)) == 1, errors(at)
    assert at.number_input(key="converge.one-bit-sensing.p").value == 12
    assert not at.button(key="converge-run").disabled
    assert not {*wrong} & set(at.query_params)
    at.number_input(key="converge.one-bit-sensing.p").set_value(13).run()
    assert not errors(at)


def test_an_address_that_has_not_reached_the_browser_undoes_nothing():
    at = opened("converge", p="12")
    at.number_input(key="converge.one-bit-sensing.n").set_value(4321).run()
    assert at.query_params == {"n": "4321", "p": "12"} and place(at, "slider of n") == "4321"
    del at.query_params["n"]
    at.number_input(key="converge.one-bit-sensing.noise").set_value(0.2).run()
    assert at.query_params == {"n": "4321", "p": "12", "noise": "0.2"}
    assert at.number_input(key="converge.one-bit-sensing.n").value == 4321


def test_two_pages_open_on_shipped_results_which_are_those_of_todays_code_and_run_computes_others():
    for diagram in (opened("transition"), opened("transition", model="phase-retrieval")):
        shown = diagram.session_state["transition:run"]
        row, job = next(iter(shown.results.trial_rows())), shown.sweep.jobs[0]
        own = run_trial(Trial(job, 0))
        assert (own.seed, own.stop, own.iterations) == (row["seed"], row["stop"], row["iterations"])
        assert own.scores["error"] == pytest.approx(row["error"], rel=1e-4)
    spectrum = opened("spectrum")
    plan, run = spectrum.session_state["spectrum:about"], spectrum.session_state["spectrum:run"]
    values, todays = ([row["value"] for row in rows] for rows in (run.values[7], plan.measure(plan.draws[7])))
    assert values == pytest.approx(todays, rel=1e-4)
    assert run.shipped and not spectrum.button(key="spectrum-run").click().run().session_state["spectrum:run"].shipped


@pytest.mark.slow
@pytest.mark.parametrize("page", ["converge", "spectrum"])
def test_an_address_opens_on_a_run_that_neither_changes_nor_bad_input_end(page):
    at = opened(page, **ONE_BIT, **SMALL)
    following = at.session_state[f"{page}:run"]
    assert "Press Run" not in words(at, f"{page}.sentence")
    refused = ["p must be a whole number in 2..10000, got -1: raise p to 2 or more"]
    for p, sentences in ((9, []), (-1, refused), (10, [])):
        at.number_input(key=f"{page}.one-bit-sensing.p").set_value(p).run()
        assert not at.exception and errors(at) == sentences
        assert at.button(key=f"{page}-run").disabled == bool(sentences)
        assert at.session_state[f"{page}:run"] is following
        assert page == "spectrum" or len(figures(at)) == 3


def test_a_refused_solver_has_its_reason_below_its_name_and_the_table_has_what_others_plot():
    others = ["pairwise-moment", "link-free-refinement"]
    solvers = ",".join(["marginal-mean", *others])
    at = opened("converge", model="one-bit-phase-retrieval", solvers=solvers, **SMALL)
    assert any("mu_1" in caption.value and "Unavailable" in caption.value for caption in at.caption)
    at = finished(at, "converge")
    at.session_state["converge-tabs"] = "Table"
    drawn(at.run())
    runs, result = at.session_state["converge:run"].runs, at.dataframe[0].value
    assert [run.job.solver for run in runs] == list(result["solver"].unique()) == others
    assert list(result["error"]) == [row["error"] for run in runs for row in run.trace.rows]
    assert len(at.get("download_button")) == 1


@pytest.mark.slow
def test_a_picture_is_recovered_and_can_be_led_through():
    at = drawn(unfold(opened("converge", **SMALL), "converge", "advanced").run())
    at.selectbox(key="converge.one-bit-sensing.truth").set_value("digit-3").run()
    assert at.number_input(key="converge.one-bit-sensing.p").value == 64
    at.number_input(key="converge.one-bit-sensing.n").set_value(4000).run()
    at = finished(at, "converge")
    data = next(data for data in components(at) if data.get("name") == "converge-picture")
    assert json.loads(data["figure"])["data"][0]["type"] == "heatmap"
    frames = json.loads(data["frames"])["frames"]
    assert frames[-1]["name"] == f"iteration {max(len(r.trace.rows) for r in at.session_state['converge:run'].runs)}"


def test_spectrum_measures_beside_the_curves():
    at = opened("spectrum", points="3", trials="2", **{"from": "0", "to": "1.44"}, **SMALL)
    assert any("noise variance, σ² (from 0, σ = 0 to 1.44, σ = 1.2)" in caption.value for caption in at.caption)
    assert place(at, "noise variance, σ²") == "0.72, σ = 0.849"
    assert len(figures(at)) == 3 and any("all 8 eigenvalues" == trace["name"] for trace in figures(at)[0]["data"])
    at = finished(at, "spectrum")
    assert at.session_state["spectrum:run"].done == 6
    dots = [trace for trace in figures(at)[1]["data"] if "simulated" in trace["name"]]
    assert len(dots) == 2
    at.session_state["spectrum-trials"] = True
    at.run()
    # Three values, two trials, two moments, two eigenvalues.
    assert len(at.dataframe[0].value) == 24
    at.selectbox(key="spectrum.one-bit-sensing.axis").set_value("ratio").run()
    assert not errors(at) and "noise variance" in figures(at)[1]["layout"]["xaxis"]["title"]["text"]


def test_spectrum_of_a_design_without_theory_shows_only_trials():
    at = finished(opened("spectrum", points="3", trials="2", design="student", **SMALL), "spectrum")
    assert not at.exception and not errors(at)
    for shown in figures(at)[:2]:
        names = [trace["name"] for trace in shown["data"]]
        assert any("simulated" in name for name in names) and not any("theory" in name for name in names)
    assert any("none is shown" in caption.value for caption in at.caption)


@pytest.mark.slow
def test_figure_1_is_one_click_away():
    at = opened("spectrum")
    at.session_state["spectrum:autorun"] = False
    at.button(key="spectrum-preset-2").click().run()
    assert not at.exception and not errors(at)
    assert at.query_params["model"] == "one-bit-phase-retrieval"
    plan = at.session_state["spectrum:about"]
    assert (plan.spec.n, plan.spec.p, plan.trials, len(plan.along.values)) == (3000, 20, 10, 18)
    # On a quick machine it is over by now.
    if "spectrum-cancel" in {button.key for button in at.button}:
        at.button(key="spectrum-cancel").click().run()
    assert not at.exception


TINY = {"crosshair": "false", "x-points": "2", "y-points": "2", "trials": "2"}
TINY |= {"y-from": "10", "y-to": "40", "p": "6"} | ONE_BIT


def test_transition_measures_all_grid_points_and_offers_their_table():
    whole = finished(opened("transition", adaptive="false", theory="false", **TINY), "transition")
    run = whole.session_state["transition:run"]
    assert (run.state, run.done) == ("done", 8), run.error
    assert not any(trace.get("name") == "asymptotic threshold" for trace in figures(whole)[0]["data"])
    whole.session_state["transition-table"] = True
    whole.run()
    table = whole.dataframe[0].value
    assert list(table["trials"]) == [2] * 4 and table["mean"].between(0, 1).all()
    assert list(table["shown"]) == list(table["mean"]) and not table["inferred"].any()
    assert list(table["seed"]) == [trial_spec(cell.job.spec, 0).seed for cell in run.sweep.cells]
    assert len(whole.get("download_button")) == 4 and not whole.exception


@pytest.mark.slow
def test_a_finished_adaptive_map_is_filled_and_says_how_many_trials_it_spared():
    wanted = {"x-points": "4", "y-points": "4", "budget": "64", "x-to": "1", "y-from": "2", "y-to": "100"}
    at = finished(opened("transition", **TINY | wanted | {"trials": "4"}), "transition")
    run, table = at.session_state["transition:run"], at.session_state["transition:data"][1].cells("overlap")
    assert (
        run.sweep.adaptive
        and 0 < run.done < run.total == 64
        and table["inferred"].any()
        and table["value"].notna().all()
    )
    sentence = f"Done; {64 - run.done} of 64 trials were not needed."
    assert sentence in [caption.value for caption in at.caption] and f"The run is over. {sentence}" in status(at)
    measured, inferred = [trace for trace in figures(at)[0]["data"] if trace["type"] == "heatmap"]
    assert "hoverinfo" not in measured and measured["hovertemplate"].startswith("σ² = %{customdata[0]")
    assert inferred["opacity"] < 1 and inferred["hoverinfo"] == "skip"


def test_refused_cells_are_omitted_with_the_reason():
    at = finished(opened("transition", **TINY | {"y-from": "1"}), "transition")
    assert any("Missing: 2 grid points.] n must be at least 2p" in caption.value for caption in at.caption)


def test_several_solvers_are_laid_over_one_another_or_side_by_side():
    wanted = TINY | {"model": "phase-retrieval", "x-from": "4", "x-to": "8", "y-from": "1", "y-to": "8", "p": "8"}
    both = {"solvers": "gauss-newton,wirtinger-flow", "adaptive": "false"}
    at = finished(opened("transition", **wanted, **both), "transition")
    [over] = figures(at)
    assert {"half succeed, Gauss-Newton", "half succeed, Wirtinger flow"} <= {t.get("name") for t in over["data"]}
    at.toggle(key="transition.apart").set_value(True).run()
    data = json.loads(at.get("bidi_component")[-1].proto.json)
    wide, narrow = json.loads(data["figure"])["layout"], json.loads(data["narrow"])
    words = [note["text"] for note in wide["annotations"]]
    regions = {f"{name}<br>asymptotically" for name in ("impossible", "hard", "possible")}
    assert words[:2] == ["Gauss-Newton", "Wirtinger flow"] and set(words[2:]) <= regions
    assert narrow["height"] > wide["height"]


def test_a_paused_sweep_is_resumed_from_the_list_of_past_ones(monkeypatch):
    gate = Gate()
    monkeypatch.setattr(session.SweepRun.go_on, "__defaults__", (gate,))
    # Of its own seed, so that the store has none of its trials.
    given = {**SMALL, "seed": "77", "solvers": "marginal-mean", "x-points": "3", "trials": "10"}
    at = opened("sweep", **given)
    at.button(key="transition-run").click().run()
    assert gate.waits.wait(PATIENCE)
    run, browser = at.session_state["transition:run"], at.session_state["browser:key"]
    at.button(key="transition-pause").click().run()
    gate.open.set()
    assert run.wait(PATIENCE) and (run.state, run.done) == ("paused", 6), run.error
    at.run()
    assert any("Paused: " in caption.value for caption in at.caption)
    # A reload shows the same page, also below a sweep that no longer exists.
    with get_shared_store().open() as store:
        session.note(store, session.Past(browser, 'model = "gone"', "Old", "done", 1, 1, 1e11))
        shown = opened("sweep", browser, **given).session_state["transition:run"]
        session.forget(store, browser, 'model = "gone"')
    assert shown.wait(PATIENCE) and (shown.state, shown.done) == ("paused", 6)
    again = opened("sweep", browser)
    again.session_state["transition-past"] = True
    again.run()
    [line] = [element.value for element in again.markdown if "Mean of y x" in element.value]
    assert "paused, 6 of 30 trials, " in line
    again.button(key="transition-open-0").click().run()
    looked = again.session_state["transition:run"]
    again.session_state["transition-table"] = True
    assert looked.wait(PATIENCE) and (looked.state, looked.done, looked.sweep) == ("paused", 6, run.sweep)
    again.run()
    again.button(key="transition-resume").click().run()
    assert looked.wait(PATIENCE) and (looked.state, looked.done) == ("done", 30)
    again.run()
    assert not again.exception and "done, 30 of 30" in " ".join(element.value for element in again.markdown)
    again.button(key="transition-forget-0").click().run()
    assert "Mean of y x" not in " ".join(element.value for element in again.markdown)


@pytest.mark.slow
def test_a_sweep_along_one_axis_has_lines_with_bands_and_theory():
    one = {"solvers": "pairwise-moment,marginal-mean", "x-values": "20, 40 80", "trials": "3", **SMALL}
    at = finished(opened("sweep", **one), "transition")
    run = at.session_state["transition:run"]
    assert run.sweep.grid == {"ratio": (20.0, 40.0, 80.0)} and run.done == 18
    [chart] = figures(at)
    names = [trace.get("name") for trace in chart["data"]]
    pairwise, mean = run.sweep.titles.values()
    assert {pairwise, mean, f"theory, {pairwise}"} <= set(names)
    assert chart["layout"]["xaxis"]["type"] == "log"
    titles = {
        "success_rate": "success rate (overlap > 0.5)",
        "fraction_of_best": "median overlap / best possible overlap",
    }
    for metric, title in titles.items():
        at.selectbox(key=next(box.key for box in at.selectbox if box.label == "Show")).set_value(metric).run()
        [chart] = figures(at)
        assert chart["layout"]["yaxis"]["title"]["text"] == title
    assert chart["layout"]["yaxis"]["type"] == "linear"
    at.selectbox(key=next(box.key for box in at.selectbox if box.label == "Show")).set_value("overlap").run()
    assert "information-theoretic limit" in [trace.get("name") for trace in figures(at)[0]["data"]]


@pytest.mark.slow
@pytest.mark.parametrize("name", but(library.names()[:1], library.names()))
def test_a_sweep_of_the_library_is_shown_with_its_description(name):
    at = opened("sweep")
    at.button(key=f"transition-{name}").click().run()
    at.session_state["transition-table"] = True
    at.run()
    assert not at.exception and not errors(at)
    known = library.load(name)
    assert known.title in [element.value for element in at.header]
    given = catalog.given(known.sweep.solvers, known.sweep.spec.model)
    assert any(caption.value.endswith(f"the fixed parameters. {given}".rstrip()) for caption in at.caption)
    run = at.session_state["transition:run"]
    assert run.wait(PATIENCE) and (run.sweep, run.done) == (known.sweep, 0)
    at.run()
    assert not at.button(key="transition-run").disabled
    stored = f"0 of {run.total:,} trials are stored. Press Run to compute the others."
    assert stored in [caption.value for caption in at.caption] and stored in status(at)
    again = opened("sweep", **address(known.sweep))
    again.session_state["code"] = True
    again.run()
    assert not errors(again) and parse(again.code[2].value) == known.sweep


def test_a_past_sweep_that_no_longer_exists_is_one_sentence():
    at = opened("transition", **TINY)
    row = (at.session_state["browser:key"], 'model = "gone"', "Old", "running", 1, 2, 0.0)
    with get_shared_store().open() as store:
        session.note(store, session.Past(*row))
    at.session_state["transition-past"] = True
    at.run()
    assert any(re.search("interrupted, 1 of 2 trials, .*[0-9] days ago", element.value) for element in at.markdown)
    at.button(key="transition-open-0").click().run()
    assert any("solvers must be given" in error for error in errors(at)) and not at.exception


def test_a_page_whose_store_cannot_be_used_reports_it(monkeypatch, tmp_path):
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("my thesis")
    monkeypatch.setenv("LRLAB_STORE", str(thesis))
    assert any("it holds something else" in warning.value for warning in opened("transition", **TINY).warning)


@pytest.mark.slow
def test_one_bit_labels_run_on_converge_and_estimates_have_the_scale_of_the_truth():
    small = {"m": "1500", "d1": "12", "d2": "10", "rank": "2", "batches": "4"}
    solvers = "one-bit-power,one-bit-likelihood,leml-squared"
    at = finished(opened("converge", model="one-bit-multilabel", solvers=solvers, **small), "converge")
    runs = at.session_state["converge:run"].runs
    assert [len(run.trace.rows) for run in runs] == [4, 4, 4] and "label auc" in words(at, "converge.cards")
    titles = ["ground truth", *(catalog.solver(name, "one-bit-multilabel").title for name in solvers.split(","))]
    assert [trace["name"] for trace in figure(at, "converge-picture")["data"]] == titles
    for shown in recoveries(runs[0].job.spec, runs):
        for W in (shown.estimate, *(shown.comparable(estimate) for _, estimate in shown.history)):
            assert np.linalg.norm(W.dense(), axis=0) == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize(
    ("model", "values", "bars_shown"),
    [
        ("rank-one-sensing", {"m": "200", "d1": "12", "d2": "10", "rank": "2"}, 3),
        ("phase-retrieval", {"m": "120", "p": "12"}, 2),
    ],
)
def test_spectrum_shows_the_moment_of_low_rank_models(model, values, bars_shown):
    at = finished(opened("spectrum", model=model, points="2", trials="2", **values), "spectrum")
    eigenvalues, overlap = figures(at)
    bars = [trace for trace in eigenvalues["data"] if trace.get("error_y")]
    assert len(bars) == bars_shown and all(trace["x"] for trace in bars)
    assert overlap["layout"]["yaxis"]["range"] == [-0.02, 1.02]
