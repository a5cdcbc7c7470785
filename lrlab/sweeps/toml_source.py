"""Checks of the tables of TOML texts: one sentence for each mistake, which names the path of the key."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import getitem
from typing import Any

from lrlab.parameters import InputError, format_value, require_known

Path = tuple[str | int, ...]
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
    def paths(self) -> list[Path]:
        """The paths of all keys, tables and list elements."""
        return list(key_paths(self.content))

    @contextmanager
    def locate(self, *tables: Path) -> Iterator[None]:
        """Put the path of the key that an InputError from within names in front of it; the key is in these tables."""
        try:
            yield
        except InputError as error:
            raise self.located(error, self._path_of(error, tables or ((),))) from error

    def located(self, error: InputError, path: Path) -> InputError:
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

    def check(self, keys: Keys, what: str, path: Path = ()) -> None:
        """Raise InputError for the first unknown key, missing key or wrong kind of value in a table."""
        table = self.value(path)
        for key, value in table.items():
            with self.locate((*path, key)):
                require_known(key, tuple(keys.kinds), what=f"key of {what}")
            self._check_kind(value, keys.kinds[key], (*path, key))
        for key in keys.required:
            if key not in table:
                remedy = f'add a line or a table "{key}" to the {what.split()[-1]}'
                raise self.located(InputError(key, "given", "nothing", remedy), path)

    def value(self, path: Path) -> Any:
        """Return the value at a path."""
        content: Any = self.content
        return reduce(getitem, path, content)

    def _check_kind(self, value: Any, kind: Any, path: Path) -> None:
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

    def _path_of(self, error: InputError, tables: tuple[Path, ...]) -> Path:
        """Return the path that an error is about: by its name and value, its name, a key or a value that it names."""
        got = format_value(error.got)
        tests: tuple[Callable[[object, str], bool], ...] = (
            lambda key, value: key == error.name and value == got,
            lambda key, value: key == error.name,
            lambda key, value: key == got,
            lambda key, value: value == got,
        )
        inside = [path for table in tables for path in self.paths if path[: len(table)] == table]
        for test in tests:
            for path in inside:
                if test(path[-1], format_value(self.value(path))):
                    return path
        return tables[0]


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


def key_paths(content: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each key, table and list element in what TOML holds."""
    pairs = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from key_paths(value, (*path, key))
