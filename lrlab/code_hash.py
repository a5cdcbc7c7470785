"""Versions of code: a hash of a function or class, and of the code and values that it reaches in lrlab and your files.

The hash reads bytecode, that is, what runs: it needs no source, and docstrings, comments, and the names and modules of
functions do not enter. Another version of Python therefore gives other hashes. Installed libraries enter by name.
"""

import dis
import hashlib
import importlib.util
import inspect
import pickle
import sysconfig
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING
from functools import cache, cached_property
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

PACKAGE = "lrlab"
EXCLUDED = frozenset(
    {"lrlab.protocol", "lrlab.parameters", "lrlab.catalog", "lrlab.runs.job", "lrlab.runs.run", "lrlab.engine.solve"}
)
"""Modules that all trials use; `EDITION` stands for a change of numbers there. Some reach locks, without a version."""
DESCRIPTIONS = frozenset(
    {"title", "summary", "equation", "data_bytes", "undetermined", "remark", "judgement", "ending"}
    | {"data_metrics", "view", "view_words"}
)
"""Members of a spec that describe it and compute no numbers of a trial."""
GENERATED = "<string>"
"""The file of methods that dataclasses and named tuples generate."""

EDITION = 1
"""Raise it if trials get other seeds, or if modules in `EXCLUDED` run or score them differently. All stored trials are
then stale, and all stored items of presets: traces, costs and quantities."""
_hashes: dict[Any, str] = {}


def version(*things: Any) -> str:
    """Return the version of functions or classes together, 16 hexadecimal digits.

    Each one is hashed at the first call, and again by `renew`. Values that pickle cannot write, such as locks, give
    another version in each process.
    """
    for thing in things:
        if thing not in _hashes:
            renew(thing)
    return digest(" ".join([str(EDITION), *(_hashes[thing] for thing in things)]))


def renew(thing: Any) -> None:
    """Hash a function or class again, whose code in a notebook may have changed."""
    try:
        _hashes[thing] = digest(_Writer(thing).written().hex())
    except Exception:
        # Pickle refuses in many ways: no two versions agree.
        _hashes[thing] = digest(str(uuid.uuid4()))


