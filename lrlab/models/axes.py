"""Axes of figures: a number of the spec, or a quantity that determines one; their first ranges, and sliders."""

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from lrlab.model_entry import ModelEntry, Range
from lrlab.parameters import InputError, Parameter, Value, declared, require_known
from lrlab.protocol import Spec


class Derived(NamedTuple):
    """A quantity that determines a parameter: its name and title, and the parameter.

    beside: a second parameter of the models that have it. changes(spec, value): all parameters that it determines.
    """

    name: str
    title: str
    decides: str
    beside: str
    changes: Callable[[Any, float], dict[str, Value]]


DERIVED = (
    Derived("ratio", "samples per unknown, n/p", "n", "p", lambda spec, ratio: {"n": round(ratio * spec.p)}),
    Derived("ratio", "samples per unknown, m/p", "m", "p", lambda spec, ratio: {"m": round(ratio * spec.p)}),
    Derived(
        "sparsity-ratio",
        "non-zeros per sample, s/n",
        "sparsity",
        "bits",
        lambda spec, rate: {"sparsity": max(1, round(rate * spec.n))},
    ),
    Derived(
        "bits-at-budget",
        "bits per measurement, b",
        "bits",
        "n",
        lambda spec, bits: {"bits": round(bits), "n": max(2, round(spec.n * max(spec.bits, 1) / max(bits, 1)))},
    ),
    Derived("variance", "noise variance, σ²", "noise", "seed", lambda spec, variance: {"noise": math.sqrt(variance)}),
    Derived("dense-rate", "rate, √(p/n)", "n", "p", lambda spec, rate: {"n": round(spec.p / rate**2)}),
    Derived(
        "sparse-rate",
        "rate, √(s log p / n)",
        "n",
        "sparsity",
        lambda spec, rate: {"n": round((spec.sparsity or spec.p) * math.log(spec.p) / rate**2)},
    ),
    Derived(
        "per-freedom",
        "m / degrees of freedom",
        "m",
        "assumed_rank",
        lambda spec, ratio: {"m": round(ratio * spec.degrees_of_freedom)},
    ),
    Derived(
        "per-freedom",
        "observed entries / d.o.f.",
        "observed",
        "assumed_rank",
        lambda spec, freedom: {"observed": freedom * spec.degrees_of_freedom / math.prod(spec.table)},
    ),
    Derived(
        "side",
        "rows and columns, d₁",
        "d1",
        "operator",
        lambda spec, side: {"d1": round(side), "d2": round(side), "m": max(1, round(spec.m * side / spec.d1))},
    ),
    Derived("missing", "fraction missing", "observed", "seed", lambda spec, missing: {"observed": 1.0 - missing}),
)
"""Quantities; the first one of a name whose parameters a model has applies."""
TITLES = {
    "condition": "condition number",
    "noise": "noise level",
    "sparsity": "non-zero entries",
    "flip": "flip probability",
    "observed": "fraction observed",
    "r": "hidden units",
    "d": "features",
    "side": "pixels along a side",
    "freedom": "degrees of freedom",
}
"""Short titles of parameters with longer meanings."""
ZERO_ALLOWED = ("variance", "missing")
RANGES: Mapping[str, Range] = {
    "n": (500.0, 8000.0, "log"),
    "p": (10.0, 200.0, "log"),
    "sparsity": (1.0, 20.0, "linear"),
    "noise": (0.0, 1.5, "linear"),
    "variance": (0.0, 1.5, "linear"),
    "flip": (0.0, 0.3, "linear"),
    "intercept": (-2.0, 2.0, "linear"),
    "threshold": (0.1, 2.0, "linear"),
    "ratio": (2.0, 200.0, "log"),
    "dense-rate": (0.02, 0.3, "linear"),
    "sparse-rate": (0.05, 0.5, "linear"),
    "m": (200.0, 2000.0, "log"),
    "photons": (0.0, 10_000.0, "linear"),
    "side": (16.0, 256.0, "log"),
    "d1": (10.0, 100.0, "linear"),
    "d2": (10.0, 100.0, "linear"),
    "rank": (1.0, 10.0, "linear"),
    "assumed_rank": (1.0, 10.0, "linear"),
    "condition": (1.0, 1000.0, "log"),
    "observed": (0.001, 0.1, "log"),
    "missing": (0.5, 0.99, "linear"),
    "n1": (50.0, 500.0, "log"),
    "n2": (50.0, 500.0, "log"),
    "d": (5.0, 40.0, "linear"),
    "labels": (10.0, 100.0, "linear"),
}
"""Initial ranges of axes on any model; other axes take the bounds of their parameter."""


