"""The layers of the package: imports point down only and never in a circle, and pages stay short."""

import ast
import functools
import graphlib
import re
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
LONGEST_FILE = 400


@functools.cache
def syntax(path: Path) -> tuple[ast.Module, list[ast.AST]]:
    """Return the syntax tree of a file, and a list of all its nodes."""
    tree = ast.parse(path.read_text())
    return tree, list(ast.walk(tree))


def imported(path: Path) -> set[str]:
    """Return the files of the package that a file imports, inside functions too, but not only for type checks."""
    (_, nodes), names = syntax(path), set()
    checks = [node for node in nodes if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    typing = {id(node) for check in checks for node in ast.walk(check)}
    for node in (node for node in nodes if id(node) not in typing):
        if isinstance(node, ast.ImportFrom) and not node.level:
            names |= {name if (name := f"{node.module}.{alias.name}") in FILES else node.module for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & FILES.keys()


@pytest.mark.slow
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


def test_solvers_know_data_by_protocols_and_no_model_classes():
    texts = {name: path.read_text() for name, path in FILES.items() if name.startswith("lrlab.solvers.")}
    imports = {name: set(re.findall(r"(?:from|import) lrlab\.models\.(\w+)", text)) for name, text in texts.items()}
    assert {name: found for name, found in imports.items() if found - {"protocols"}} == {}


def test_files_are_short():
    lengths = {name: len(path.read_text().splitlines()) for name, path in FILES.items()}
    assert max(lengths.values()) <= LONGEST_FILE, [name for name, length in lengths.items() if length > LONGEST_FILE]


def test_pages_are_short_because_the_package_does_the_work():
    pages = [ROOT / "app.py", *(ROOT / "pages").glob("*.py")]
    lengths = {page.name: len(page.read_text().splitlines()) for page in pages}
    assert all(length < 80 for length in lengths.values()), lengths


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_every_setting_has_one_meaning_and_a_valid_default(model):
    parameters, ending, entries = declared(catalog.MODELS[model]), declared(Limits), catalog.solvers_for(model)
    assert not parameters.keys() & ending.keys()
    for entry in entries:
        assert not entry.options.keys() & {*parameters, *ending}, entry.name
    owners = [catalog.MODELS[model], *(entry.run for entry in entries)]
    assert all(p.meaning and p.check(p.default) == p.default for owner in owners for p in declared(owner).values())


@pytest.mark.slow
def test_a_solve_does_not_wait_for_libraries_that_it_does_not_need():
    heavy = "pandas", "plotly", "sklearn", "distributed", "asyncio", "scipy.stats", "scipy.optimize", "streamlit"
    script = f"import sys, lrlab; lrlab.solve; print(*[name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


@pytest.mark.slow
def test_a_page_is_drawn_without_the_libraries_of_runs_and_tables():
    heavy = "pandas", "sklearn", "distributed", "scipy.stats"
    script = f"exec(open('pages/converge.py').read()); import sys; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
