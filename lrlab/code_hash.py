"""Versions of code: a hash of the source of a function or class, and of all own code and values that it reaches.

Names of functions, their modules, docstrings, comments and annotations are left out. Own code is that of lrlab, of the
package of what is hashed, of a notebook, and of files that are not installed; other libraries count by name.
"""

import ast
import hashlib
import importlib.util
import inspect
import linecache
import os
import pickle
import random
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

PACKAGE = "lrlab"
EXCLUDED = frozenset({"lrlab.protocol", "lrlab.parameters", "lrlab.model_hooks"})
"""Modules that all solvers and models use; `store.code_version.EDITION` stands for a change of numbers there."""
DESCRIPTIONS = frozenset(
    {"title", "summary", "equation", "memory_advice", "data_bytes", "undetermined", "remark", "judgement", "ending"}
    | {"data_metrics", "view", "view_words"}
)
"""Members of a spec that describe it and compute no numbers of a trial."""
IGNORED = frozenset({"annotation", "returns", "simple", "ctx", "kind", "type_comment"})
"""Parts of a syntax tree that change no numbers."""
PLAIN = int, float, complex, str, bytes, type(None), np.generic, slice, range, Path
RANDOM = np.random.Generator, np.random.RandomState, random.Random
"""Objects whose next numbers differ from those before."""
GENERATED = "<string>"
"""The file of methods that dataclasses and named tuples generate."""
STARTED = time.time()

texts: dict[str, bytes] = {}
"""Sources of modules that were run from a text, by name."""
_versions: dict[Any, str] = {}


def version(thing: Any) -> str:
    """Return the version of a function or class when it was first asked for, or renewed: 16 hexadecimal digits.

    Code without a known source, and values that cannot be read, have another version in each process.
    """
    if thing not in _versions:
        _versions[thing] = _Reader(thing).read()
    return _versions[thing]


def renew(thing: Any) -> None:
    """Read a function or class again: what it uses in a notebook may have changed."""
    _syntax.cache_clear()
    _versions[thing] = _Reader(thing).read()


