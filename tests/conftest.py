"""What all tests share: one engine for the whole session."""

from collections.abc import Iterator

import pytest

from lrlab.experiments.engine import Engine, close_engines, get_engine


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """Return the engine of this process, warm; pages that are tested in this process use the same one."""
    engine = get_engine()
    engine.warm()
    yield engine
    close_engines()
