"""Sweep definitions as TOML: read, with one sentence for every mistake, and written."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.model_entry import Success
from lrlab.parameters import InputError, declared, format_value, require_known
from lrlab.protocol import Spec
from lrlab.sweeps.definition import BUDGET, TOLERANCE, Given, Span, Sweep

Toml = Mapping[str, Any]
KeyPath = tuple[str | int, ...]
"""The path of a value: keys of tables and numbers of list elements."""


@dataclass(frozen=True)
class Kind:
    """A kind of value: its words and types; the kind of its elements (of a table without `keys`: of all its values).

    keys: the keys of a table, with the kind of each value. required: those that it must have.
    """

    words: str
    types: Any
    elements: "Kind | None" = None
    keys: Mapping[str, "Kind"] | None = None
    required: tuple[str, ...] = ()


def with_keys(keys: Mapping[str, Kind], *required: str) -> Kind:
    """Return the kind of a table with these keys."""
    words = f"a table with {', '.join(required)}" if required else "a table"
    return Kind(words, dict, keys=keys, required=required)


ANY, TABLE, TEXT = Kind("anything", object), Kind("a table", dict), Kind("text in quotes", str)
WHOLE, NUMBER, SWITCH = Kind("a whole number", int), Kind("a number", int | float), Kind("true or false", bool)
NAMES = Kind("a list of names", list, TEXT)
ABOUT = {"title": TEXT, "explanation": TEXT, "reference": TEXT}
"""Texts for readers, which change nothing."""
RANGE = with_keys({"from": NUMBER, "to": NUMBER, "steps": WHOLE, "spacing": TEXT}, "from", "to", "steps")
AXIS = replace(RANGE, words=f"a list of values or {RANGE.words}", types=list | dict)
SUCCESS = with_keys({"metric": TEXT, "below": NUMBER, "above": NUMBER}, "metric")
WHERE = {"model": TEXT, "seed": ANY, "spec": TABLE, "axes": Kind("a table", dict, AXIS)}
HOW = {"solvers": NAMES, "settings": TABLE, "trials": WHOLE, "success": SUCCESS, "race": SWITCH}
HOW |= {"adaptive": SWITCH, "tolerance": WHOLE, "budget": WHOLE}
SWEEP = with_keys({**WHERE, **HOW, **ABOUT}, "model", "solvers", "axes")
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
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError("sweep file", "text in UTF-8", f"other bytes on line {line}", "save it as UTF-8") from error


def parse(text: str) -> Sweep:
    """Return the sweep that a TOML text defines; InputError with the path of the wrong key."""
    return titled(text).sweep


def titled(text: str, file: str = "") -> Titled:
    """Return the sweep that a TOML text defines, with its texts; messages name `file` before the path."""
    source = Source(text, "sweep file", file)
    content = source.content
    source.check(SWEEP, "a sweep")
    with source.locate():
        given = {key: content[key] for key in HOW if key in content}
        if "success" in content:
            given["success"] = Success(**content["success"])
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


class Source:
    """A TOML text: its content, and the paths of its keys. `file` stands before paths in messages."""

    def __init__(self, text: str, what: str = "sweep file", file: str = "") -> None:
        """Read the text; InputError if it is not TOML."""
        try:
            self.content: dict[str, Any] = tomllib.loads(text)
            self.file = file
        except (ValueError, RecursionError) as error:
            # A number of too many digits is a ValueError, but not a TOMLDecodeError.
            raise InputError(what, "TOML", error, "correct it there") from error

    @cached_property
    def paths(self) -> dict[KeyPath, Any]:
        """The values of all keys, tables and list elements, by their paths."""
        return dict(_paths(self.content))

    @contextmanager
    def locate(self, table: KeyPath = ()) -> Iterator[None]:
        """Put the path of the key that an InputError from within is about in front of it: `axes.m[1]: m must be ...`.

        The key is in this table. It has the name and value of the error, its name, or a key or a value that it names.
        """
        try:
            yield
        except InputError as error:
            name, got = error.name, format_value(error.got)

            def agreement(path: KeyPath) -> tuple[bool, ...]:
                named, same = path[-1:] == (name,), format_value(self.paths[path]) == got
                return named and same, named, path[-1:] == (got,), same

            best = max((path for path in self.paths if path[: len(table)] == table), key=agreement)
            raise self._at(best if any(agreement(best)) else table, error) from error

    def _at(self, path: KeyPath, error: InputError) -> InputError:
        """Return an error with a path in front of it."""
        named = path[-1:] == (error.name,)
        table = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[: -1 if named else None])
        name = f"{table}{'.' if named else ': '}{error.name}".lstrip(".: ")
        file = f"{self.file}: " if self.file else ""
        return InputError(f"{file}{name}", error.expected, error.got, error.remedy)

    def check(self, kind: Kind, what: str, path: KeyPath = ()) -> None:
        """Raise InputError for the first value of a wrong kind, unknown key or missing key."""
        value = self.paths[path]
        # For Python true and false are whole numbers.
        if not isinstance(value, kind.types) or (isinstance(value, bool) and kind not in (SWITCH, ANY)):
            got = f'"{value}"' if isinstance(value, str) else str(value)
            raise self._at(path, InputError(what, kind.words, got, f"write it as {kind.words}"))
        if isinstance(value, list) and kind.elements:
            for k in range(len(value)):
                self.check(kind.elements, what, (*path, k))
        elif isinstance(value, dict):
            for key in value:
                if kind.keys is not None:
                    with self.locate((*path, key)):
                        require_known(key, tuple(kind.keys), what=f"key of {what}")
                self.check(kind.keys[key] if kind.keys else kind.elements or ANY, key, (*path, key))
            for key in kind.required:
                if key not in value:
                    remedy = f'add a line or a table "{key}" to the {what.split()[-1]}'
                    raise self._at(path, InputError(key, "given", "nothing", remedy))


def _paths(content: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield path and value of what TOML holds: all of it, then each key, table and list element."""
    yield path, content
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        yield from _paths(value, (*path, key))
