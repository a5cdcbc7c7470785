"""Waiting for a condition, in another thread, for the address of a scheduler."""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE = 240.0
"""The longest wait of a test, in seconds: a machine may be twenty times slower than a laptop."""


def aside(function: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
    """Run a function in another thread: `asyncio.run` fails in the thread of a browser's event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments, **keywords).result()


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> float:
    """Return the seconds until the condition held; AssertionError after so many."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() < began + seconds, "timed out"
        time.sleep(0.02)
    return time.monotonic() - began


def address_in(file: Path) -> str:
    """Return the address in a scheduler's file, or nothing while it is missing or incomplete."""
    with suppress(FileNotFoundError, json.JSONDecodeError):
        return str(json.loads(file.read_text())["address"])
    return ""
