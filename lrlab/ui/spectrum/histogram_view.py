"""The histogram of all eigenvalues at one place of the axis, which a slider moves."""

import streamlit as st

from lrlab.models.axes import place
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import format_value
from lrlab.spectra import histogram
from lrlab.ui.spectrum.plan import SpectrumPlan
from lrlab.ui.widgets import plot

LARGEST = 20_000_000
"""Entries of the measurements up to which a draw is made while a person waits."""


def show(plan: SpectrumPlan, moment: str) -> None:
    """Show one draw at a place of the axis: all eigenvalues, the bulk, its edge, the spike, and what follows."""
    specs: dict[float, SingleIndexSpec] = {}
    for value in plan.along.values:
        one = place(plan.spec, plan.along.name, value)
        if isinstance(one, SingleIndexSpec) and one.theory_holds and one.n * one.p <= LARGEST:
            specs[value] = one
    if len(specs) < 2:
        return
    values = list(specs)

    @st.fragment
    def draw() -> None:
        st.header("All eigenvalues", anchor=False)
        at = st.select_slider(
            plan.along.title, values, values[len(values) // 2], format_func=format_value, key="spectrum.at"
        )
        spec = specs[at]
        own = moment if moment != "auto" else "M" if spec.link_function.moments.phi >= 0 else "M'"
        drawn, limit = histogram.eigenvalues(spec, own), histogram.prediction(spec, own)
        extent = histogram.extent(list(specs.values()), own)
        words = (
            f"Squared overlap {drawn.overlap:.2f}, predicted {limit.overlap:.2f}; a random guess has "
            f"1/p = {1 / spec.p:.3g}. n/p = {spec.n / spec.p:.3g}, threshold {limit.threshold:.3g}. Theory is for "
            f"large p: at p = {spec.p} the largest eigenvalue of the bulk fluctuates about its edge, and the change is "
            "gradual."
        )
        plot.show(histogram.figure(spec, own, extent), key="spectrum.histogram", label=words)
        st.caption(words)

    draw()
