"""Versions of code: a hash of a function or class, and of the code and values that it reaches in lrlab and your files.

The hash reads bytecode, that is, what runs: it needs no source, and docstrings, comments, and the names and modules of
functions do not enter. Another version of Python therefore gives other hashes. Installed libraries enter by name.
"""

import dis
import hashlib
import importlib.util
import inspect
import os
import pickle
import random
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib import import_module
from inspect import getattr_static
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

PACKAGE = "lrlab"
EXCLUDED = frozenset({"lrlab.protocol", "lrlab.parameters"})
"""Modules that all solvers and models use; `store.store.EDITION` stands for a change of numbers there."""
DECLARED = EXCLUDED | {"typing", "types", "collections.abc"}
"""Modules whose objects are declarations, or names of types."""
DESCRIPTIONS = frozenset(
    {"title", "summary", "equation", "memory_advice", "data_bytes", "undetermined", "remark", "judgement", "ending"}
    | {"data_metrics", "view", "view_words"}
)
"""Members of a spec that describe it and compute no numbers of a trial."""
PLAIN = int, float, complex, str, bytes, type(None), type(...), slice, range, Path
RANDOM = np.random.Generator, np.random.RandomState, random.Random
"""Objects whose next numbers differ from the previous ones."""
GENERATED = "<string>"
"""The file of methods that dataclasses and named tuples generate."""

_versions: dict[Any, str] = {}


def version(thing: Any) -> str:
    """Return the version of a function or class, 16 hexadecimal digits, computed at the first call or by `renew`.

    Values that cannot be read, such as locks, give another version in each process.
    """
    return _versions[thing] if thing in _versions else renew(thing)


def renew(thing: Any) -> str:
    """Compute the version of a function or class again, whose code in a notebook may have changed; return it."""
    _versions[thing] = _Reader(thing).read()
    return _versions[thing]


