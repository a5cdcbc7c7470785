"""What all tests share: one engine for the whole session, and processes that Ctrl-C ends."""

import os
import signal
from collections.abc import Iterator

import pytest

from lrlab.engine.engine import Engine, close_engines, get_engine


@pytest.fixture(scope="session", autouse=True)
def lab(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let pages, in this process and in servers that tests start, keep their trials away from a person's own."""
    os.environ["LRLAB_STORE"] = str(tmp_path_factory.mktemp("lab") / "trials.sqlite")


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Return the engine of this process, warm; pages that are tested in this process use the same one."""
    engine = get_engine()
    engine.warm()
    yield engine
    close_engines()


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> Iterator[None]:
    """Undo it where a shell has started the tests in the background with SIGINT ignored: children would inherit it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
