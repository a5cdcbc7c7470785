"""The file of a store, and code that looks changed."""

import pytest

from lrlab import code_hash


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def edit(monkeypatch):
    """Return what gives a name of a module or class another value, as if its code had changed."""

    def edited(name, value):
        monkeypatch.setattr(name, value)
        code_hash._hashes.clear()

    yield edited
    monkeypatch.undo()
    code_hash._hashes.clear()
