"""Sources that look changed."""

from importlib import import_module
from pathlib import Path

import pytest

from lrlab import code_hash


def forget():
    for known in (code_hash._versions.clear, code_hash._syntax.cache_clear):
        known()


@pytest.fixture
def edit(monkeypatch):
    """Return what replaces a text within a line of a module's source."""

    def edited(module, old, new):
        text = Path(import_module(module).__file__).read_bytes()
        assert old.encode() in text
        monkeypatch.setitem(code_hash.texts, module, text.replace(old.encode(), new.encode()))
        forget()

    yield edited
    monkeypatch.undo()
    forget()
