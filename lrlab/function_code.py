"""Reads the code of functions whose modules have no source, as those of a notebook, with the values that they use.

What they use is looked up where they do: other functions of the notebook are read in the same way, constants by their
values. What cannot be read, as an object of a class of their own, makes the code unlike any other.
"""

import ast
import hashlib
import inspect
import textwrap
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from lrlab import code_graph, code_sources
from lrlab.code_graph import Code, Definition

PLAIN = int, float, complex, str, bytes, bool, type(None), np.generic, slice, range


def has_source(value: Any) -> bool:
    """Return whether a function or class is defined at the top level of a module whose source is known."""
    name = getattr(value, "__name__", "")
    tree = code_graph.module(value.__module__) if name == getattr(value, "__qualname__", None) else None
    return tree is not None and name in tree.statements


def read(function: FunctionType) -> Code:
    """Return the code of a function and of all that it uses that has no source."""
    reader = _Reader()
    reader.function(function)
    return Code("\n".join(reader.texts.values()), frozenset(reader.uses))


class _Reader:
    """Writes functions as text, by their places in the order in which they were met, and notes what they use."""

    def __init__(self) -> None:
        self.texts, self.uses = dict[Any, str](), set[Definition]()

    def function(self, function: FunctionType) -> str:
        """Return the name of a function; its text is added to the others."""
        if function not in self.texts:
            # Before it is read, for it may call itself.
            self.texts[function] = ""
            tree = _tree(function)
            if tree is None:
                self.texts[function] = _unlike()
            else:
                own = {name: self.value(value) for name, value in sorted(_used(function, tree).items())}
                defaults = self.value((function.__defaults__, function.__kwdefaults__))
                writer = code_graph.Writer(function.__module__, {})
                self.texts[function] = f"{writer.text(tree.body)} {defaults} {own}"
                self.uses |= writer.uses
        return f"Function({list(self.texts).index(function)})"

    def value(self, value: Any) -> str:
        """Return a value as text."""
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            entries = hashlib.blake2b(np.ascontiguousarray(value).tobytes()).hexdigest()
            return f"Array({value.dtype}, {value.shape}, {entries})"
        if isinstance(value, tuple | list):
            return f"{type(value).__name__}({', '.join(map(self.value, value))})"
        if isinstance(value, set | frozenset):
            return f"Set({', '.join(sorted(map(self.value, value)))})"
        if isinstance(value, Mapping):
            return f"Mapping({', '.join(f'{self.value(k)}: {self.value(v)}' for k, v in value.items())})"
        return self._object(value)

    def _object(self, value: Any) -> str:
        if isinstance(value, ModuleType):
            # The package itself is what its parts are found by.
            own = value.__name__ != code_sources.PACKAGE and code_sources.is_own(value.__name__)
            if own and (tree := code_graph.module(value.__name__)):
                self.uses |= {Definition(value.__name__, name) for name in tree.statements}
            return f"Module({value.__name__})"
        value = inspect.unwrap(value) if callable(value) else value
        module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
        if not module or not name:
            return _unlike()
        if has_source(value) and code_sources.is_own(module):
            if module not in code_graph.EXCLUDED:
                self.uses.add(Definition(module, name))
        elif isinstance(value, FunctionType) and (module == "__main__" or code_sources.is_own(module)):
            return self.function(value)
        elif module == "__main__":
            return _unlike()
        # Of other libraries the name says enough, as in a file.
        return f"Name({name})"


def _unlike() -> str:
    return str(uuid.uuid4())


def _tree(function: FunctionType) -> ast.Module | None:
    """Return the syntax tree of a function; None where its source is unknown or may be a newer one than what runs."""
    with suppress(OSError, TypeError, SyntaxError, IndentationError):
        file = Path(inspect.getfile(function))
        if not file.is_file() or file.stat().st_mtime < code_sources.STARTED:
            return code_sources.parsed(textwrap.dedent(inspect.getsource(function)).encode())
    return None


def _used(function: FunctionType, tree: ast.Module) -> dict[str, Any]:
    """Return the values that a function finds in its module and in functions around it, by their names."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    around = {name: cell.cell_contents for name, cell in cells if _filled(cell)}
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = words & set(_names(function.__code__)) | {
        node.id
        for statement in tree.body
        for decorator in getattr(statement, "decorator_list", [])
        for node in ast.walk(decorator)
        if isinstance(node, ast.Name)
    }
    return {name: value for name, value in function.__globals__.items() if name in names} | around


def _filled(cell: Any) -> bool:
    with suppress(ValueError):
        return cell.cell_contents is not cell
    return False


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
