"""TOML texts with the line of every key and list element; checks of their tables, one sentence for each mistake."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import getitem
from typing import Any

from lrlab.parameters import InputError, format_value, require_known

Path = tuple[str | int, ...]
"""Where a value is: keys of tables and numbers of list elements."""

TEXT = r"""(?: "(?:\\.|[^"\\\n])*" | '[^'\n]*' )"""
KEYS = rf"(?P<keys> (?:[\w-]+|{TEXT}) (?: [ \t]*\.[ \t]* (?:[\w-]+|{TEXT}) )* ) [ \t]*"
HEADER = re.compile(rf"(?: \A | \n ) [ \t]* \[ (?P<array>\[?) [ \t]* {KEYS} \]{{1,2}}", re.VERBOSE)
TOKEN = re.compile(
    rf"""\#[^\n]* | {KEYS} = | (?P<open>[\[{{]) | (?P<close>[\]}}]) | (?P<value>
    "{{3}}(?:\\.|[^\\])*?"{{3,5}} | '{{3}}.*?'{{3,5}} | {TEXT} | [^][{{}},\s"'\#][^][{{}},\n"'\#]* ) | .""",
    re.DOTALL | re.VERBOSE,
)
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


class Source:
    """A TOML text: its content, and the lines of it. `file` stands before line numbers in messages."""

    def __init__(self, text: str, what: str = "sweep file", file: str = "") -> None:
        """Read the text; InputError where it is no TOML."""
        try:
            self.content: dict[str, Any] = tomllib.loads(text)
            self.file, self._text = file, text
        except (ValueError, RecursionError) as error:
            # A ValueError that is no TOMLDecodeError: a number of too many digits.
            raise InputError(what, "TOML", error, "correct it there") from error

    @cached_property
    def lines(self) -> dict[Path, int]:
        """The line of each key, table and list element."""
        return line_numbers(self._text)

    @contextmanager
    def locate(self, *tables: Path) -> Iterator[None]:
        """Put the line in front of an InputError from within: that of what it names, looked for in these tables."""
        try:
            yield
        except InputError as error:
            raise self.located(error, self._path_of(error, tables or ((),))) from error

    def located(self, error: InputError, path: Path) -> InputError:
        """Return the error with the line of a path, or of the innermost table around it that has one."""
        if re.match(r"(\S+, )?line \d", error.name):
            return error
        line = next((self.lines[path[:k]] for k in range(len(path), 0, -1) if path[:k] in self.lines), 1)
        file = f"{self.file}, " if self.file else ""
        return InputError(f"{file}line {line}: {error.name}", error.expected, error.got, error.remedy)

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
        inside = [path for table in tables for path in self.lines if path[: len(table)] == table]
        for test in tests:
            for path in inside:
                if test(path[-1], format_value(self.value(path))):
                    return path
        return tables[0]


def is_kind(value: Any, kind: Any) -> bool:
    """Return whether a value is of a kind, its elements aside."""
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


def line_numbers(text: str) -> dict[Path, int]:
    """Return the line, from 1, of each key, table and list element of a valid TOML text, in the order of the text."""
    lines: dict[Path, int] = {}
    # Sizes so far of lists and arrays of tables; the tables and lists around what comes next.
    sizes: dict[Path, int] = {}
    around: list[Path] = [()]
    path, line, position, counted = Path(), 1, 0, 0

    def add_element(owner: Path) -> Path:
        sizes[owner] = sizes.get(owner, 0) + 1
        return *owner, sizes[owner] - 1

    while match := (HEADER.match(text, position) if len(around) == 1 else None) or TOKEN.match(text, position):
        kind, start, position = match.lastgroup, match.start(match.lastgroup or 0), match.end()
        line, counted = line + text.count("\n", counted, start), start
        if match.re is HEADER:
            *outer, last = _keys(match["keys"])
            path = ()
            for key in outer:
                lines.setdefault(path := (*path, key), line)
                path = (*path, sizes[path] - 1) if path in sizes else path
            lines.setdefault(path := (*path, last), line)
            if match["array"]:
                lines[path := add_element(path)] = line
            around = [path]
        elif kind == "keys":
            path = around[-1]
            for key in _keys(match["keys"]):
                lines.setdefault(path := (*path, key), line)
        elif kind == "close":
            around.pop()
        elif kind:
            if len(around) > 1 and around[-1] in sizes:
                lines[path := add_element(around[-1])] = line
            if kind == "open":
                around.append(path)
            if match["open"] == "[":
                sizes[path] = 0
    return lines


def _keys(dotted: str) -> Iterator[str]:
    content: Any = tomllib.loads(f"{dotted} = 0")
    while isinstance(content, dict):
        [(key, content)] = content.items()
        yield key
