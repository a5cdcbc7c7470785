"""Controls of *converge*: sliders beside numbers, new data, runs on change, recommended solvers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from lrlab import catalog
from lrlab.engine.live import LiveRuns
from lrlab.engine.messages import Inbox, NewIterates, Queued, Started
from lrlab.figures.build import Figure
from lrlab.parameters import declared
from lrlab.runs.job import make_job
from lrlab.ui.converge import many_seeds, results_view
from lrlab.ui.converge.run_controls import CurveSettings
from tests.ui.driving import components, errors, finished, place, words

PAGE = Path(__file__).parents[2] / "pages" / "converge.py"


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def opened(**address):
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in {"n": "400", "p": "8", "solvers": "pairwise-moment", **address}.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception and not errors(at)
    return at


def texts(at):
    return [element.value for element in (*at.markdown, *at.caption)]


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_sliders_of_the_main_parameters_have_round_values_and_the_default(model):
    known = declared(catalog.MODELS[model])
    numbers = [known[name] for name in catalog.model_entry(model).main if known[name].kind in (int, float)]
    assert len(numbers) >= 2 and len(catalog.model_entry(model).main) in (3, 4)
    for parameter in numbers:
        values = list(catalog.positions(model, parameter.name))
        assert parameter.default in values and values == sorted(set(values)) and len(values) > 5
        assert all(parameter.check(value) == value for value in values)


@pytest.mark.parametrize(("model", "name"), [("rank-one-sensing", "m"), ("one-bit-completion", "observed")])
def test_a_slider_has_the_range_of_its_family(model, name):
    entry, values = catalog.model_entry(model), catalog.positions(model, name)
    low, high, _ = entry.family.ranges[name]
    assert entry.first_range(name) == entry.family.ranges[name]
    assert values[0] == pytest.approx(low, rel=0.05) and values[-1] >= high


@pytest.mark.parametrize("model", catalog.MODELS)
def test_a_slider_stands_first_at_an_end_only_if_that_is_a_bound(model):
    entry = catalog.model_entry(model)
    for parameter in declared(entry.spec).values():
        if parameter.kind in (int, float) and not parameter.choices:
            values, name = catalog.positions(model, parameter.name), parameter.name
            for first in {parameter.default, entry.held.get(name, parameter.default)}:
                assert values[0] < first < values[-1] or first in (parameter.low, parameter.high), (name, first)


def test_a_slider_stands_at_its_number_which_may_be_any():
    at = opened()
    number = at.number_input(key="converge.one-bit-sensing.n")
    assert place(at, "slider of n") == str(number.value)
    number.set_value(4321).run()
    assert at.query_params["n"] == place(at, "slider of n") == "4321"


def test_a_press_sent_with_the_address_before_it_was_written_undoes_nothing():
    at = opened()
    before = dict(at.query_params)
    at.number_input(key="converge.one-bit-sensing.n").set_value(4321).run()
    assert at.query_params["n"] == "4321"
    at.query_params.clear()
    for name, value in before.items():
        at.query_params[name] = value
    at.button(key="converge-run").click().run()
    assert at.number_input(key="converge.one-bit-sensing.n").value == 4321 and at.query_params["n"] == "4321"


def test_another_model_keeps_the_solvers_that_it_has_and_its_own_come_back_with_the_family():
    at = opened(solvers="pairwise-moment,sir")
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
    at = finished(opened(), "converge")
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


def test_recommended_solvers_come_first_and_those_that_do_not_apply_share_a_line():
    at = opened(model="one-bit-phase-retrieval")
    titles = [box.label for box in at.checkbox]
    assert titles[:2] == ["Pairwise moment", "Link-free refinement"]
    [line] = [caption for caption in at.caption if caption.value.startswith("Not for this problem")]
    mean = catalog.solver("marginal-mean").title
    assert mean in line.value and mean not in titles and "mu_1" in line.help


def test_an_update_of_a_run_sends_its_numbers_and_little_else():
    # Once with the page, not with every figure: scripts, styles, what all figures have in common.
    at = finished(opened(p="50", n="4000"), "converge")
    sent = {json.loads(one.proto.json).get("name"): one.proto for one in at.get("bidi_component")}
    assert {"converge-measured", "converge-estimate", "converge-curves"} <= set(sent)
    for name in ("converge-measured", "converge-estimate", "converge-curves"):
        data = json.loads(sent[name].json)
        assert sent[name].ByteSize() < len(sent[name].json) + 1500
        figure = json.loads(data["figure"])
        assert len(data["figure"]) < 6000 and figure["data"] and "template" not in figure["layout"]
        assert '"f8"' not in data["figure"]


def test_many_seeds_have_medians_bands_and_the_time_to_an_accuracy():
    at = opened(solvers="pairwise-moment,marginal-mean", max_iter="40")
    at.session_state["converge-seeds"] = True
    at.run()
    at.number_input(key="converge-seeds-number").set_value(5).run()
    at = finished(at, "seeds")
    batch = at.session_state["seeds:run"]
    assert batch.done == batch.total == 10
    reached = at.dataframe[-1].value
    assert list(reached["seeds"]) == [5, 5] and reached["reached"].between(0, 5).all()
    pairwise, mean = (catalog.solver(name).title for name in ("pairwise-moment", "marginal-mean"))
    [drawn] = [json.loads(one["figure"]) for one in components(at) if one.get("part") == "converge.seeds"]
    assert {pairwise, mean} <= {trace.get("name") for trace in drawn["data"]}
    at.number_input(key="converge-accuracy-error").set_value(10.0).run()
    assert list(at.dataframe[-1].value["reached"]) == [5, 5]


def test_the_time_to_an_accuracy_is_that_of_the_first_iterate_that_has_it():
    rows = [
        {"series": "A", "trial": trial, "iteration": k, "seconds": k * (1.0 + trial), "error": 1.0 / k}
        for trial in range(4)
        for k in range(1, 5)
        if trial < 3 or k < 2
    ]
    [row] = many_seeds.times(pd.DataFrame(rows), "error", 0.5, rising=False).to_dict("records")
    assert (row["seeds"], row["reached"]) == (4, 3) and row["median iterations"] == 2
    assert (row["first quartile"], row["median seconds"], row["third quartile"]) == (4.0, 6.0, float("inf"))


def test_a_run_that_waits_sends_words_alone_and_its_figures_with_its_first_iterate(monkeypatch):
    following = LiveRuns(
        [make_job(catalog.spec("one-bit-sensing", n=200, p=5), "pairwise-moment")], inbox := Inbox(), lambda: None
    )
    monkeypatch.setattr(results_view.live, "current", lambda page: following)
    parts = results_view.view(CurveSettings("error", "iteration"))

    def figures_after(message):
        inbox.put(message)
        following.refresh()
        return {name for name, part in parts().items() if isinstance(part, Figure)}

    row = {"iteration": 1.0, "seconds": 0.1, "error": 0.5}
    assert not figures_after(Queued(3)) and not figures_after(Queued(2)) and not figures_after(Started())
    assert figures_after(NewIterates([row], [], 1, np.ones(5), "", 0.0)) == {"converge.curves", "converge.estimate"}
    assert not figures_after(Queued(0))
