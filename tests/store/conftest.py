"""The file of a store, and code that looks changed."""

from collections.abc import Iterator
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import CodeType, FunctionType

import pytest

from lrlab import code_hash


def codes(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner.co_qualname, inner
            yield from codes(inner)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


@pytest.fixture
def edit(monkeypatch):
    """Return what gives the functions and methods of a module the code of a changed text."""

    def edited(module, old, new):
        module = import_module(module)
        text = Path(module.__file__).read_text("utf-8")
        assert old in text
        changed = dict(codes(compile(text.replace(old, new), module.__file__, "exec", dont_inherit=True)))
        kinds = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        for member in [value for owner in (module, *kinds) for value in vars(owner).values()]:
            function = unwrap(getattr(member, "fget", None) or getattr(member, "func", member))
            if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                monkeypatch.setattr(function, "__code__", changed.get(function.__qualname__, function.__code__))
        code_hash._hashes.clear()

    yield edited
    monkeypatch.undo()
    code_hash._hashes.clear()
