"""The layers of the package: imports point down only and never in a circle, pages stay short, names stay distinct."""

import ast
import functools
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

from lrlab import catalog
from lrlab.parameters import declared
from lrlab.protocol import Limits

ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "lrlab").rglob("*.py")
}
"""The files of the package by the names of their modules."""
LONGEST_FILE = 250
VAGUE = frozenset("told asked seen lot lots tally thrift glimpse hearsay spoken".split())
"""Words that say how something came about, where a name should say what it holds: row, settings, observed, stored."""
PUBLISHED = {"kept", "seen_per_row"}
"""A solver's option and a model's parameter: they are in people's addresses, scripts and stores."""


@functools.cache
def syntax(path: Path) -> tuple[ast.Module, list[ast.AST]]:
    """Return the syntax tree of a file, and a list of all its nodes."""
    tree = ast.parse(path.read_text())
    return tree, list(ast.walk(tree))


def imported(path: Path) -> set[str]:
    """Return the files of the package that a file imports, inside functions too, but not for type checks alone."""
    (_, nodes), names = syntax(path), set()
    checks = [node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    typing = {id(node) for check in checks for node in ast.walk(check)}
    for node in (node for node in nodes if id(node) not in typing):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names |= {name if (name := f"{node.module}.{alias.name}") in FILES else node.module for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & FILES.keys()


def test_imports_point_down_only():
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:]


def test_no_file_imports_in_a_circle():
    graph = {name: imported(path) - {name} for name, path in FILES.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


@pytest.mark.parametrize(
    ("library", "folder"),
    [("distributed", "engine"), ("dask", "engine"), ("sqlite3", "store"), ("streamlit", "ui")],
)
def test_a_library_is_known_to_one_folder(library, folder):
    def knows(path: Path) -> bool:
        _, nodes = syntax(path)
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        return any(name.partition(".")[0] == library for name in names)

    strangers = [name for name, path in FILES.items() if not name.startswith(f"lrlab.{folder}.") and knows(path)]
    assert not strangers


def test_every_file_says_what_it_does():
    modules = [*FILES.values(), *(ROOT / "pages").glob("*.py"), *(ROOT / "tests").rglob("*.py")]
    silent = [str(path) for path in modules if not ast.get_docstring(syntax(path)[0])]
    assert not silent, "give it a docstring"


def test_files_are_short():
    lengths = {name: len(path.read_text().splitlines()) for name, path in FILES.items()}
    assert max(lengths.values()) <= LONGEST_FILE, [name for name, length in lengths.items() if length > LONGEST_FILE]


def bound(path: Path) -> set[str]:
    """Return the names that a file binds: functions, classes, parameters, variables and attributes."""
    names = set()
    for node in syntax(path)[1]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.id if isinstance(node, ast.Name) else node.attr)
    return names


@pytest.mark.parametrize(
    ("folders", "words"),
    [(("lrlab", "pages"), VAGUE | {"kept", "found", "news"}), (("benchmarks", "tests"), VAGUE)],
)
def test_names_say_what_they_hold(folders, words):
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    names = {path.name: {name for name in bound(path) if words & set(name.lower().split("_"))} for path in files}
    assert files and not {path: vague for path, own in names.items() if (vague := own - PUBLISHED)}, "name the thing"


def test_pages_are_short_because_the_package_does_the_work():
    pages = [ROOT / "app.py", *(ROOT / "pages").glob("*.py")]
    lengths = {page.name: len(page.read_text().splitlines()) for page in pages}
    assert all(length < 80 for length in lengths.values()), lengths


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_a_setting_means_one_thing(model):
    parameters, ending = set(declared(catalog.MODELS[model])), set(declared(Limits))
    for entry in catalog.solvers_for(model):
        assert not (parameters & set(entry.options) or ending & set(entry.options)), entry.name
    assert not parameters & ending


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_every_declaration_says_what_it_means(model):
    entries = catalog.solvers_for(model)
    owners = [catalog.MODELS[model], *(entry.run for entry in entries)]
    assert all(p.meaning and p.check(p.default) == p.default for owner in owners for p in declared(owner).values())
    assert all(entry.summary.endswith(".") and entry.reference and entry.title for entry in entries)
    assert catalog.MODELS[model].title and catalog.MODELS[model].summary.endswith(".")


def test_a_solve_does_not_wait_for_libraries_that_it_does_not_need():
    heavy = "pandas", "plotly", "sklearn", "distributed", "asyncio", "scipy.stats", "scipy.optimize", "streamlit"
    script = f"import sys, lrlab; lrlab.solve; print(*[name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_a_page_is_drawn_without_the_libraries_of_runs_and_tables():
    heavy = "pandas", "sklearn", "distributed", "scipy.stats"
    script = f"exec(open('pages/converge.py').read()); import sys; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
