"""TOML texts with the line of every key and list element; checks of their tables, one sentence for each mistake."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lrlab.parameters import InputError, format_value, require_known

Path = tuple[str | int, ...]
"""Where a value is: keys of tables and numbers of list elements."""

TOKEN = re.compile(
    r"""[ \t\r]+ | \#[^\n]* | (?P<token>
    \"{3}(?:\\.|[^\\])*?\"{3,5} | '{3}.*?'{3,5} | "(?:\\.|[^"\\\n])*" | '[^'\n]*' | [][{}=,.\n]
    | [^][{}=,.\s"'\#]+ )""",
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
            self.file, self.lines = file, line_numbers(text)
        except (ValueError, RecursionError) as error:
            # A ValueError that is no TOMLDecodeError: a number of too many digits.
            raise InputError(what, "TOML", error, "correct it there") from error

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
        value: Any = self.content
        for part in path:
            value = value[part]
        return value

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
    return _Scanner(text).lines


class _Scanner:
    """Reads tokens one by one; the text is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}
        """Numbers of the tables so far, of each array of tables."""
        self._tokens = [(m["token"], m.start()) for m in TOKEN.finditer(text) if m["token"]] + [("", len(text))]
        self._next, self._line, self._counted, self._text = 0, 1, 0, text
        table: Path = ()
        while self._peek():
            if self._peek() == "\n":
                self._take()
            elif self._peek() == "[":
                table = self._header()
            else:
                self._pair(table)

    def _peek(self) -> str:
        return self._tokens[self._next][0]

    def _take(self) -> str:
        token, start = self._tokens[self._next]
        self._next += 1
        self._line += self._text.count("\n", self._counted, start)
        self._counted = start
        return token

    def _keys(self) -> list[str]:
        """Read a dotted key."""
        keys = []
        while True:
            token = self._take()
            keys.append(tomllib.loads(f"key = {token}")["key"] if token[0] in "\"'" else token)
            if self._peek() != ".":
                return keys
            self._take()

    def _mark(self, path: Path) -> None:
        self.lines.setdefault(path, self._line)

    def _header(self) -> Path:
        start = self._tokens[self._next][1]
        array = self._text.startswith("[[", start)
        for _ in range(1 + array):
            self._take()
        path: Path = ()
        keys = self._keys()
        for k, key in enumerate(keys):
            path += (key,)
            self._mark(path)
            if array and k == len(keys) - 1:
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:
                path += (self._tables[path] - 1,)
                self._mark(path)
        for _ in range(1 + array):
            self._take()
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for key in self._keys():
            path += (key,)
            self._mark(path)
        self._take()
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._peek() == "[":
            self._list(path)
        elif self._peek() == "{":
            self._take()
            while self._peek() != "}":
                if self._peek() in (",", "\n"):
                    self._take()
                else:
                    self._pair(path)
            self._take()
        else:
            while self._peek() not in (",", "]", "}", "\n", ""):
                self._take()

    def _list(self, path: Path) -> None:
        self._take()
        number = 0
        while self._peek() != "]":
            if self._peek() in (",", "\n"):
                self._take()
                continue
            # The line of the token itself, which is counted when it is taken.
            start = self._tokens[self._next][1]
            self.lines[*path, number] = self._line + self._text.count("\n", self._counted, start)
            self._value((*path, number))
            number += 1
        self._take()
