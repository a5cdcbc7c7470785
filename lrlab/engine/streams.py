"""Former names of `lrlab.engine.stream`, until no caller is left."""

from collections.abc import Callable, Iterable
from typing import Any

from lrlab.engine.engine import Engine
from lrlab.engine.stream import ItemResult, LocalStream, ResultStream, StartStream

HereStream, Start, Stream = LocalStream, StartStream, ResultStream
News = list[ItemResult]


def on_engine(engine: Callable[[], Engine]) -> StartStream:
    """Return what computes on an engine, which is not asked for before it is needed."""

    def start(function: Callable[[Any], Any], items: Iterable[Any]) -> ResultStream:
        return engine().map(function, items)

    return start
