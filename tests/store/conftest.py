"""Sources that look changed."""

from functools import cache
from pathlib import Path

import pytest

from lrlab import code_graph, code_sources
from lrlab.store import code_version


def forget():
    for cached in (code_version.version_of, code_version._with_uses, code_version._alone):
        cached.cache_clear()
    for cached in (code_graph.code, code_graph.module, code_sources.module_file):
        cached.cache_clear()


@pytest.fixture
def sources(monkeypatch):
    """Return texts that stand for the sources of modules, by name; `forget` is to be called after a change."""
    texts, source, file = {}, code_sources.source, code_sources.module_file.__wrapped__
    monkeypatch.setattr(code_sources, "source", lambda name: texts.get(name) or source(name))
    monkeypatch.setattr(
        code_sources, "module_file", cache(lambda name: Path(__file__) if name in texts else file(name))
    )
    forget()
    yield texts
    monkeypatch.undo()
    forget()


@pytest.fixture
def edit(sources):
    """Return what replaces a text in a module's source."""

    def edited(module, old, new):
        text = code_sources.source(module)
        assert old.encode() in text
        sources[module] = text.replace(old.encode(), new.encode())
        forget()

    return edited