def digest(text: str) -> str:
    """Return a short hash of a text: 16 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def docstring(function: Callable[..., Any]) -> str:
    """Return the docstring of a function, or ""; from its source if Python was started with -OO."""
    text, inner = inspect.getdoc(function), inspect.unwrap(function)
    if text is None and sys.flags.optimize > 1 and isinstance(inner, FunctionType):
        text = next((ast.get_docstring(node) for node in _nodes(inner) if isinstance(node, ast.FunctionDef)), None)
    return text or ""


@cache
def is_installed(module: str) -> bool:
    """Return whether a module is neither of lrlab nor of a notebook, nor a file that was not installed."""
    top = module.partition(".")[0]
    if top in (PACKAGE, "__main__") or module in texts:
        return False
    with suppress(ImportError, AttributeError, ValueError):
        file = getattr(sys.modules.get(top), "__file__", None) or importlib.util.find_spec(top).origin  # type: ignore[union-attr]
        path = Path(file or "")
        packages = {"site-packages", "dist-packages"} & set(path.parts)
        return bool(packages) or not path.is_file() or path.is_relative_to(Path(os.__file__).parent)
    return True


class _Reader:
    """Writes what is reached from a function or class, each function and class once, by its place among them."""

    def __init__(self, root: Any) -> None:
        self.package = (getattr(root, "__module__", None) or "").partition(".")[0]
        self.places: dict[Any, int] = {}
        self.things: list[Any] = []
        self.root = root

    def read(self) -> str:
        """Return the hash of all that is reached."""
        try:
            first = self.value(self.root)
            # Grows meanwhile.
            return digest("\n".join([first, *(self._code(thing) for thing in self.things)]))
        except Exception:
            # Whatever objects of others raise, as those that hold themselves: never the same.
            return digest(str(uuid.uuid4()))

    def value(self, value: Any) -> str:
        """Return a value as text; a function or class of its own by its place."""
        if isinstance(value, np.generic):
            return f"{value.dtype}({value})"
        if isinstance(value, PLAIN):
            return repr(value)
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            return f"Array({value.dtype}, {value.shape}, {hashlib.blake2b(value.tobytes()).hexdigest()})"
        if isinstance(value, Mapping):
            return f"Mapping({', '.join(f'{self.value(key)}: {self.value(one)}' for key, one in value.items())})"
        if isinstance(value, set | frozenset):
            return f"Set({', '.join(sorted(map(self.value, value)))})"
        if isinstance(value, tuple | list) and not (hasattr(value, "_fields") and self._own(type(value).__module__)):
            return f"{type(value).__name__}({', '.join(map(self.value, value))})"
        if isinstance(value, re.Pattern):
            return f"Pattern({value.pattern!r}, {value.flags})"
        if isinstance(value, partial):
            return f"Partial({self.value((value.func, value.args, value.keywords))})"
        if isinstance(value, MethodType):
            return f"Method({self.value((value.__func__, value.__self__))})"
        return self._object(inspect.unwrap(value) if callable(value) else value)

    def _object(self, value: Any) -> str:
        if isinstance(value, ModuleType):
            if value.__name__ == PACKAGE or not self._own(value.__name__):
                return f"Module({value.__name__})"
            return self.value([one for one in vars(value).values() if getattr(one, "__module__", "") == value.__name__])
        if isinstance(value, FunctionType | type):
            if not self._own(value.__module__):
                return value.__qualname__
            if value not in self.places:
                self.places[value] = len(self.places)
                self.things.append(value)
            return f"#{self.places[value]}"
        if type(value).__module__ in EXCLUDED | {"typing", "types", "collections.abc"}:
            # Declarations, and names of types.
            return type(value).__name__
        if self._own(type(value).__module__):
            names = getattr(value, "_fields", ())
            if is_dataclass(value):
                names = tuple(field.name for field in fields(value))
            elif not names and hasattr(value, "__dict__"):
                computed = {
                    name for name, one in inspect.getmembers_static(type(value)) if isinstance(one, cached_property)
                }
                names = tuple(sorted(vars(value).keys() - computed))
            return f"{self.value(type(value))}({self.value([getattr(value, name) for name in names])})"
        if callable(value) and (named := getattr(value, "__name__", None)):
            return str(named)
        if isinstance(value, RANDOM):
            return str(uuid.uuid4())
        return digest(pickle.dumps(value).hex())

    def _own(self, module: str | None) -> bool:
        module = module or ""
        return module not in EXCLUDED and (module.partition(".")[0] == self.package or not is_installed(module))

    def _code(self, thing: Any) -> str:
        if isinstance(thing, type):
            return f"{self.value(thing.__bases__)} {self.value(_members(thing))}"
        text, uses = _syntax(thing)
        defaults = self.value((thing.__defaults__, thing.__kwdefaults__))
        return f"{text or uuid.uuid4()} {defaults} {self.value(uses)}"


def _members(kind: type) -> dict[str, Any]:
    """Return what a class defines, without words, by name; of methods their functions, of fields their order."""
    members: dict[str, Any] = {
        "_fields": getattr(kind, "_fields", ()) or list(getattr(kind, "__dataclass_fields__", ()))
    }
    for name, member in sorted(vars(kind).items()):
        if isinstance(member, property):
            member = [function for function in (member.fget, member.fset) if function]
        elif isinstance(member, cached_property):
            member = member.func
        elif isinstance(member, staticmethod | classmethod):
            member = member.__func__
        code = getattr(inspect.unwrap(member) if callable(member) else None, "__code__", None)
        generated = code is not None and code.co_filename == GENERATED
        machinery = code is None and (name.startswith(("__", "_abc")) or inspect.isdatadescriptor(member))
        if name not in DESCRIPTIONS and not generated and not machinery:
            members[name] = member
    return members


@cache
def _syntax(function: FunctionType) -> tuple[str, list[Any]]:
    """Return a function as text, and the values that it finds outside by the numbers that they have there."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    around = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    writer = _Writer(function, {**function.__globals__, **around})
    return "".join(map(writer.text, writer.roots)), writer.uses


def _is_filled(cell: Any) -> bool:
    with suppress(ValueError):
        return cell.cell_contents is not cell
    return False


def _nodes(function: FunctionType) -> list[ast.AST]:
    """Return the definitions on the first line of a function; none if the source is unknown or newer than the code."""
    file = function.__code__.co_filename
    text = texts.get(function.__module__) or source(file)
    return _definitions(text).get((function.__code__.co_firstlineno, function.__code__.co_name), []) if text else []


