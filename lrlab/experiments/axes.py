"""Axes of figures: a number of the spec, or a quantity that decides one."""

import math
from collections.abc import Callable
from typing import NamedTuple

from lrlab.parameters import InputError, Value, declared, require_known
from lrlab.protocol import Spec


class Derived(NamedTuple):
    """A quantity that is no parameter: its title, the parameter it decides, and how."""

    title: str
    decides: str
    value: Callable[[Spec, float], Value]


def _sparsity(spec: Spec) -> int:
    return spec.sparsity or spec.p


DERIVED = {
    "ratio": Derived("measurements per unknown, n/p", "n", lambda spec, ratio: round(ratio * spec.p)),
    "variance": Derived("noise variance, σ²", "noise", lambda spec, variance: math.sqrt(variance)),
    "dense-rate": Derived("rate, √(p/n)", "n", lambda spec, rate: round(spec.p / rate**2)),
    "sparse-rate": Derived(
        "rate, √(s log p / n)", "n", lambda spec, rate: round(_sparsity(spec) * math.log(spec.p) / rate**2)
    ),
}


def axes(model: type[Spec]) -> dict[str, str]:
    """Return the titles, by name, of everything numeric along which a model's specs can be moved."""
    own = {p.name: f"{p.meaning}, {p.symbol}" for p in declared(model).values() if p.kind in (int, float)}
    own.pop("seed")
    return own | {name: axis.title for name, axis in DERIVED.items() if axis.decides in own}


def place(spec: Spec, axis: str, value: float) -> Spec:
    """Return the spec moved to a value on an axis; InputError where there is no such axis or value."""
    require_known(axis, axes(type(spec)), what="axis")
    if axis not in DERIVED:
        return spec.replace(**{axis: value})
    low = "0 or more" if axis == "variance" else "above 0"
    if not math.isfinite(value) or value < 0 or (value == 0 and axis != "variance"):
        raise InputError(axis, f"a finite number, {low}", value, f"give {axis} such a value")
    derived = DERIVED[axis]
    return spec.replace(**{derived.decides: derived.value(spec, value)})
