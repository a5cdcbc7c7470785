"""Shows all eigenvalues of one sample at a place of the axis: the bulk, its edge, the spike, and what follows."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from lrlab.models.axes import place
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, format_value
from lrlab.protocol import Spec
from lrlab.spectra import pairwise
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live
from lrlab.ui.spectrum.plan import SpectrumPlan
from lrlab.ui.widgets import plot, slider


def places(spec: Spec, axis: str, values: Sequence[float]) -> dict[float, SingleIndexSpec]:
    """Return the specs along an axis that lrlab simulates while a person waits, by their values; none if too few."""
    specs = {value: place(spec, axis, value) for value in values}
    drawn = {
        value: one
        for value, one in specs.items()
        if isinstance(one, SingleIndexSpec) and one.theory_holds and one.n * one.p <= 20_000_000
    }
    return drawn if len(drawn) > 1 else {}


def parts(specs: dict[float, SingleIndexSpec], at: float, moment: str) -> Parts:
    """Return the live parts of one draw: the figure, and words below it."""
    spec = specs[at]
    limit = pairwise.prediction(spec, moment)
    own = limit.moment
    _, overlap = pairwise.eigenvalues(spec, own)
    words = (
        f"Squared overlap {overlap:.2f}, asymptotically {limit.overlap:.2f}; a random guess has "
        f"1/p = {1 / spec.p:.3g}. n/p = {spec.n / spec.p:.3g}, threshold {limit.threshold:.3g}. Theory is "
        f"asymptotic: at p = {spec.p} the largest eigenvalue of the bulk fluctuates about its edge, and the change is "
        "gradual."
    )
    figure = pairwise.histogram(spec, own, list(specs.values()))
    return {"spectrum.histogram": figure, "spectrum.histogram.words": escape(words)}


def dragged(plan: SpectrumPlan, moment: str, at: float | None, spec: Spec) -> Parts:
    """Return the live parts for another spec, at the same place of the axis."""
    specs = places(spec, plan.along.name, plan.along.values)
    return parts(specs, at, moment) if at in specs else {}


def chosen_place(plan: SpectrumPlan) -> float | None:
    """Return the place of the axis that is shown; None if lrlab can simulate none."""
    try:
        values = list(places(plan.spec, plan.along.name, plan.along.values))
    except InputError:
        return None
    at: float | None = st.session_state.get("spectrum:at")
    return at if at in values else values[len(values) // 2] if values else None


def sigma(plan: SpectrumPlan, value: float) -> str:
    """Return the standard deviation of the noise at a place of an axis that is its variance; nothing elsewhere."""
    if plan.along.decides != "noise" or plan.along.name == "noise":
        return ""
    return f", σ = {place(plan.spec, plan.along.name, value).values()['noise']:.3g}"


def show(plan: SpectrumPlan, moment: str) -> None:
    """Show one draw, with a slider along the axis; nothing if lrlab can simulate none."""
    at = chosen_place(plan)
    if at is None:
        return
    specs = places(plan.spec, plan.along.name, plan.along.values)
    values, drag = list(specs), live.slider("spectrum.at")
    drag.show = lambda position: parts(specs, values[position], moment)

    def rest(position: int) -> None:
        st.session_state["spectrum:at"] = values[position]

    texts = [format_value(value) + sigma(plan, value) for value in values]
    shown = parts(specs, at, moment)
    plot.show(shown["spectrum.histogram"], key="spectrum.histogram", label="all eigenvalues of one sample")
    slider.show(plan.along.title, texts, values.index(at), drag, key="spectrum.at", on_rest=rest)
    plot.words(shown["spectrum.histogram.words"], key="spectrum.histogram.words", small=True)
