"""Sources of modules as they were run, and what their imports of this package, and of other own files, mean."""

import ast
import importlib.util
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

PACKAGE = "lrlab"
INSTALLED = {"site-packages", "dist-packages"}
"""Folders of what is installed."""
STARTED = time.time()

texts: dict[str, bytes] = {}
"""The sources of modules that were run from a text, by name; each name stands for one text."""

Imports = dict[str, tuple[str, str]]
"""What imports of one package bind: name -> (module, name there), the latter empty for a whole module."""


def parsed(text: bytes) -> ast.Module:
    """Return the syntax tree of a source."""
    for _ in range(10):
        # Up to Python 3.12 the parser counts its depth for all threads together: one that parses at the same time (a
        # page's script, say) disturbs the count, and the interpreter refuses the tree that it has made.
        with suppress(SystemError):
            return ast.parse(text)
    return ast.parse(text)


@cache
def source(name: str) -> bytes | None:
    """Return a module's source; None where there is none (a notebook's) or what runs may be an older one.

    The latter where the file was changed after this process had begun.
    """
    if name in texts:
        return texts[name]
    file = module_file(name)
    return file.read_bytes() if file is not None and file.stat().st_mtime < STARTED else None


@cache
def module_file(name: str) -> Path | None:
    """Return the file of a module."""
    try:
        path = getattr(sys.modules.get(name), "__file__", None) or importlib.util.find_spec(name).origin  # type: ignore[union-attr]
    except (ImportError, AttributeError, ValueError):
        # The last part of the name is no module, but something in one.
        return None
    return Path(path) if path and Path(path).is_file() else None


def imported(nodes: Iterator[ast.AST], owner: str) -> Imports:
    """Return what the imports among some nodes of a module bind, of this package and of the module's own one."""
    bound: Imports = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname and _own(alias.name, owner):
                    bound[alias.asname] = (alias.name, "")
        elif isinstance(node, ast.ImportFrom) and _own(source_name := _absolute(node, owner), owner):
            for alias in node.names:
                whole = f"{source_name}.{alias.name}"
                is_module = module_file(whole) is not None
                bound[alias.asname or alias.name] = (whole, "") if is_module else (source_name, alias.name)
    return bound


def _absolute(node: ast.ImportFrom, owner: str) -> str:
    """Return the name of the module from which a module imports."""
    if not node.level:
        return node.module or ""
    package = getattr(sys.modules.get(owner), "__package__", None) or owner.rpartition(".")[0]
    return importlib.util.resolve_name("." * node.level + (node.module or ""), package) if package else ""


def _own(name: str, owner: str) -> bool:
    own = name.partition(".")[0] in (PACKAGE, owner.partition(".")[0])
    # What this package imports of others is installed.
    return own or (owner.partition(".")[0] != PACKAGE and is_own(name))


@cache
def is_own(name: str) -> bool:
    """Return whether a module is of this package, or a file that was not installed, beside a notebook, say."""
    top = name.partition(".")[0]
    file = None if top == PACKAGE else module_file(name) or module_file(top)
    installed = file is None or bool(INSTALLED & set(file.parts)) or file.is_relative_to(sysconfig.get_path("stdlib"))
    return top == PACKAGE or not installed
