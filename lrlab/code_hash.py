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
import re
import sys
import uuid
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, cached_property, partial
from importlib import import_module
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
PLAIN = int, float, complex, str, bytes, type(None), type(...), np.generic, slice, range, Path
RANDOM = np.random.Generator, np.random.RandomState, random.Random
"""Objects whose next numbers differ from the previous ones."""
GENERATED = "<string>"
"""The file of methods that dataclasses and named tuples generate."""
PADDING = frozenset({"CACHE", "EXTENDED_ARG", "MAKE_CELL", "NOP", "PRECALL", "PUSH_NULL", "RESUME", "COPY_FREE_VARS"})
"""Instructions that compute nothing."""
ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})

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
        return self._object(value)

    def _object(self, value: Any) -> str:
        while hasattr(value, "__wrapped__") and not (isinstance(value, FunctionType) and self._own(value.__module__)):
            # A decorator of a library, such as `cache`. A decorator of yours is read with the wrapped function.
            value = value.__wrapped__
        if isinstance(value, ModuleType):
            if value.__name__ == PACKAGE or not self._own(value.__name__):
                return f"Module({value.__name__})"
            return self.value([one for one in vars(value).values() if getattr(one, "__module__", "") == value.__name__])
        if isinstance(value, FunctionType | type):
            if not self._own(value.__module__):
                return value.__qualname__
            return f"#{self.numbers.setdefault(value, len(self.numbers))}"
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

    def _definition(self, thing: Any) -> str:
        if isinstance(thing, type):
            return f"{self.value(thing.__bases__)} {self.value(_members(thing))}"
        cells = zip(thing.__code__.co_freevars, thing.__closure__ or (), strict=True)
        around = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
        defaults = self.value((thing.__defaults__, thing.__kwdefaults__))
        return f"{self._code(thing.__code__, thing.__globals__, around)} {defaults}"

    def _code(self, code: CodeType, known: Mapping[str, Any], around: Mapping[str, Any]) -> str:
        """Return instructions as text, with the values of names from outside: global names and closures."""
        around = {name: value for name, value in around.items() if name not in code.co_cellvars}
        every = list(dis.get_instructions(code))
        targets = [step.offset for step in every if step.is_jump_target]
        steps = [step for step in every if step.opname not in PADDING]
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        texts = [str(arguments), str(code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))]
        texts.append(code.co_exceptiontable.hex())
        outside: tuple[Any] | None = None
        for k, step in enumerate(steps):
            if step.is_jump_target:
                texts.append(f":{bisect_left(targets, step.offset)}")
            outside = self._outside(steps, k, outside, known, around)
            if outside is not None:
                attribute = k + 1 < len(steps) and steps[k + 1].opname in ATTRIBUTES
                if not (attribute and self._is_own_module(outside[0])):
                    texts.append(self.value(outside[0]))
            elif isinstance(step.argval, CodeType):
                texts.append(self._code(step.argval, known, around))
            elif step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
                texts.append(f"{step.opname} {bisect_left(targets, step.argval)}")
            else:
                # Python 3.11 doesn't give the names of keywords.
                value = code.co_consts[step.arg or 0] if step.opname == "KW_NAMES" else step.argval
                texts.append(f"{step.opname} {self.value(value)}")
        return "\n".join(texts)

    def _outside(
        self,
        steps: list[dis.Instruction],
        k: int,
        owner: tuple[Any] | None,
        known: Mapping[str, Any],
        around: Mapping[str, Any],
    ) -> tuple[Any] | None:
        """Return the value that instruction k loads from outside; None if it loads none.

        owner: the value that instruction k - 1 loads, such as a module with the attribute that instruction k reads.
        """
        name, kind = steps[k].argval, steps[k].opname
        if kind in ATTRIBUTES and owner and self._is_own_module(owner[0]) and hasattr(owner[0], name):
            return (getattr(owner[0], name),)
        if kind in ("LOAD_GLOBAL", "LOAD_NAME") and name in known:
            return (known[name],)
        if kind.startswith("LOAD_") and kind.endswith("DEREF") and name in around:
            return (around[name],)
        if kind == "IMPORT_NAME":
            level, names = steps[k - 2].argval, steps[k - 1].argval
            name = importlib.util.resolve_name("." * level + name, known.get("__package__") or "")
            if self._own(name):
                module = import_module(name)
                return ([getattr(module, one) for one in names or ()] or module,)
        return None

    def _is_own_module(self, value: Any) -> bool:
        return isinstance(value, ModuleType) and self._own(value.__name__)


def _members(kind: type) -> dict[str, Any]:
    """Return the members of a class that may compute numbers, by name: its functions, values, and fields in order."""
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


def _is_filled(cell: Any) -> bool:
    with suppress(ValueError):
        return cell.cell_contents is not cell
    return False
