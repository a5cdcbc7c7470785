"""Controls of the page Run: sliders, new data, runs on change, recommended solvers."""

import base64
import json

import numpy as np
import pytest

from lrlab import catalog
from lrlab.figures.recovery import MOVING_MARKS
from lrlab.models.axes import positions
from lrlab.parameters import declared
from tests.ui.driving import accepted, errors, figure, finished, place, words
from tests.waiting import until

# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def opened(**address):
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


def test_a_slider_stands_at_its_number_which_may_be_any():
    at = opened()
    number = at.number_input(key="converge.one-bit-sensing.n")
    assert place(at, "slider of n") == str(number.value)
    number.set_value(4321).run()
    assert at.query_params["n"] == place(at, "slider of n") == "4321"


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
    # Scripts, styles and the common template come once with the page, not with every figure.
    at = finished(opened(p="50", n="4000"), "converge")
    sent = {json.loads(one.proto.json).get("name"): one.proto for one in at.get("bidi_component")}
    assert {"converge-measured", "converge-estimate", "converge-curves"} <= set(sent)
    for name in ("converge-measured", "converge-estimate", "converge-curves"):
        data = json.loads(sent[name].json)
        assert sent[name].ByteSize() < len(sent[name].json) + 1500
        figure = json.loads(data["figure"])
        assert len(data["figure"]) < 6000 and figure["data"] and "template" not in figure["layout"]
        assert '"f8"' not in data["figure"]


def test_few_marks_follow_a_dragged_slider_and_all_return_at_rest():
    at = finished(opened(p="1000", sparsity="10", solvers="marginal-mean"), "converge")
    assert count_of(at) == 1000
    previews = at.session_state["live:tab"].previews
    preview = next(preview for key, preview in previews.items() if key.endswith(".n"))
    # A slow worker needs some tries.
    until(lambda: len(preview.show(0)["converge.estimate"].data[-1].x) == MOVING_MARKS)


def count_of(at):
    """Return the number of marks of the last estimate that a page shows."""
    x = figure(at, "converge-estimate")["data"][-1]["x"]
    return len(np.frombuffer(base64.b64decode(x["bdata"]), x["dtype"]))