def digest(text: str) -> str:
    """Return a short hash of a text: 16 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@cache
def is_installed(module: str) -> bool:
    """Return whether a module belongs to an installed library: not to lrlab, a plugin, a notebook or a loose file."""
    top = module.partition(".")[0]
    if top.startswith((PACKAGE, "__main__")):
        return False
    with suppress(ImportError, AttributeError, ValueError):
        file = getattr(sys.modules.get(top), "__file__", None) or importlib.util.find_spec(top).origin  # type: ignore[union-attr]
        path = Path(file or "")
        packages = {"site-packages", "dist-packages"} & set(path.parts)
        return bool(packages) or not path.is_file() or path.is_relative_to(Path(os.__file__).parent)
    return True


class _Reader:
    """Writes a function or class and all that it reaches as text: each function and class once, numbered."""

    def __init__(self, root: Any) -> None:
        self.package = (getattr(root, "__module__", None) or "").partition(".")[0]
        self.numbers: dict[Any, int] = {}
        self.root = root

    def read(self) -> str:
        """Return the hash of the text."""
        try:
            texts, things = [self.value(self.root)], self.numbers
            while len(texts) <= len(things):
                texts.append(self._definition(list(things)[len(texts) - 1]))
            return digest("\n".join(texts))
        except Exception:
            # Objects of other libraries may raise anything, and an object may hold itself: no two versions agree.
            return digest(str(uuid.uuid4()))

    def value(self, value: Any) -> str:
        """Return a value as text; a function or class of lrlab or of your files by its number."""
        while hasattr(value, "__wrapped__") and not (isinstance(value, FunctionType) and self._own(value.__module__)):
            # A decorator of a library, such as `cache`. A decorator of yours is read with the wrapped function.
            value = value.__wrapped__
        kind = type(value)
        match value:
            case np.generic() | np.ndarray() if not value.dtype.hasobject:
                return f"Array({value.dtype}, {value.shape}, {hashlib.blake2b(value.tobytes()).hexdigest()})"
            case Mapping():
                return f"Mapping({', '.join(f'{self.value(key)}: {self.value(one)}' for key, one in value.items())})"
            case set() | frozenset():
                return f"Set({', '.join(sorted(map(self.value, value)))})"
            case tuple() | list() if not (hasattr(value, "_fields") and self._own(kind.__module__)):
                return f"{kind.__name__}({', '.join(map(self.value, value))})"
            case partial():
                return f"Partial({self.value((value.func, value.args, value.keywords))})"
            case MethodType():
                return f"Method({self.value((value.__func__, value.__self__))})"
            case ModuleType() if value.__name__ == PACKAGE or not self._own(value.__name__):
                return f"Module({value.__name__})"
            case ModuleType():
                members = vars(value).values()
                return self.value([one for one in members if getattr(one, "__module__", "") == value.__name__])
            case FunctionType() | type():
                own = self._own(value.__module__)
                return f"#{self.numbers.setdefault(value, len(self.numbers))}" if own else value.__qualname__
        if isinstance(value, PLAIN):
            return repr(value)
        if kind.__module__ in DECLARED:
            return kind.__name__
        if self._own(kind.__module__):
            return f"{self.value(kind)}({self.value(_state(value))})"
        if callable(value) and (named := getattr(value, "__name__", None)):
            return str(named)
        return str(uuid.uuid4()) if isinstance(value, RANDOM) else digest(pickle.dumps(value).hex())

    def _own(self, module: str | None) -> bool:
        module = module or ""
        return module not in EXCLUDED and (module.partition(".")[0] == self.package or not is_installed(module))

    def _definition(self, thing: Any) -> str:
        if isinstance(thing, type):
            return f"{self.value(thing.__bases__)} {self.value(_members(thing))}"
        known = dict(thing.__globals__)
        for name, cell in zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True):
            # ValueError: the name is not set yet.
            with suppress(ValueError):
                known[name] = cell.cell_contents
        return f"{self._code(thing.__code__, known)} {self.value((thing.__defaults__, thing.__kwdefaults__))}"

    def _code(self, code: CodeType, known: Mapping[str, Any]) -> str:
        """Return instructions as text, with the values of `known` names from outside: global names and closures."""
        known = {name: value for name, value in known.items() if name not in code.co_cellvars}
        steps = [step for step in dis.get_instructions(code) if step.opname != "EXTENDED_ARG"]
        flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        parts: list[Any] = [(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], flags)]
        for k, step in enumerate(steps):
            name, kind = step.argval, step.opname
            module = parts[-1].value if isinstance(parts[-1], _Outside) else None
            own = isinstance(module, ModuleType) and self._own(module.__name__)
            if own and kind in ("LOAD_ATTR", "LOAD_METHOD") and hasattr(module, name):
                parts[-1] = _Outside(getattr(module, name))
            elif kind.startswith("LOAD_") and kind.endswith(("GLOBAL", "NAME", "DEREF")) and name in known:
                parts.append(_Outside(known[name]))
            elif kind == "IMPORT_NAME":
                level, names = (one.argval for one in steps[k - 2 : k])
                parts.append(self._imported("." * level + name, names, known.get("__package__")))
            elif isinstance(name, CodeType):
                parts.append(self._code(name, known))
            else:
                # A target is relative. Python 3.11 doesn't give the names of keywords.
                jump = step.opcode in dis.hasjrel or step.opcode in dis.hasjabs
                parts.append(
                    (kind, step.arg if jump else code.co_consts[step.arg or 0] if kind == "KW_NAMES" else name)
                )
        texts = [self.value(part.value if isinstance(part, _Outside) else part) for part in parts]
        return "\n".join([code.co_exceptiontable.hex(), *texts])

    def _imported(self, name: str, names: Sequence[str] | None, package: str | None) -> Any:
        """Return what an import inside a function brings: from other libraries, the name of the module."""
        name = importlib.util.resolve_name(name, package or "")
        if not self._own(name):
            return name
        module = import_module(name)
        return _Outside([getattr(module, one) for one in names or ()] or module)


class _Outside(NamedTuple):
    """A value that a function takes from outside."""

    value: Any


def _state(value: Any) -> list[Any]:
    """Return the parts of an instance, without what its cached properties have computed."""
    if isinstance(value, tuple):
        return list(value)
    kind, names = type(value), getattr(value, "__dataclass_fields__", None) or sorted(vars(value))
    return [getattr(value, one) for one in names if not isinstance(getattr_static(kind, one, None), cached_property)]


def _members(kind: type) -> dict[str, Any]:
    """Return the members of a class that may compute numbers, by name: its functions, values, and fields in order."""
    fields = getattr(kind, "_fields", ()) or list(getattr(kind, "__dataclass_fields__", ()))
    members: dict[str, Any] = {"_fields": fields}
    for name, member in sorted(vars(kind).items()):
        if isinstance(member, property | cached_property | staticmethod | classmethod):
            member = next(one for inside in ("fget", "func", "__func__") if (one := getattr(member, inside, None)))
        code = getattr(inspect.unwrap(member) if callable(member) else None, "__code__", None)
        generated = code is not None and code.co_filename == GENERATED
        machinery = code is None and (name.startswith(("__", "_abc")) or inspect.isdatadescriptor(member))
        if name not in DESCRIPTIONS and not generated and not machinery:
            members[name] = member
    return members