def digest(text: str) -> str:
    """Return a short hash of a text: 16 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@cache
def is_installed(module: str) -> bool:
    """Return whether a module belongs to an installed library: not to lrlab, a plugin, a notebook or a loose file."""
    top = module.partition(".")[0]
    if top.startswith((PACKAGE, "__main__")):
        return False
    # ValueError: a module that does not come from a file.
    with suppress(ValueError):
        path = Path(getattr(importlib.util.find_spec(top), "origin", None) or "")
        packages = {"site-packages", "dist-packages"} & set(path.parts)
        return bool(packages) or not path.is_file() or path.is_relative_to(sysconfig.get_path("stdlib"))
    return True


class _Writer(pickle.Pickler):
    """Writes a function or class, and all that it reaches, as bytes by pickle.

    Functions and classes are written once each, and elsewhere by their number: those of the package of the first one,
    of lrlab and of loose files. Others enter by name.
    """

    def __init__(self, thing: Any) -> None:
        self._file, self._found = BytesIO(), {thing: 0}
        self._package = (getattr(thing, "__module__", None) or "").partition(".")[0]
        super().__init__(self._file)
        # Equal values then give equal bytes, whether or not they are one object.
        self.fast = True

    def written(self) -> bytes:
        """Return the bytes."""
        done = 0
        while done < len(self._found):
            self.dump(self._definition(list(self._found)[done]))
            done += 1
        return self._file.getvalue()

    def _own(self, module: str | None) -> bool:
        """Return whether the code of a module is written."""
        module = module or ""
        return module not in EXCLUDED and (module.partition(".")[0] == self._package or not is_installed(module))

    def persistent_id(self, value: Any) -> Any:
        """Return what stands for a value, or None for a value that pickle writes as it is."""
        while hasattr(value, "__wrapped__") and not (isinstance(value, FunctionType) and self._own(value.__module__)):
            # A decorator of a library, such as `cache`. A decorator of yours is read with the wrapped function.
            value = value.__wrapped__
        if isinstance(value, FunctionType | type) and self._own(value.__module__):
            return f"#{self._found.setdefault(value, len(self._found))}"
        if isinstance(value, ModuleType):
            name, members = value.__name__, vars(value).values()
            read = self._own(name) and name != PACKAGE
            return [one for one in members if getattr(one, "__module__", "") == name] if read else name
        if isinstance(value, set | frozenset):
            return sorted(value, key=repr)
        if isinstance(value, property | cached_property):
            return [value.fget if isinstance(value, property) else value.func]
        return getattr(value, "__name__", None) if callable(value) and not isinstance(value, MethodType) else None

    def reducer_override(self, value: Any) -> Any:
        """Leave out what the cached properties of an instance have computed, and the order of its attributes."""
        reduced: Any = value.__reduce_ex__(pickle.DEFAULT_PROTOCOL) if self._own(type(value).__module__) else ()
        if len(reduced) < 3 or not isinstance(reduced[2], dict):
            return NotImplemented
        kind, state = type(value), sorted(reduced[2].items())
        kept = {name: one for name, one in state if not isinstance(getattr(kind, name, None), cached_property)}
        return (*reduced[:2], kept, *reduced[3:])

    def _definition(self, thing: Any) -> Any:
        """Return what a class or function consists of, as values."""
        if isinstance(thing, type):
            # The class has the other defaults as members.
            fields = getattr(thing, "__dataclass_fields__", {}).values()
            made = [(one.name, one.default_factory) for one in fields if one.default_factory is not MISSING]
            return thing.__bases__, [one.name for one in fields], _members(thing), *made
        known = {**thing.__globals__, **inspect.getclosurevars(thing).nonlocals}
        return self._instructions(thing.__code__, known), thing.__defaults__, thing.__kwdefaults__

    def _instructions(self, code: CodeType, known: Mapping[str, Any]) -> list[Any]:
        """Return the instructions of code, with the values of `known` names from outside: global names and closures."""
        known = {name: value for name, value in known.items() if name not in code.co_cellvars}
        parts: list[Any] = [code.co_exceptiontable, *inspect.getargs(code)]
        for step in dis.get_instructions(code):
            name, kind, before = step.argval, step.opname, parts[-1]
            inside = isinstance(before, ModuleType) and self._own(before.__name__)
            if inside and kind in ("LOAD_ATTR", "LOAD_METHOD") and hasattr(before, name):
                parts[-1] = getattr(before, name)
            elif kind.startswith("LOAD_") and kind.endswith(("GLOBAL", "NAME", "DEREF")) and name in known:
                parts.append(known[name])
            elif kind == "IMPORT_NAME":
                (_, level), (_, names) = parts[-2:]
                name = importlib.util.resolve_name("." * level + name, known.get("__package__") or "")
                module = import_module(name) if self._own(name) else None
                parts.append([getattr(module, one) for one in names or ()] or module if module else name)
            elif isinstance(name, CodeType):
                parts.append(self._instructions(name, known))
            else:
                # Python 3.11 doesn't give the names of keywords.
                parts.append((kind, code.co_consts[step.arg or 0] if kind == "KW_NAMES" else name))
        return parts


def _members(kind: type) -> dict[str, Any]:
    """Return the members of a class that may compute numbers, by name: its functions and values."""
    members = dict[str, Any]()
    for name, member in sorted(vars(kind).items()):
        # Python itself makes `__new__` a static method, and `__init_subclass__` and `__class_getitem__` class methods.
        function = inspect.unwrap(getattr(member, "__func__", member))
        written = isinstance(function, FunctionType) and function.__code__.co_filename != GENERATED
        if (written or not name.startswith(("__", "_abc"))) and name not in DESCRIPTIONS:
            members[name] = member
    return members
