"""Sweep definitions as TOML: read, with one sentence for every mistake, and written."""

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.parameters import InputError, Parameter, declared, format_value, require_known
from lrlab.protocol import Limits, Spec
from lrlab.sweeps.definition import BUDGET, TOLERANCE, Given, Span, Success, Sweep

Toml = Mapping[str, Any]
KeyPath = tuple[str | int, ...]
"""The path of a value: keys of tables and numbers of list elements."""

WORDS = {int: "a whole number", float: "a number", str: "text in quotes", bool: "true or false", dict: "a table"}
ELEMENTS = {str: "names", int: "whole numbers", float: "numbers", list: "lists"}


@dataclass(frozen=True)
class Keys:
    """The keys of a table, with the kind of each value, and which of them are required.

    A kind is int, float, bool, str, dict (a table of any keys), object (anything), another `Keys`, or a list with the
    kind of its elements; a tuple has several kinds to choose from.
    """

    kinds: Mapping[str, Any]
    required: tuple[str, ...] = ()


ABOUT: dict[str, Any] = {"title": str, "explanation": str, "reference": str}
"""Texts for readers, which change nothing."""
WHERE: dict[str, Any] = {"model": str, "solvers": [str], "seed": object, "spec": dict, "axes": dict, "settings": dict}
SUCCESS = Keys({"metric": str, "below": float, "above": float})
SWEEP = Keys(
    {**WHERE, "trials": int, "success": SUCCESS, "adaptive": object, "tolerance": int, "budget": int, **ABOUT},
    required=("model", "solvers", "axes"),
)
RANGE = {"from": float, "to": float, "steps": int, "spacing": str}
LONGEST = 2**20


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
    """Return the sweep that a TOML text defines; InputError with the path of the wrong key."""
    return titled(text).sweep


def titled(text: str, file: str = "") -> Titled:
    """Return the sweep that a TOML text defines, with its texts; messages name `file` before the path."""
    source = Source(text, "sweep file", file)
    content = source.content
    source.check(SWEEP, "a sweep")
    with source.locate(("spec",), ()):
        spec = make_spec(content)
    with source.locate(("settings",), ()):
        require_settings(content.get("settings", {}), content["solvers"], spec.model)
    optional = {key: content[key] for key in ("trials", "adaptive", "tolerance", "budget") if key in content}
    if "success" in content:
        with source.locate(("success",)):
            optional["success"] = make_success(content["success"])
    with source.locate(("axes",), ("settings",), ()):
        axes = tuple((name, make_axis(name, value)) for name, value in content["axes"].items())
        settings = content.get("settings", {})
        sweep = Sweep(spec=spec, axes=axes, solvers=content["solvers"], settings=settings, **optional)
    return Titled(sweep, *(content.get(key, "").strip() for key in ABOUT))


def make_spec(content: Toml) -> Spec:
    """Return the spec of `model`, the table `spec` and `seed` of a definition."""
    catalog.require_model(content["model"])
    given = dict(content.get("spec", {}))
    if "seed" in content and given.setdefault("seed", content["seed"]) != content["seed"]:
        raise InputError("seed", "given once", "two different ones", "remove it from [spec]")
    known = declared(catalog.MODELS[content["model"]])
    for name, value in given.items():
        _require_unquoted(name, value, known)
    return catalog.spec(content["model"], **given)


def make_success(given: Toml) -> Success:
    """Return the rule of a table `success`."""
    if "metric" not in given:
        remedy = 'write for example { metric = "error", below = 0.1 }'
        raise InputError("success", "given with a metric", "none", remedy)
    return Success(given["metric"], given.get("below"), given.get("above"))


def make_axis(name: str, given: Any) -> Given:
    """Return the values of an axis, from a list or a range."""
    if isinstance(given, list):
        return tuple(given)
    if not isinstance(given, dict):
        raise InputError(name, "a list or a range", quoted(given), "write [1, 2] or { from = 1, to = 5, steps = 5 }")
    for key in given:
        require_known(key, tuple(RANGE), what=f"key of the range {name}")
    for key, kind in RANGE.items():
        if key in given and not is_kind(given[key], kind):
            expected = words_of(kind)
            raise InputError(f"{key} of {name}", expected, quoted(given[key]), f"write it as {expected}")
        if key not in given and key != "spacing":
            raise InputError(name, "a range with from, to and steps", f"no {key}", f"add {key}")
    return Span(given["from"], given["to"], given["steps"], given.get("spacing", "linear"))


def require_settings(settings: Toml, solvers: Sequence[str], model: str) -> None:
    """Raise InputError for a number that is written in quotes."""
    known = dict(declared(Limits))
    for name in solvers:
        known |= catalog.solver(name, model).options
    for name, value in settings.items():
        _require_unquoted(name, value, known)


