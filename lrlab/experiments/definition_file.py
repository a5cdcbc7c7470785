"""Sweep definitions as TOML: read with one sentence for every mistake, and written."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lrlab import catalog
from lrlab.experiments.definition import Given, Span, Success, Sweep
from lrlab.parameters import InputError, Parameter, declared, require_known
from lrlab.protocol import Spec, drive_limits

Toml = Mapping[str, Any]

NEEDED = ("model", "solvers", "axes")
KEYS = ("model", "solvers", "trials", "seed", "success", "adaptive", "spec", "axes", "settings")
RANGE = {"from": float, "to": float, "steps": int, "spacing": str}
LONGEST = 2**20


def read(path: Path) -> Sweep:
    """Return the sweep that a file defines; InputError names what is wrong with it."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1)
    except OSError as error:
        raise InputError("sweep file", "a file that can be read", path, f"{error.strerror}: name another") from error
    if len(text) > LONGEST:
        raise InputError("sweep file", "a definition of at most 1 MiB", path, "is it the file that you meant?")
    try:
        return parse(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise InputError("sweep file", "text in UTF-8", f"other bytes on line {line}", "save it as UTF-8") from error


def parse(text: str) -> Sweep:
    """Return the sweep that a TOML text defines."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # A ValueError that is no TOMLDecodeError: a number of too many digits.
        raise InputError("sweep file", "TOML", error, "correct it there") from error
    return from_content(content)


def from_content(content: Toml) -> Sweep:
    """Return the sweep that the tables of a TOML text define."""
    for key in content:
        require_known(key, KEYS, what="key of a sweep")
    for key in NEEDED:
        if key not in content:
            raise InputError(key, "given", "nothing", f'add a line or a table "{key}" to the sweep')
    spec = _spec(content)
    optional = {key: content[key] for key in ("trials", "adaptive") if key in content}
    if "trials" in optional:
        _require("trials", optional["trials"], int)
    if "success" in content:
        optional["success"] = _success(_table("success", content["success"]))
    return Sweep(
        spec=spec,
        axes={name: _axis(name, given) for name, given in _table("axes", content["axes"]).items()},
        solvers=_solvers(content["solvers"]),
        settings=_settings(_table("settings", content.get("settings", {})), _solvers(content["solvers"]), spec.model),
        **optional,
    )


def to_toml(sweep: Sweep) -> str:
    """Return the sweep as TOML: `parse` gives it back."""
    spec, known = sweep.spec, declared(type(sweep.spec))
    # What an axis decides would mislead, as it holds in no cell.
    held = {
        name: value
        for name, value in spec.public_values().items()
        if name != "seed" and not (name in sweep.decided and value == known[name].default)
    }
    top = {"model": spec.model, "solvers": list(sweep.solvers), "trials": sweep.trials, "seed": spec.seed}
    if sweep.success is not None:
        rule = {"metric": sweep.success.metric, "below": sweep.success.below, "above": sweep.success.above}
        top["success"] = {name: value for name, value in rule.items() if value is not None}
    top["adaptive"] = sweep.adaptive
    tables = {"spec": held, "axes": {name: _written(given) for name, given in sweep.axes}}
    if sweep.settings:
        tables["settings"] = dict(sweep.settings)
    parts = [_lines(top), *(f"[{name}]\n{_lines(table)}" for name, table in tables.items())]
    return "\n".join(parts)


def _spec(content: Toml) -> Spec:
    _require("model", content["model"], str)
    catalog.require_model(content["model"])
    given = dict(_table("spec", content.get("spec", {})))
    if "seed" in content and given.setdefault("seed", content["seed"]) != content["seed"]:
        raise InputError("seed", "given once", "two different ones", "remove it from [spec]")
    known = declared(catalog.MODELS[content["model"]])
    for name, value in given.items():
        _require_kind(name, value, known)
    return catalog.spec(content["model"], **given)


def _solvers(given: Any) -> list[str]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise InputError("solvers", "a list of names", _shown(given), 'write for example solvers = ["ep-rom"]')
    return given


def _success(given: Toml) -> Success:
    for key in given:
        require_known(key, ("metric", "below", "above"), what="key of success")
    if "metric" not in given:
        raise InputError(
            "success", "given with a metric", "none", 'write for example { metric = "error", below = 0.1 }'
        )
    _require("metric", given["metric"], str)
    for name in ("below", "above"):
        if name in given:
            _require(name, given[name], float)
    return Success(given["metric"], given.get("below"), given.get("above"))


def _axis(name: str, given: Any) -> Given:
    if isinstance(given, list):
        return tuple(given)
    if not isinstance(given, dict):
        raise InputError(name, "a list or a range", _shown(given), "write [1, 2] or { from = 1, to = 5, steps = 5 }")
    for key in given:
        require_known(key, tuple(RANGE), what=f"key of the range {name}")
    for key, kind in RANGE.items():
        if key in given:
            _require(f"{key} of {name}", given[key], kind)
        elif key != "spacing":
            raise InputError(name, "a range with from, to and steps", f"no {key}", f"add {key}")
    return Span(*(given[key] for key in ("from", "to", "steps")), given.get("spacing", "linear"))


def _settings(given: Toml, solvers: list[str], model: str) -> Toml:
    known = dict(declared(drive_limits))
    for name in solvers:
        known |= catalog.solver(name, model).options
    for name, value in given.items():
        _require_kind(name, value, known)
    return given


def _require_kind(name: str, value: Any, known: Mapping[str, Parameter]) -> None:
    # Text is read as a number elsewhere (the shell has nothing but text); in TOML it is a mistake.
    if name in known and known[name].kind is not str and isinstance(value, str):
        raise InputError(name, known[name].expected, f'"{value}"', "write it without quotes")


def _require(name: str, value: Any, kind: type) -> None:
    words = {int: "a whole number", float: "a number", str: "text in quotes"}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    good = isinstance(value, str) if kind is str else number and (kind is float or isinstance(value, int))
    if not good:
        raise InputError(name, words[kind], _shown(value), f"write it as {words[kind]}")


def _table(name: str, given: Any) -> Toml:
    if not isinstance(given, dict):
        raise InputError(name, "a table", _shown(given), f"write its values under [{name}]")
    return given


def _shown(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


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