@cache
def derived(model: type[Spec], axis: str) -> Derived | None:
    """Return the derived quantity that an axis is on a model, or None."""
    own = declared(model).keys()
    fitting = (d for d in DERIVED if d.name == axis and {d.decides, d.beside} <= own)
    return next(fitting, None)


# Theory moves a spec to thousands of points for each picture.
@cache
def axes(model: type[Spec]) -> dict[str, str]:
    """Return the titles, by name, of all numeric axes along which a model's specs can move."""
    own = {p.name: _title(p) for p in declared(model).values() if p.kind in (int, float)}
    own.pop("seed")
    return own | {d.name: quantity.title for d in DERIVED if (quantity := derived(model, d.name))}


def _title(parameter: Parameter, longest: int = 26, longest_symbol: int = 3) -> str:
    """Return a title that fits a figure and a select box: the meaning of a parameter up to `longest`, or its name."""
    words = parameter.name.replace("_", " ")
    name = parameter.meaning if len(parameter.meaning) <= longest else TITLES.get(parameter.name, words)
    named = name == words or len(parameter.symbol) > longest_symbol
    return name if named and parameter.symbol in ("", parameter.name) else f"{name}, {parameter.symbol}"


@cache
def short_names(model: type[Spec]) -> dict[str, str]:
    """Return the short names of axes, such as "rank" and "n/p"."""
    own = {name: derived(model, name) for name in axes(model)}
    return {name: q.title.rpartition(", ")[2] if q else name.replace("_", " ") for name, q in own.items()}


def place(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec moved to a value on an axis; InputError if the axis or the value is invalid."""
    model = type(spec)
    require_known(axis, axes(model), what="axis")
    quantity = derived(model, axis)
    if quantity is None:
        return spec.replace(**{axis: value})
    low = "0 or more" if axis in ZERO_ALLOWED else "above 0"
    if not math.isfinite(value) or value < 0 or (value == 0 and axis not in ZERO_ALLOWED):
        raise InputError(axis, f"a finite number, {low}", value, f"give {axis} such a value")
    return spec.replace(**quantity.changes(spec, value))


@cache
def is_whole(model: type[Spec], axis: str) -> bool:
    """Return whether an axis is a parameter of whole numbers."""
    parameter = declared(model).get(axis)
    return parameter is not None and parameter.kind is int


def place_near(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec moved to a value on an axis, rounded if the axis has whole numbers."""
    return place(spec, axis, round(value) if math.isfinite(value) and is_whole(type(spec), axis) else value)


def first_range(entry: ModelEntry, axis: str) -> Range:
    """Return the initial range of an axis: from the model, its family, `RANGES`, or the parameter's bounds."""
    known = {**RANGES, **entry.family.ranges, **entry.ranges}
    if axis in known:
        return known[axis]
    parameter = declared(entry.spec)[axis]
    return parameter.low, parameter.high, parameter.scale if parameter.low > 0 else "linear"


def positions(entry: ModelEntry, name: str, most: int = 60) -> tuple[float, ...]:
    """Return the values of a parameter's slider: at most about so many round numbers, and the default.

    They cover its first range within its bounds, or reach up to twice the default. Values of whole numbers are whole.
    """
    parameter, (low, high, scale) = declared(entry.spec)[name], first_range(entry, name)
    default, whole = float(parameter.default), parameter.kind is int
    low, high = max(parameter.low, min(low, default)), min(parameter.high, max(high, 2.0 * default))
    grid = (np.geomspace if scale == "log" else np.linspace)(low, high, most)
    values = {float(f"{round(value) if whole else value:.2g}") for value in grid.tolist()} | {default}
    inside = sorted(value for value in values if parameter.low <= value <= parameter.high)
    return tuple(int(value) if whole else value for value in inside)
