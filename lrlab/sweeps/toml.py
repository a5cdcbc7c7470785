"""Sweep definitions as TOML: read, with one sentence for every mistake, and written."""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.model_entry import Success
from lrlab.parameters import InputError, declared, format_value, require_known
from lrlab.protocol import Spec
from lrlab.sweeps.definition import BUDGET, TOLERANCE, Given, Span, Sweep

Toml = Mapping[str, Any]
ANY, TEXT, WHOLE, NUMBER, SWITCH = "anything", "text in quotes", "a whole number", "a number", "true or false"
TABLE, NAMES, TABLES = "a table", "a list of names", "a list of tables"
ENDS = ("from", "to", "steps")
AXIS, RULE = f"a list of values or a table with {', '.join(ENDS)}", "a table with metric"
TYPES: Mapping[str, Any] = {
    **{ANY: object, TEXT: str, WHOLE: int, NUMBER: int | float, SWITCH: bool},
    **{TABLE: dict, RULE: dict, NAMES: list, TABLES: list, AXIS: list | dict},
}
"""The types of each kind of value."""
ABOUT = {"title": TEXT, "explanation": TEXT, "reference": TEXT}
"""Texts for readers, which change nothing."""
HOW = {"solvers": NAMES, "settings": TABLE, "trials": WHOLE, "success": RULE, "race": SWITCH}
HOW |= {"adaptive": SWITCH, "tolerance": WHOLE, "budget": WHOLE}
SWEEP = {"model": TEXT, "seed": ANY, "spec": TABLE, "axes": TABLE, **HOW, **ABOUT}
LONGEST = 2**20
"""Largest size of a definition, in bytes."""


class Titled(NamedTuple):
    """A sweep with the texts of its file: title, a paragraph, reference; empty by default."""

    sweep: Sweep
    title: str = ""
    explanation: str = ""
    reference: str = ""


def read(path: Path) -> Sweep:
    """Return the sweep that a file defines; InputError names the mistake."""
    try:
        with path.open("rb") as file:
            return parse(decoded(file.read(LONGEST + 1)))
    except OSError as error:
        raise InputError("sweep file", "a file that can be read", path, f"{error.strerror}: name another") from error


def decoded(content: bytes) -> str:
    """Return the text of a file; InputError if it is too long, or not UTF-8."""
    if len(content) > LONGEST:
        raise InputError("sweep file", "at most 1 MiB", "more", "is it the file that you meant?")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError("sweep file", "text in UTF-8", f"other bytes on line {line}", "save it as UTF-8") from error


def parse(text: str) -> Sweep:
    """Return the sweep that a TOML text defines; InputError with the path of the wrong key."""
    return titled(text).sweep


