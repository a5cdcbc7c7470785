"""The layers of the package: imports point down, no private interface is used, files are short, requirements agree."""

import ast
import functools
import graphlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement
from streamlit.runtime.scriptrunner import ScriptRunContext

import lrlab
from lrlab import catalog
from lrlab.extras import EXTRAS
from lrlab.parameters import declared
from lrlab.protocol import Limits

ROOT = Path(__file__).parents[1]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "lrlab").rglob("*.py")
}
"""The files of the package by the names of their modules."""
LONGEST_FILE, LONGEST_PAGE, LONGEST_SOLVER = 400, 79, 120
LONG_SOLVERS = {"gauss_newton.py": 130, "link_free.py": 180, "sparse_pairwise.py": 140}


@functools.cache
def syntax(path: Path) -> tuple[ast.Module, list[ast.AST]]:
    """Return the syntax tree of a file, and a list of all its nodes."""
    tree = ast.parse(path.read_text())
    return tree, list(ast.walk(tree))


@pytest.mark.slow
def test_imports_point_down_only():
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:]


def test_no_file_imports_in_a_circle():
    """Inside functions neither; imports for type checks do not count."""
    graph = grimp.build_graph("lrlab", exclude_type_checking_imports=True, cache_dir=None)
    files = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        graphlib.TopologicalSorter(files).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


@pytest.mark.parametrize(
    ("library", "folder"),
    [("distributed", "engine"), ("dask", "engine"), ("sqlite3", "store"), ("streamlit", "ui")],
)
def test_a_library_is_known_to_one_folder(library, folder):
    users = {name for name, path in FILES.items() if library in {one.partition(".")[0] for one in imports(path)}}
    assert not {name for name in users if not name.startswith(f"lrlab.{folder}.")}


def test_solvers_know_data_by_protocols_and_no_model_classes():
    texts = {name: path.read_text() for name, path in FILES.items() if name.startswith("lrlab.solvers.")}
    imports = {name: set(re.findall(r"(?:from|import) lrlab\.models\.(\w+)", text)) for name, text in texts.items()}
    assert {name: found for name, found in imports.items() if found - {"protocols"}} == {}


def test_files_are_short_and_pages_even_shorter_because_the_package_does_the_work():
    pages = [ROOT / "app.py", *(ROOT / "pages").glob("*.py")]
    most = dict.fromkeys(FILES.values(), LONGEST_FILE) | dict.fromkeys(pages, LONGEST_PAGE)
    solvers = {Path(inspect.getfile(inspect.unwrap(entry.run))) for entry in catalog.ENTRIES}
    most |= {path: LONG_SOLVERS.get(path.name, LONGEST_SOLVER) for path in solvers}
    assert [path for path, length in most.items() if len(path.read_text().splitlines()) > length] == []


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_every_setting_has_one_meaning_and_a_valid_default(model):
    parameters, ending, entries = declared(catalog.MODELS[model]), declared(Limits), catalog.solvers_for(model)
    assert not parameters.keys() & ending.keys()
    for entry in entries:
        assert not entry.options.keys() & {*parameters, *ending}, entry.name
    owners = [catalog.MODELS[model], *(entry.run for entry in entries)]
    assert all(p.meaning and p.check(p.default) == p.default for owner in owners for p in declared(owner).values())


HEAVY = ("pandas", "sklearn", "distributed", "scipy.stats")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "heavy"),
    [
        ("import lrlab; lrlab.solve", (*HEAVY, "plotly", "asyncio", "scipy.optimize", "streamlit")),
        ("exec(open('pages/converge.py').read())", HEAVY),
    ],
    ids=["solve", "page"],
)
def test_solves_and_pages_do_not_wait_for_libraries_that_they_do_not_need(script, heavy):
    script += f"; import sys; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


LIBRARY = [*(ROOT / "lrlab").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
PUBLIC = {"streamlit.components.v1", "streamlit.testing.v1", "dask.system"}
"""Public modules of these libraries."""
PRIVATE = {("permalink.py", "streamlit.runtime.scriptrunner")}
"""Only a private flag of Streamlit tells a script that the user pressed Back or Forward."""
OWNERS = r"client|distributed|dask|streamlit|\bst\b|worker|context|ctx|session|runtime|manager"
"""Names of objects of these libraries, whose own attributes are not ours."""


def imports(path: Path) -> set[str]:
    """Return the modules a file imports anywhere, with their full names."""
    names = set()
    for node in syntax(path)[1]:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    return names


def test_the_package_and_the_requirements_ask_for_the_same():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {line for several in project["optional-dependencies"].values() for line in several}
    declared = {Requirement(line) for line in (*project["dependencies"], *extras) if not line.startswith("lrlab[")}
    files = "requirements.txt", "requirements-notebook.txt"
    assert declared == {Requirement(line) for file in files for line in (ROOT / file).read_text().split()}


def test_an_extra_brings_what_is_said_to_be_missing_without_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for module, (distribution, _, extra) in EXTRAS.items():
        assert any(line.startswith(distribution) for line in extras[extra]), module


def test_the_citation_and_the_changelog_name_the_version():
    assert f"\nversion: {lrlab.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {lrlab.__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_a_server_gets_versions_that_are_allowed_with_their_hashes():
    lock = (ROOT / "requirements-lock.txt").read_text()
    assert "://" not in lock
    locked = dict(re.findall(r"^([a-z0-9-]+)==([\w.]+)", lock, re.M))
    assert re.findall(r"^\w.*(?<! \\)$", lock, re.M) == [], "each has the hashes of its files"
    for line in (ROOT / "requirements.txt").read_text().split():
        wanted = Requirement(line)
        assert wanted.specifier.contains(locked[wanted.name]), f"{line}: run make lock"


def test_no_private_interface_is_used_but_the_history_flag():
    used = set()
    for path in LIBRARY:
        inside = {name for name in imports(path) if re.match(r"(streamlit|distributed|dask)\.", name)}
        used |= {(path.name, name) for name in inside - PUBLIC}
        for node in syntax(path)[1]:
            if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
                owner = ast.unparse(node.value)
                ours = "self" == owner or "cls" == owner or node.attr in ("_asdict", "_replace", "_fields")
                if re.search(OWNERS, owner) and not ours:
                    used.add((path.name, ast.unparse(node)))
    assert used == PRIVATE
    assert "is_history_navigation" in ScriptRunContext.__dataclass_fields__