def source(file: str) -> bytes:
    """Return the source of a file or notebook cell; nothing for a file that was changed after this process began."""
    if os.path.isfile(file):
        return Path(file).read_bytes() if os.path.getmtime(file) < STARTED else b""
    return "".join(linecache.getlines(file)).encode()


@cache
def _definitions(text: bytes) -> dict[tuple[int, str], list[ast.AST]]:
    """Return the functions in a source, by their first line and their name."""
    found: dict[tuple[int, str], list[ast.AST]] = {}
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            found.setdefault((line, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            found.setdefault((node.lineno, "<lambda>"), []).append(node)
    return found


def _parsed(text: bytes) -> ast.Module:
    for _ in range(10):
        # Up to Python 3.12 the parser counts its depth for all threads together: one that parses at the same time (a
        # page's script, say) disturbs the count, and the interpreter refuses the tree that it has made.
        with suppress(SystemError):
            return ast.parse(text)
    return ast.parse(text)


class _Writer:
    """Writes syntax as text, with numbers for the values that it finds outside."""

    def __init__(self, function: FunctionType, known: Mapping[str, Any]) -> None:
        self.function, self.known = function, dict(known)
        self.names = {*_names(function.__code__), *function.__code__.co_freevars}
        self.roots, self.uses = _nodes(function), list[Any]()

    def text(self, node: object) -> str:
        """Return a node, a list of nodes or a value. Not `ast.dump`, whose form depends on the version of Python."""
        if isinstance(node, list):
            return f"[{', '.join(self.text(part) for part in node if not self._is_wordy(part))}]"
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            # Decorators and defaults are evaluated outside.
            outside = [*getattr(node, "decorator_list", []), *node.args.defaults, *filter(None, node.args.kw_defaults)]
            if not isinstance(node, ast.Lambda):
                # What is declared of a solver changes none of its numbers.
                node.decorator_list = [one for one in node.decorator_list if not _declares_solver(one)]
            self.names |= {one.id for part in outside for one in ast.walk(part) if isinstance(one, ast.Name)}
        if (used := self._resolved(node)) is not None:
            return self._number(used[0])
        kind, parts = type(node).__name__, dict(ast.iter_fields(node))
        if isinstance(node, ast.AnnAssign):
            kind, parts = "Assign", {"targets": [node.target], "value": node.value}
        if node in self.roots:
            parts.pop("name", None)
        fields = [f"{k}={self.text(v)}" for k, v in parts.items() if k not in IGNORED and v not in (None, [])]
        return f"{kind}({', '.join(fields)})"

    def _number(self, value: Any) -> str:
        place = next((place for place, used in enumerate(self.uses) if used is value), len(self.uses))
        if place == len(self.uses):
            self.uses.append(value)
        return f"@{place}"

    def _resolved(self, node: ast.AST) -> tuple[Any] | None:
        """Return the value that a name, or an attribute of an own module, has outside; None for others."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self.names & self.known.keys():
            return (self.known[node.id],)
        if isinstance(node, ast.Attribute):
            owner = self._resolved(node.value)
            if owner and isinstance(owner[0], ModuleType) and not is_installed(owner[0].__name__):
                with suppress(AttributeError):
                    return (getattr(owner[0], node.attr),)
        return None

    def _is_wordy(self, part: object) -> bool:
        """Tell whether a statement says or declares something alone; imports of own code are resolved."""
        if isinstance(part, ast.Import | ast.ImportFrom):
            return self._imports_own(part)
        bare = isinstance(part, ast.AnnAssign) and part.value is None
        return bare or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))

    def _imports_own(self, node: ast.Import | ast.ImportFrom) -> bool:
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        relative = isinstance(node, ast.ImportFrom) and node.level
        package = self.function.__module__.partition(".")[0]
        if not relative and any(is_installed(name) and name.partition(".")[0] != package for name in modules):
            return False
        bound = {name: self.known.get(name) for name in ("__name__", "__package__")}
        exec(compile(ast.Module([node], []), self.function.__code__.co_filename, "exec"), bound)
        self.known |= bound
        self.names |= bound.keys()
        return True


def _declares_solver(decorator: ast.expr) -> bool:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return str(getattr(called, "id", getattr(called, "attr", ""))).endswith("solver")


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
