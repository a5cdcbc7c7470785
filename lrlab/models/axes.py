"""Axes of figures: a number of the spec, or a quantity that determines one."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from lrlab.models.low_rank import LowRankSpec
from lrlab.parameters import InputError, Parameter, Value, declared, require_known
from lrlab.protocol import Spec


class Derived(NamedTuple):
    """A quantity that determines a parameter: its title, the parameter, the formula, and the models that have it."""

    title: str
    decides: str
    value: Callable[[Any, float], Value]
    of: type[Any] = Spec
    others: Callable[[Any, float], dict[str, Value]] = lambda spec, value: {}
    """Other parameters that it determines, by name."""


DERIVED: dict[str, tuple[Derived, ...]] = {
    "ratio": (
        Derived("samples per unknown, n/p", "n", lambda spec, ratio: round(ratio * spec.p)),
        Derived("samples per unknown, m/p", "m", lambda spec, ratio: round(ratio * spec.p)),
    ),
    "sparsity-ratio": (
        Derived("non-zeros per sample, s/n", "sparsity", lambda spec, rate: max(1, round(rate * spec.n))),
    ),
    "bits-at-budget": (
        Derived(
            "bits per measurement, b",
            "bits",
            lambda spec, bits: round(bits),
            others=lambda spec, bits: {"n": max(2, round(spec.n * max(spec.bits, 1) / max(bits, 1)))},
        ),
    ),
    "variance": (Derived("noise variance, σ²", "noise", lambda spec, variance: math.sqrt(variance)),),
    "dense-rate": (Derived("rate, √(p/n)", "n", lambda spec, rate: round(spec.p / rate**2)),),
    "sparse-rate": (
        Derived(
            "rate, √(s log p / n)",
            "n",
            lambda spec, rate: round((spec.sparsity or spec.p) * math.log(spec.p) / rate**2),
        ),
    ),
    "per-freedom": (
        Derived(
            "m / degrees of freedom",
            "m",
            lambda spec, ratio: round(ratio * spec.degrees_of_freedom),
            LowRankSpec,
        ),
        Derived(
            "observed entries / d.o.f.",
            "observed",
            lambda spec, freedom: freedom * spec.degrees_of_freedom / math.prod(spec.table),
            LowRankSpec,
        ),
    ),
    "side": (
        Derived(
            "rows and columns, d₁",
            "d1",
            lambda spec, side: round(side),
            LowRankSpec,
            lambda spec, side: {"d2": round(side), "m": max(1, round(spec.m * side / spec.d1))},
        ),
    ),
    "missing": (Derived("fraction missing", "observed", lambda spec, missing: 1.0 - missing),),
}
"""Quantities by name; the first entry whose parameters a model has applies."""

NEEDS = {
    "ratio": "p",
    "sparsity-ratio": "bits",
    "bits-at-budget": "n",
    "dense-rate": "p",
    "sparse-rate": "sparsity",
    "side": "operator",
}
"""A second parameter that the definition of a quantity needs."""
LONGEST = 26
"""Characters of a title that a select box shows."""
LONGEST_SYMBOL = 3
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
    "coherence": "coherence exponent",
}
"""Short titles of parameters with longer meanings."""
ZERO_ALLOWED = ("variance", "missing")


@cache
def derived(model: type[Spec], axis: str) -> Derived | None:
    """Return the derived quantity that an axis is on a model, or None."""
    own = declared(model)
    fitting = (d for d in DERIVED.get(axis, ()) if d.decides in own and issubclass(model, d.of))
    return next(fitting, None) if NEEDS.get(axis, "seed") in own else None


# Theory moves a spec to thousands of points for each picture.
@cache
def axes(model: type[Spec]) -> dict[str, str]:
    """Return the titles, by name, of all numeric axes along which a model's specs can move."""
    own = {p.name: _title(p) for p in declared(model).values() if p.kind in (int, float)}
    own.pop("seed")
    return own | {name: quantity.title for name in DERIVED if (quantity := derived(model, name))}


def _title(parameter: Parameter) -> str:
    """Return a title that fits a figure and a select box: the meaning of a parameter, or its name."""
    words = parameter.name.replace("_", " ")
    name = parameter.meaning if len(parameter.meaning) <= LONGEST else TITLES.get(parameter.name, words)
    named = name == words or len(parameter.symbol) > LONGEST_SYMBOL
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
    return spec.replace(**{quantity.decides: quantity.value(spec, value), **quantity.others(spec, value)})
