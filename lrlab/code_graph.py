"""Reads definitions from sources, of this package and of plugins: their code without words, and which others they use.

Functions whose modules have no source, as those of a notebook, are read by `function_code`.
"""

import ast
import hashlib
import inspect
import sys
import uuid
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from lrlab import code_sources

EXCLUDED = frozenset({"lrlab.protocol", "lrlab.parameters", "lrlab.model_hooks"})
"""Used by all solvers and models; a change of numbers there is what `code_version.EDITION` stands for."""
DESCRIPTIONS = frozenset({"title", "summary", "equation", "memory_advice", "data_bytes", "undetermined"})
"""Members of a model's spec that say something of it and compute no numbers of a trial."""
IGNORED = frozenset({"annotation", "returns", "simple", "ctx", "kind", "type_comment"})
"""Parts of a syntax tree that change no numbers; the place of a field without a default remains."""
functions: dict[Any, "Definition"] = {}
"""Functions whose modules have no source, and the definitions in `codes` that they are."""
codes: dict["Definition", "Code"] = {}


class Definition(NamedTuple):
    """A function, class or constant at the top level of a module, named as there."""

    module: str
    name: str


class Code(NamedTuple):
    """What a definition says: its code as text, and what it uses, by the names it has there."""

    text: str
    uses: frozenset[Definition]


class Module(NamedTuple):
    """The statements that define each name at the top level of a module, and what its imports mean."""

    statements: dict[str, list[ast.stmt]]
    imports: code_sources.Imports


def docstring(value: Any) -> str:
    """Return the docstring of a function or class, or ""; from its source where Python was started with -OO."""
    if (text := inspect.getdoc(value)) is None and sys.flags.optimize > 1:
        tree = module(value.__module__)
        for node in tree.statements.get(value.__name__, ()) if tree else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node)
    return text or ""


def root(value: Any) -> Definition:
    """Return the definition of a function or class."""
    return functions.get(value) or Definition(value.__module__, value.__name__)


def reached(roots: Iterable[Definition]) -> set[Definition]:
    """Return definitions with all that they use, directly or not."""
    known, waiting = set[Definition](), set(roots)
    while waiting:
        known.add(definition := waiting.pop())
        waiting |= code(definition).uses - known
    return known


@cache
def code(definition: Definition) -> Code:
    """Return the code of a definition without docstrings, annotations and imports, and what it uses.

    Names that belong to other definitions are replaced by those that these have, so that neither an import's form nor
    its module is part of the text. Something unique where the source is unknown: see `source`.
    """
    if definition in codes:
        return codes[definition]
    tree = module(definition.module)
    statements = tree.statements.get(definition.name) if tree else None
    if not tree or not statements:
        return Code(str(uuid.uuid4()), frozenset())
    imports = dict(tree.imports)
    for statement in statements:
        imports |= code_sources.imported(ast.walk(statement), definition.module)
    writer = Writer(definition.module, imports)
    return Code(writer.text(list(statements)), frozenset(writer.uses - {definition}))


@cache
def module(name: str) -> Module | None:
    """Return the definitions and imports of a module; None where its source is unknown."""
    text = code_sources.source(name)
    if text is None:
        return None
    statements: dict[str, list[ast.stmt]] = {}
    tree = code_sources.parsed(text)
    for statement in _top_level(tree.body):
        for target in _targets(statement):
            statements.setdefault(target, []).append(statement)
    return Module(statements, code_sources.imported(ast.walk(tree), name))


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        inner = [getattr(statement, part, []) for part in ("body", "orelse", "finalbody")]
        if isinstance(statement, ast.If | ast.Try | ast.With):
            yield from _top_level([nested for part in inner for nested in part])
        else:
            yield statement


def _targets(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        return {node.id for node in stored if isinstance(node.ctx, ast.Store)}
    return set()


class Writer:
    """Writes code as text, without what no number depends on, and notes the definitions that it uses."""

    def __init__(self, module_name: str, imports: code_sources.Imports) -> None:
        self.module, self.imports, self.uses = module_name, imports, set[Definition]()

    def text(self, node: object) -> str:
        """Return a node, a list of nodes or a value. Not `ast.dump`, whose form depends on the version of Python."""
        if isinstance(node, list):
            return f"[{', '.join(self.text(part) for part in node if not _wordy(part))}]"
        if not isinstance(node, ast.AST):
            return repr(node)
        if isinstance(node, ast.Name):
            return self._name(resolve(self.module, node.id, self.imports)) or f"Name({node.id})"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self.imports.get(node.value.id)
            if owner and not owner[1] and (name := self._name(resolve(owner[0], node.attr))):
                return name
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Parameter":
            return "Parameter"
        parts = dict(ast.iter_fields(node))
        fields = {name: part for name, part in parts.items() if name not in IGNORED and part not in (None, [])}
        if isinstance(node, ast.ClassDef):
            fields["body"] = [part for part in node.body if not _targets(part) & DESCRIPTIONS]
        return f"{type(node).__name__}({', '.join(f'{name}={self.text(value)}' for name, value in fields.items())})"

    def _name(self, definition: Definition | None) -> str:
        if definition is None:
            return ""
        if definition.name:
            self.uses.add(definition)
            return f"Name({definition.name})"
        # A module as a value: whatever it defines may be used.
        whole = module(definition.module)
        self.uses |= {Definition(definition.module, name) for name in (whole.statements if whole else {"?"})}
        return ""


def _wordy(part: object) -> bool:
    """Tell whether a statement is an import or a text alone."""
    constant = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
    return constant or isinstance(part, ast.Import | ast.ImportFrom)


def resolve(module_name: str, name: str, imports: code_sources.Imports | None = None) -> Definition | None:
    """Return the definition that a name means in a module of this package, through imports of imports."""
    if module_name in EXCLUDED:
        return None
    tree = module(module_name)
    if tree is None:
        return Definition(module_name, name) if imports is None else None
    if name in tree.statements:
        return Definition(module_name, name)
    target = (tree.imports if imports is None else imports).get(name)
    if target is None or target[0] in EXCLUDED:
        return None
    return resolve(*target) if target[1] else Definition(target[0], "")


def digest(text: str) -> str:
    """Return a short hash of a text: 16 hexadecimal digits."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
