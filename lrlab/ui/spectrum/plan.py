"""Plans a spectrum, from the controls of the page or from a preset's button: draws along an axis."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import streamlit as st

from lrlab import catalog, presets
from lrlab.engine.engine import on_workers
from lrlab.model_entry import ModelEntry
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.spectra import Draw, Row
from lrlab.spectra.moments import moment_draws, moment_spectrum
from lrlab.spectra.pairwise import pairwise_spectrum, spectrum_draws
from lrlab.ui.shared import code, live, opening
from lrlab.ui.widgets import controls, permalink
from lrlab.ui.widgets.axis import Axis
from lrlab.ui.widgets.permalink import Permalink

Address = Mapping[str, str]


def offered(link: Permalink) -> list[str]:
    """Return the models that have a spectrum, and the one that the address names, so that the error names it."""
    named = controls.current(link, link.key("model"), st.query_params.get("model"))
    return [name for name, entry in catalog.MODEL_ENTRIES.items() if entry.along or name == named]


def refusal(link: Permalink, entry: ModelEntry) -> InputError | None:
    """Return why a model has no spectrum; the rest of an address that names it is accepted."""
    if entry.along:
        return None
    link.accept(st.query_params)
    titles = ", ".join(one.spec.title for one in catalog.MODEL_ENTRIES.values() if one.along)
    expected = f"a model whose moment has a spectrum ({titles})"
    return InputError("model", expected, entry.spec.title, "choose one of these")


def is_pairwise(model: str) -> bool:
    """Whether a model's spectrum shows the pairwise moments of a single-index model, not a spectral initialization."""
    return issubclass(catalog.MODELS[model], SingleIndexSpec)


class SpectrumPlan(NamedTuple):
    """The spec, the axis, the number of trials, the draws, and what computes the spectrum of one."""

    spec: Spec
    along: Axis
    trials: int
    draws: list[Draw]
    measure: Callable[[Draw], list[Row]]


def make_plan(spec: Spec | InputError, along: Axis | InputError, trials: object) -> SpectrumPlan | InputError | None:
    """Return the plan, the error in it, or None if the spec or the axis is an error."""
    if isinstance(spec, InputError) or isinstance(along, InputError):
        return None
    pairs, others = (spectrum_draws, pairwise_spectrum), (moment_draws, moment_spectrum)
    drawn, measure = pairs if is_pairwise(spec.model) else others
    try:
        number = int(controls.TRIALS.check(trials))
        return SpectrumPlan(spec, along, number, drawn(spec, along.name, along.values, number), measure)
    except InputError as error:
        return error


def begin(plan: SpectrumPlan) -> live.Running:
    """Begin to compute a spectrum; the page opens on the one that comes with the package, if it is this one."""
    shipped = opening.spectrum(python_script(plan)) if live.current("spectrum") is None else None
    return shipped or on_workers(plan.measure, plan.draws)


def python_script(plan: SpectrumPlan) -> str:
    """Return the script that computes the same table."""
    module, name = ("pairwise", "spectrum") if is_pairwise(plan.spec.model) else ("moments", "moments")
    arguments = f"spec, {plan.along.name!r}, {list(plan.along.values)}, trials={plan.trials}"
    return (
        f"{code.imports(plan.spec.model)}\nfrom lrlab.spectra.{module} import {name}\n\n"
        f"spec = {code.spec_python(plan.spec)}\n"
        f"table = {name}({arguments})\nprint(table.to_csv(index=False))"
    )


def spectrum_panels(name: str) -> list[tuple[str, Address]]:
    """Return title and address of each panel of a preset of kind `spectrum`."""
    content, panels = presets.load(name).content, list[tuple[str, Address]]()
    for panel in content["panels"]:
        [(axis, values)] = panel["axes"].items()
        span = {"from": min(values), "to": max(values), "points": len(values), "trials": content["trials"]}
        spec = {"seed": content.get("seed", 0), **content.get("spec", {}), **panel.get("spec", {})}
        named = {"model": panel["model"], "axis": axis, **span, **spec}
        panels.append((panel["title"].partition(":")[0], {key: str(value) for key, value in named.items()}))
    return panels


def preset_buttons(name: str, words: str) -> None:
    """Show a button for each panel of a preset; it fills in the widgets of the page and runs it."""
    with st.container(horizontal=True, key="spectrum-presets", vertical_alignment="center"):
        st.caption(words, width="content")
        for k, (title, address) in enumerate(spectrum_panels(name)):
            st.button(title, key=f"spectrum-preset-{k}", on_click=_take, args=(address,))


def _take(address: Address) -> None:
    permalink.take("spectrum", address)
    live.request("spectrum")
