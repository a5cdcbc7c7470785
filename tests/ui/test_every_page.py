"""Every page is clicked through: opened, run, switched to every model and back, opened again by its address."""

import pytest

from lrlab import catalog
from lrlab.models.axes import axes
from tests.ui.driving import PAGES, components, drawn, errors, figures, finished, opened

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
def test_a_model_without_a_spectrum_is_refused_alone(model):
    at = opened("spectrum", model=model, n1="30", seed="3")
    [sentence] = errors(at)
    assert sentence.startswith("model must be a model whose moment has a spectrum (")
    assert sentence.endswith("choose one of these")
    assert at.selectbox(key="spectrum.model").value == model and not at.header
    assert not any(data.get("figure") for data in components(at))
    switch = at.selectbox(key="spectrum.model").set_value("phase-retrieval").run()
    assert not errors(drawn(switch)) and any(data.get("figure") for data in components(switch))
    assert catalog.MODELS[model].title not in switch.selectbox(key="spectrum.model").options