def _require_unquoted(name: str, value: Any, known: Mapping[str, Parameter]) -> None:
    # Text is read as a number elsewhere (the shell has nothing but text); in TOML it is a mistake.
    if name in known and known[name].kind is not str and isinstance(value, str):
        raise InputError(name, known[name].expected, quoted(value), "write it without quotes")


def to_toml(sweep: Sweep) -> str:
    """Return the sweep as TOML: `parse` gives it back."""
    spec, known = sweep.spec, declared(type(sweep.spec))
    # A parameter that an axis decides would mislead, as it holds in no cell.
    held = {
        name: value
        for name, value in spec.public_values().items()
        if name != "seed" and not (name in sweep.decided and value == known[name].default)
    }
    top: dict[str, Any] = {"model": spec.model, "solvers": list(sweep.solvers), "trials": sweep.trials}
    top["seed"] = spec.seed
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


class Located(InputError):
    """An error in a file, which names the path of a key: `axes.m[1]: m must be ...`."""


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
        return {(): self.content, **dict(key_paths(self.content))}

    @contextmanager
    def locate(self, *tables: KeyPath) -> Iterator[None]:
        """Put the path of the key that an InputError from within names in front of it; the key is in these tables."""
        try:
            yield
        except InputError as error:
            raise self.located(error, self._path_of(error, tables or ((),))) from error

    def located(self, error: InputError, path: KeyPath) -> InputError:
        """Return the error with a path; if the file lacks this path, with the innermost table around it."""
        if isinstance(error, Located):
            return error
        while path and path not in self.paths:
            path = path[:-1]
        named = path[-1:] == (error.name,)
        table = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[: -1 if named else None])
        name = f"{table}{'.' if named else ': '}{error.name}".lstrip(".: ")
        file = f"{self.file}: " if self.file else ""
        return Located(f"{file}{name}", error.expected, error.got, error.remedy)

    def check(self, keys: Keys, what: str, path: KeyPath = ()) -> None:
        """Raise InputError for the first unknown key, missing key or wrong kind of value in a table."""
        table = self.paths[path]
        for key, value in table.items():
            with self.locate((*path, key)):
                require_known(key, tuple(keys.kinds), what=f"key of {what}")
            self._check_kind(value, keys.kinds[key], (*path, key))
        for key in keys.required:
            if key not in table:
                remedy = f'add a line or a table "{key}" to the {what.split()[-1]}'
                raise self.located(InputError(key, "given", "nothing", remedy), path)

    def _check_kind(self, value: Any, kind: Any, path: KeyPath) -> None:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        name = str(next(part for part in reversed(path) if isinstance(part, str)))
        chosen = next((one for one in kinds if is_kind(value, one)), None)
        if chosen is None:
            words = " or ".join(words_of(one) for one in kinds)
            raise self.located(InputError(name, words, quoted(value), f"write it as {words}"), path)
        if isinstance(chosen, Keys):
            self.check(chosen, name, path)
        elif isinstance(chosen, list):
            for k, element in enumerate(value):
                self._check_kind(element, chosen[0], (*path, k))

    def _path_of(self, error: InputError, tables: tuple[KeyPath, ...]) -> KeyPath:
        """Return the path that an error is about: by its name and value, its name, a key or a value that it names."""
        got = format_value(error.got)
        tests: tuple[Callable[[object, str], bool], ...] = (
            lambda key, value: key == error.name and value == got,
            lambda key, value: key == error.name,
            lambda key, value: key == got,
            lambda key, value: value == got,
        )
        inside = [path for table in tables for path in self.paths if path and path[: len(table)] == table]
        named = (path for test in tests for path in inside if test(path[-1], format_value(self.paths[path])))
        return next(named, tables[0])


def is_kind(value: Any, kind: Any) -> bool:
    """Return whether a value has a kind, without a look at its elements."""
    if kind is object:
        return True
    if isinstance(kind, list):
        return isinstance(value, list)
    if isinstance(kind, Keys) or kind is dict:
        return isinstance(value, dict)
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, (int, float) if kind is float else kind)


def words_of(kind: Any) -> str:
    """Return the words for a kind of value."""
    if isinstance(kind, list):
        return "a list of " + ("tables" if isinstance(kind[0], Keys) else ELEMENTS[kind[0]])
    return WORDS[dict if isinstance(kind, Keys) else kind]


def quoted(value: Any) -> str:
    """Return a value as it stands in a message: text in quotes."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def key_paths(content: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield path and value of each key, table and list element in what TOML holds."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        yield (*path, key), value
        yield from key_paths(value, (*path, key))
