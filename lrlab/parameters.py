"""Declared parameters: one declaration gives the widget, the URL key, the shell flag, the check and its message.

An annotation declares a parameter: on a field of a model's spec, or on an option in a solver's signature. `declared`
reads both, so that the same code describes and checks models and solvers.
"""

import difflib
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from lrlab.aliases import VALUES

Value = bool | int | float | str
Owner = type | Callable[..., Any]

KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


class InputError(ValueError):
    """Bad input in one sentence: `rank must be in 1..30, got 40: lower the rank or raise d`."""

    def __init__(self, name: str, expected: str, got: object, remedy: str) -> None:
        self.name, self.expected, self.got, self.remedy = name, expected, got, remedy
        super().__init__(f"{name} must be {expected}, got {format_value(got)}: {remedy}")

    def __reduce__(self) -> tuple[type, tuple[str, str, object, str]]:
        """Pickle by the four parts (the default would pass the finished sentence as the name)."""
        return InputError, (self.name, self.expected, format_value(self.got), self.remedy)


def format_value(value: object) -> str:
    """Return a value for a message: one line, at most 60 characters."""
    text = " ".join(f"{value:g}".split()) if isinstance(value, float) else " ".join(str(value).split())
    return (text or "nothing") if len(text) <= 60 else text[:57] + "..."


_CONTROLS = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
    for code in (*range(9), *range(11, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


def printable(text: object) -> str:
    """Return a text for a terminal: what would move the cursor, color, or reverse what follows, is written as a code.

    Line breaks and tabs stay; parts of a file's name that are not text (surrogates) become codes, too.
    """
    return str(text).translate(_CONTROLS).encode("utf-8", "backslashreplace").decode()


def display_name(name: str) -> str:
    """Return the name of a measure or an option for display: `precision_3` is precision@3."""
    stem, _, places = name.rpartition("_")
    return f"{stem}@{places}" if places.isdigit() else name.replace("_", " ")


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, whose plural ends in s, for display: 1 sample, 1,200 samples."""
    return f"{count:,} {noun if count == 1 else noun + 's'}"


def duration(seconds: float) -> str:
    """Return a duration for display: 0.42 s, 12 s, 3 min, 2 h."""
    if seconds < 1:
        return f"{seconds:.2g} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """The declaration of one number or choice: its meaning for users and the values that are accepted.

    `low` and `high` are inclusive. `name`, `kind` and `default` come from the annotated field or argument.
    added: whether it comes after the parameters of derived classes.
    """

    meaning: str
    symbol: str = ""
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    scale: Literal["linear", "log"] = "linear"
    hidden: bool = False
    added: bool = False
    name: str = ""
    kind: type = float
    default: Value = 0.0

    @property
    def expected(self) -> str:
        """Say what values are accepted."""
        if self.choices:
            return "one of " + ", ".join(filter(None, self.choices))
        if math.isinf(self.low) and math.isinf(self.high):
            return KINDS[self.kind]
        return f"{KINDS[self.kind]} in {bound(self.low)}..{bound(self.high)}"

    def check(self, value: object) -> Value:
        """Return the value in its declared kind; a text is read.

        Raises InputError when it is not of that kind, not finite, out of bounds or not a choice.
        """
        parsed = self._parse(value)
        if parsed is None:
            raise InputError(self.name, self.expected, value, self._remedy())
        if self.choices and parsed not in self.choices and (parsed := VALUES.get(str(parsed))) not in self.choices:
            raise InputError(self.name, self.expected, value, nearest(str(value), self.choices) or self._remedy())
        if self.kind in (int, float) and not self.low <= float(parsed) <= self.high:
            raise InputError(self.name, self.expected, value, self._remedy(float(parsed)))
        return parsed

    def _parse(self, value: object) -> Value | None:
        if self.kind is str:
            return value if isinstance(value, str) else None
        if self.kind is bool:
            words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
            return words.get(str(value).strip().lower())
        if isinstance(value, bool):
            return None
        try:
            number = float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            return None
        if not math.isfinite(number) or (self.kind is int and number != round(number)):
            return None
        return int(number) if self.kind is int else number

    def _remedy(self, number: float | None = None) -> str:
        if number is not None and number > self.high:
            return f"lower {self.name} to {bound(self.high)} or less"
        if number is not None and number < self.low:
            return f"raise {self.name} to {bound(self.low)} or more"
        # An empty default, as of a page that shows nothing chosen, is no example.
        example = next(filter(None, self.choices), "") if self.default == "" else self.default
        return f"give {self.name} such a value, for example {format_value(example)}"


def number(low: float, high: float, help: str, **parts: Any) -> Parameter:
    """Declare a number from low to high, of an option, the second part of its `Annotated` type.

    help: its meaning for users. parts: other fields of `Parameter`, such as symbol, unit, scale.
    """
    return Parameter(meaning=help, low=low, high=high, **parts)


def choice(*choices: str, help: str, **parts: Any) -> Parameter:
    """Declare a word, for an option, the second part of its `Annotated` type."""
    return Parameter(meaning=help, choices=choices, **parts)


def gaussian_noise(added_to: str, symbol: str = "σ") -> Parameter:
    """Declare the standard deviation of noise on a quantity."""
    return Parameter(meaning=f"standard deviation of Gaussian noise added to {added_to}", symbol=symbol, low=0, high=10)


def bound(value: float) -> str:
    """Return a bound in words: whole numbers in full, `inf` as "any"."""
    if math.isinf(value):
        return "any"
    return str(int(value)) if value == int(value) else f"{value:g}"


def nearest(word: str, words: Mapping[str, object] | tuple[str, ...]) -> str:
    """Return `did you mean "..."?` for the closest known word, or nothing."""
    close = difflib.get_close_matches(str(word), list(words), n=1)
    return f'did you mean "{close[0]}"?' if close else ""


@cache
def declared(owner: Owner) -> Mapping[str, Parameter]:
    """Return the parameters declared by a spec class (its fields) or a solver (its keyword options), in order.

    `added` ones come last, also if they come from a base class.
    """
    hints = get_type_hints(owner, include_extras=True)
    if is_dataclass(owner):
        defaults: dict[str, Any] = {f.name: f.default for f in fields(owner)}
    else:
        defaults = {a.name: a.default for a in inspect.signature(owner).parameters.values()}
    declarations: dict[str, Parameter] = {}
    for name, default in defaults.items():
        hint = hints.get(name)
        if get_origin(hint) is not Annotated:
            continue
        kind, *notes = get_args(hint)
        parameter = next((note for note in notes if isinstance(note, Parameter)), None)
        if parameter is None or default in (MISSING, inspect.Parameter.empty):
            continue
        declarations[name] = replace(parameter, name=name, kind=kind, default=default, symbol=parameter.symbol or name)
    return MappingProxyType(dict(sorted(declarations.items(), key=lambda item: item[1].added)))


def settle(known: Mapping[str, Parameter], given: Mapping[str, object], what: str = "parameter") -> dict[str, Value]:
    """Return the value of each parameter, checked: the given one, or the default; InputError for unknown names."""
    for name in given:
        require_known(name, known, what)
    return {name: p.check(given[name]) if name in given else p.default for name, p in known.items()}


def require_known(name: str, known: Mapping[str, object] | tuple[str, ...], what: str) -> None:
    """Raise InputError, with the closest one, unless `name` is one of `known`."""
    if not isinstance(name, str) or name not in known:
        expected = "one of " + ", ".join(known) if known else "left out (there are none here)"
        raise InputError(what, expected, name, nearest(name, known) or f"take one of these as {what}")