def loads(text: str, what: str = "sweep file") -> dict[str, Any]:
    """Return the content of a TOML text; InputError if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # A number of too many digits is a ValueError, but not a TOMLDecodeError.
        got, _, place = str(error).partition(" (at ")
        raise InputError(what, "TOML", got, f"correct it at {place.removesuffix(')') or 'that place'}") from error


def titled(text: str) -> Titled:
    """Return the sweep that a TOML text defines, with its texts."""
    content = loads(text)
    check(content, SWEEP, ("model", "solvers", "axes"), "a sweep")
    for name, values in content["axes"].items():
        check_kind(values, AXIS, f"axes.{name}")
        if isinstance(values, dict):
            keys = {"from": NUMBER, "to": NUMBER, "steps": WHOLE, "spacing": TEXT}
            check(values, keys, ENDS, name, f"axes.{name}.")
    given = {key: content[key] for key in HOW if key in content}
    if "success" in given:
        keys = {"metric": TEXT, "below": NUMBER, "above": NUMBER}
        check(given["success"], keys, ["metric"], "success", "success.")
    with located(content):
        if "success" in given:
            given["success"] = Success(**given["success"])
        axes = {name: make_axis(values) for name, values in content["axes"].items()}
        sweep = Sweep(spec=make_spec(content), axes=axes, **given)
    return Titled(sweep, *(content.get(key, "").strip() for key in ABOUT))


def make_spec(content: Toml) -> Spec:
    """Return the spec of `model`, the table `spec` and `seed` of a definition."""
    given = dict(content.get("spec", {}))
    if "seed" in content and given.setdefault("seed", content["seed"]) != content["seed"]:
        raise InputError("seed", "given once", "two different ones", "remove it from [spec]")
    return catalog.spec(content["model"], **given)


def make_axis(given: Any) -> Given:
    """Return the values of an axis in `AXES`: a list or a range."""
    if isinstance(given, list):
        return tuple(given)
    return Span(given["from"], given["to"], given["steps"], given.get("spacing", "linear"))


def to_toml(sweep: Sweep) -> str:
    """Return the sweep as TOML: `parse` gives it back."""
    spec, known = sweep.spec, declared(type(sweep.spec))
    top = {"model": spec.model, "solvers": list(sweep.solvers), "trials": sweep.trials, "seed": spec.seed}
    top |= {"success": sweep.success and asdict(sweep.success), "adaptive": sweep.adaptive, "race": sweep.race or None}
    top |= {p.name: getattr(sweep, p.name) for p in (TOLERANCE, BUDGET) if getattr(sweep, p.name) != p.default}
    # A parameter that an axis decides would mislead, as it holds in no cell.
    held = {
        name: value
        for name, value in spec.public_values().items()
        if name != "seed" and not (name in sweep.decided and value == known[name].default)
    }
    tables = {"spec": held, "axes": dict(sweep.axes), "settings": dict(sweep.settings)}
    parts = [_pairs(top), *([f"[{name}]", *_pairs(table)] for name, table in tables.items() if table or name == "spec")]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _pairs(table: Toml) -> list[str]:
    """Return the pairs of a table as TOML, without pairs of None."""
    return [f"{name} = {_value(value)}" for name, value in table.items() if value is not None]


def _value(value: Any) -> str:
    if isinstance(value, Span):
        spacing = None if value.spacing == "linear" else value.spacing
        return _value({"from": value.low, "to": value.high, "steps": value.steps, "spacing": spacing})
    if isinstance(value, dict):
        return "{ " + ", ".join(_pairs(value)) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    # JSON writes numbers and truth as TOML does, and text too, but for one control character that no name has.
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def check(table: Toml, keys: Mapping[str, str], required: Sequence[str], what: str, path: str = "") -> None:
    """Raise InputError for the first unknown or missing key of a table, or value of another kind.

    keys: the kind of each value. what: the table in words. path: what stands before its keys.
    """
    for key, value in table.items():
        try:
            require_known(key, tuple(keys), what=f"key of {what}")
        except InputError as error:
            raise InputError(f"{path}{key}: {error.name}", error.expected, error.got, error.remedy) from error
        check_kind(value, keys[key], f"{path}{key}")
    for key in required:
        if key not in table:
            name = f"{path[:-1]}: {key}" if path.endswith(".") else f"{path}{key}"
            raise InputError(name, "given", "nothing", f'add a line or a table "{key}" to the {what.split()[-1]}')


def check_kind(value: Any, kind: str, path: str) -> None:
    """Raise InputError if a value, or an element of its list, is of another kind."""
    # For Python true and false are whole numbers.
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind not in (SWITCH, ANY)):
        raise InputError(path, kind, f'"{value}"' if isinstance(value, str) else str(value), f"write it as {kind}")
    if element := {NAMES: TEXT, TABLES: TABLE}.get(kind):
        for k, one in enumerate(value):
            check_kind(one, element, f"{path}[{k}]")


@contextmanager
def located(content: Toml, path: str = "") -> Iterator[None]:
    """Put the path of the key that an InputError from within is about in front of it: `axes.r.steps must be ...`.

    The key has the name and value of the error, its name, or a key or a value that it names.
    """
    try:
        yield
    except InputError as error:
        name, got = error.name, format_value(error.got)

        def agreement(place: tuple[str, Any, Any]) -> tuple[bool, ...]:
            _, key, value = place
            named, same = key == name, format_value(value) == got
            return named and same, named, key == got, same

        best = max(_places(content, path), key=agreement)
        if not any(agreement(best)):
            raise
        where = best[0] if best[1] == name else f"{best[0]}: {name}"
        raise InputError(where, error.expected, error.got, error.remedy) from error


def _places(content: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield path, key and value of each key and list element in a table or list."""
    listed = isinstance(content, list)
    for key, value in enumerate(content) if listed else content.items():
        place = f"{path}[{key}]" if listed else f"{path}{key}"
        yield place, key, value
        if isinstance(value, dict | list):
            yield from _places(value, place if isinstance(value, list) else f"{place}.")
