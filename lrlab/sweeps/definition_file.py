"""Sweep definitions as TOML: read with one sentence for every mistake (`definition_text` writes them)."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.parameters import InputError, Parameter, declared, require_known
from lrlab.protocol import Spec, drive_limits
from lrlab.sweeps.definition import Given, Span, Success, Sweep

Toml = Mapping[str, Any]

NEEDED = ("model", "solvers", "axes")
KEYS = ("model", "solvers", "trials", "seed", "success", "adaptive", "tolerance", "budget", "spec", "axes", "settings")
ABOUT = ("title", "explanation", "reference")
"""Words for people, which change nothing."""
RANGE = {"from": float, "to": float, "steps": int, "spacing": str}
LONGEST = 2**20


class Titled(NamedTuple):
    """A sweep and what its file says of it: title, a paragraph, where it comes from; empty where it says nothing."""

    sweep: Sweep
    title: str = ""
    explanation: str = ""
    reference: str = ""


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
    return from_content(_content(text))


def titled(text: str) -> Titled:
    """Return the sweep that a TOML text defines, with what it says about it."""
    content = _content(text)
    return Titled(from_content(content), *(content.get(key, "").strip() for key in ABOUT))


def _content(text: str) -> Toml:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # A ValueError that is no TOMLDecodeError: a number of too many digits.
        raise InputError("sweep file", "TOML", error, "correct it there") from error


def from_content(content: Toml) -> Sweep:
    """Return the sweep that the tables of a TOML text define."""
    for key in content:
        require_known(key, (*KEYS, *ABOUT), what="key of a sweep")
        if key in ABOUT:
            _require(key, content[key], str)
    for key in NEEDED:
        if key not in content:
            raise InputError(key, "given", "nothing", f'add a line or a table "{key}" to the sweep')
    spec = _spec(content)
    optional = {key: content[key] for key in ("trials", "adaptive", "tolerance", "budget") if key in content}
    for key in optional.keys() - {"adaptive"}:
        _require(key, optional[key], int)
    if "success" in content:
        optional["success"] = _success(_table("success", content["success"]))
    return Sweep(
        spec=spec,
        axes={name: _axis(name, given) for name, given in _table("axes", content["axes"]).items()},
        solvers=_solvers(content["solvers"]),
        settings=_settings(_table("settings", content.get("settings", {})), _solvers(content["solvers"]), spec.model),
        **optional,
    )


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
