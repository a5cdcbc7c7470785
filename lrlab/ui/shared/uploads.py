"""Lets a worker read uploads, under its limits of memory and time: the server parses no file."""

from collections.abc import Callable
from typing import Any, TypeVar

from lrlab.engine.engine import get_engine
from lrlab.engine.results import collect
from lrlab.parameters import InputError
from lrlab.ui.shared import live

READ_SECONDS = 60.0

T = TypeVar("T")


def once(name: str, source: object, make: Callable[[], T]) -> T:
    """Return `make()` or raise its InputError; `once` calls it again only when `source` changes."""

    def attempt() -> T | InputError:
        try:
            return make()
        except InputError as error:
            return error

    value = live.once(name, source, attempt)
    if isinstance(value, InputError):
        raise value.with_traceback(None)
    return value


def on_worker(function: Callable[[Any], Any], item: Any) -> Any:
    """Return function(item), computed by a worker; InputError also if it takes too long or too much memory."""
    try:
        return collect(get_engine().map(function, [item], item_seconds=READ_SECONDS))[0]
    except RuntimeError as error:
        remedy = "upload a smaller one"
        raise InputError("file", f"one that a worker reads within {READ_SECONDS:g} s", str(error), remedy) from None
