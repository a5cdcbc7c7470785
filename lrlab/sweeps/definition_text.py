"""Sweep definitions as TOML: written."""

import json
from collections.abc import Mapping
from typing import Any

from lrlab.parameters import declared
from lrlab.sweeps.definition import BUDGET, TOLERANCE, Given, Span, Sweep

Toml = Mapping[str, Any]


def to_toml(sweep: Sweep, title: str = "") -> str:
    """Return the sweep as TOML, below a title if there is one: `definition_file.parse` gives it back."""
    spec, known = sweep.spec, declared(type(sweep.spec))
    # What an axis decides would mislead, as it holds in no cell.
    held = {
        name: value
        for name, value in spec.public_values().items()
        if name != "seed" and not (name in sweep.decided and value == known[name].default)
    }
    top = {"title": title} if title else {}
    top |= {"model": spec.model, "solvers": list(sweep.solvers), "trials": sweep.trials, "seed": spec.seed}
    if sweep.success is not None:
        rule = {"metric": sweep.success.metric, "below": sweep.success.below, "above": sweep.success.above}
        top["success"] = {name: value for name, value in rule.items() if value is not None}
    top["adaptive"] = sweep.adaptive
    top |= {p.name: getattr(sweep, p.name) for p in (TOLERANCE, BUDGET) if getattr(sweep, p.name) != p.default}
    tables = {"spec": held, "axes": {name: _written(given) for name, given in sweep.axes}}
    if sweep.settings:
        tables["settings"] = dict(sweep.settings)
    parts = [_lines(top), *(f"[{name}]\n{_lines(table)}" for name, table in tables.items())]
    return "\n".join(parts)


def _written(given: Given) -> Any:
    if not isinstance(given, Span):
        return list(given)
    ends = {"from": given.low, "to": given.high, "steps": given.steps}
    return ends if given.spacing == "linear" else {**ends, "spacing": given.spacing}


def _lines(table: Toml) -> str:
    return "".join(f"{name} = {_value(value)}\n" for name, value in table.items())


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_value(inner)}" for name, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    # JSON writes numbers and truth as TOML does, and text too, but for one control character that no name has.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)
