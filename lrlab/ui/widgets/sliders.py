"""A parameter as a number with a slider beside it; the number may be any, the slider has round values."""

import math
import time

import streamlit as st

from lrlab import catalog
from lrlab.parameters import Parameter, Value
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.axis import spaced
from lrlab.ui.widgets.permalink import Permalink

POSITIONS = 33
ECHO_SECONDS = 5.0
"""For how long a browser may still send the value of before."""


def widget(link: Permalink, model: str, parameter: Parameter) -> Value | None:
    """Show a parameter of a model with its slider, where it is a number, and return its value."""
    if parameter.kind not in (int, float) or parameter.choices:
        return controls.widget(link, parameter, scope=model)
    options, key = positions(model, parameter), link.key(parameter.name, model)
    slider = f"{key}.slider"

    def moved() -> None:
        before, now = st.session_state.get(key), st.session_state[slider]
        if not _is_echo(slider, now):
            st.session_state[key] = now
            _replaced(key, before)

    if key in st.session_state and slider in st.session_state and _is_echo(key, st.session_state[key]):
        st.session_state[key] = st.session_state[slider]
    left, right = st.columns([1.35, 1], gap="small", vertical_alignment="bottom")
    with right:
        value = controls.widget(link, parameter, scope=model)
    # Set only where it differs: a value that is set moves the slider below a finger that drags it.
    at = min(options, key=lambda option: abs(option - float(value or 0)))
    if st.session_state.get(slider) != at:
        _replaced(slider, st.session_state.get(slider))
        st.session_state[slider] = at
    left.select_slider(
        f"slider of {controls.label(parameter)}", options, key=slider, format_func="{:g}".format, on_change=moved,
        label_visibility="collapsed",
    )  # fmt: skip
    return value


def _replaced(key: str, before: object) -> None:
    """Take note of the value that a widget had before the other one changed it."""
    st.session_state[f"{key}.before"] = before, time.monotonic()


def _is_echo(key: str, value: object) -> bool:
    """Return whether a value is one that was just replaced: a distant browser sends it until it knows the new one."""
    before, at = st.session_state.get(f"{key}.before", (None, 0.0))
    return before is not None and before == value and time.monotonic() < at + ECHO_SECONDS


def positions(model: str, parameter: Parameter) -> list[float]:
    """Return the values of a parameter's slider: round, within its bounds, the default among them, whole if it is."""
    low, high, spacing = catalog.model_entry(model).first_range(parameter.name)
    default, whole = float(parameter.default), parameter.kind is int
    low, high = max(parameter.low, min(low, default)), min(parameter.high, max(high, 2.0 * default))
    values = {float(f"{value:.2g}") for value in spaced(low, high, POSITIONS, spacing, whole=whole)} | {default}
    inside = sorted(value for value in values if parameter.low <= value <= parameter.high and math.isfinite(value))
    return [int(value) if whole else value for value in inside]
