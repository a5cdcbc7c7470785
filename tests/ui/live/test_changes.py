"""Differences of states, applied as `assets/files/live.js` does, give the new state."""

import base64
import copy
import json

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrlab.figures.build import Figure, plain
from lrlab.ui.live.changes import between, whole

KINDS = {"f8": np.float64, "f4": np.float32, "i4": np.int32, "i2": np.int16, "i1": np.int8, "u4": np.uint32,
         "u2": np.uint16, "u1": np.uint8}  # fmt: skip


def listed(values):
    """Return numbers as a list, or as a list of rows, as arrays.js does."""
    if not isinstance(values, dict) or "dtype" not in values:
        return [] if values is None else values
    flat = np.frombuffer(base64.b64decode(values["bdata"]), KINDS[values["dtype"]])
    shape = [int(size) for size in values["shape"].split(",")] if "shape" in values else [-1]
    return flat.reshape(shape).tolist()


def changed(old, change):
    """Return a value after a change."""
    if "=" in change:
        return change["="]
    if "+" in change:
        return listed(old) + change["+"]
    if "@" in change:
        values, wide = listed(old), 0
        if values and isinstance(values[0], list):
            wide = len(values[0])
        for place, entry in zip(*change["@"], strict=True):
            if wide:
                values[place // wide][place % wide] = entry
            else:
                values[place] = entry
        return values
    for key, part in change.items():
        place = int(key) if isinstance(old, list) else key
        if part is None:
            del old[place]
        else:
            old[place] = changed(old.get(place) if isinstance(old, dict) else old[place], part)
    return old


def applied(shown, changes):
    """Return the parts of a page after the changes of a message, which travels as JSON."""
    message = json.loads(json.dumps(changes, allow_nan=False))
    return {**shown, **{name: changed(copy.deepcopy(shown.get(name)), change) for name, change in message.items()}}


def settled(value):
    """Return a part as plotly reads it: arrays as lists, to single precision, without what is None or not a number."""
    if isinstance(value, dict) and "dtype" in value:
        return settled(listed(value))
    if isinstance(value, dict):
        parts = {key: settled(part) for key, part in value.items()}
        return {key: part for key, part in parts.items() if part is not None}
    if isinstance(value, list):
        return [settled(part) for part in value]
    if isinstance(value, float):
        return float(np.float32(value)) if np.isfinite(value) else None
    return value


def parts(state):
    """Return a state as a browser shows it that was sent it whole."""
    return settled(plain({name: part if isinstance(part, str) else {"data": part.data, "layout": part.layout}
                          for name, part in state.items()}))  # fmt: skip


numbers = st.floats(-1e3, 1e3, width=32) | st.just(float("nan")) | st.integers(-40, 40)
columns = st.lists(st.floats(-1e3, 1e3, width=32) | st.just(float("nan")), max_size=6)
arrays = columns.map(np.asarray) | st.lists(st.integers(-9, 9), max_size=6).map(np.asarray)
maps = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(-3, 3)).map(
    lambda size: np.arange(size[0] * size[1], dtype=float).reshape(size[:2]) * size[2]
)
values = st.recursive(
    numbers | st.text(max_size=3) | st.booleans() | st.none() | columns | arrays | maps,
    lambda inner: st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=4,
)
traces = st.lists(st.dictionaries(st.sampled_from(["x", "y", "z", "line", "name"]), values, max_size=4), max_size=3)


@st.composite
def figures(draw):
    figure = Figure()
    figure.data = draw(traces)
    figure.layout = draw(st.dictionaries(st.sampled_from(["xaxis", "shapes", "title"]), values, max_size=3))
    return figure


states = st.dictionaries(st.sampled_from(["curves", "words", "map"]), figures() | st.text(max_size=5), max_size=3)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(states, states)
def test_the_changes_between_two_states_give_the_second(old, new):
    shown = applied({}, whole(old))
    assert settled(shown) == parts(old)
    assert settled(applied(shown, between(old, new))) == parts({**old, **new})


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(states)
def test_a_state_that_has_not_changed_has_no_changes(state):
    assert between(state, copy.deepcopy(state)) == {}


@settings(deadline=None)
@given(
    st.lists(numbers, max_size=8) | st.lists(numbers, min_size=9, max_size=20),
    st.lists(st.tuples(st.integers(0, 19), numbers), max_size=3),
    st.just([]) | columns,
    st.booleans(),
)
def test_a_curve_of_any_length_that_changes_and_grows_is_the_second(entries, changed, added, listed):
    def of(values):
        figure = Figure()
        figure.data = [{"x": list(map(float, values)) if listed else np.asarray(values, float)}]
        return {"curves": figure}

    later = [*entries, *added]
    for place, value in changed:
        later[place : place + 1] = [value] if place < len(later) else []
    shown = applied({}, whole(of(entries)))
    assert settled(applied(shown, between(of(entries), of(later)))) == parts(of(later))


def test_new_points_and_changed_cells_are_sent_alone():
    def of(x, z):
        figure = Figure()
        figure.data = [{"x": np.asarray(x, float), "z": np.asarray(z, float)}]
        return {"figure": figure}

    old, new = of([1, 2], [[0, 0, 0], [0, 0, 0]]), of([1, 2, 3], [[0, 0, 0], [0, 7, 0]])
    assert between(old, new) == {"figure": {"data": {"0": {"x": {"+": [3.0]}, "z": {"@": [[4], [7.0]]}}}}}
