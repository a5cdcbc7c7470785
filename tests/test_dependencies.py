"""What is imported is declared; no private interface of streamlit, dask or distributed is used."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lrlab.__main__ import OPTIONAL

ROOT = Path(__file__).parents[1]
APP = [*(ROOT / "lrlab" / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
ALONE = sorted({*(ROOT / "lrlab").rglob("*.py")} - {*APP})
LIBRARY = [*ALONE, *APP]
WHOLE = ["requirements.txt", "requirements-library.txt"]
TESTS = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
BENCH = [path for folder in ("peers", "limits") for path in (ROOT / "benchmarks" / folder).glob("*.py")]
MODULES = {
    "axe-playwright-python": "axe_playwright_python",
    "scikit-learn": "sklearn",
    "pillow": "PIL",
    "import-linter": "importlinter",
    "pytest-xdist": "xdist",
    "font-source-sans-pro": "font_source_sans_pro",
}
"""What a distribution is imported as, where that is another name."""

PUBLIC = {"streamlit.components.v1", "streamlit.testing.v1", "dask.system"}
"""Modules of these libraries that are meant to be imported."""
OWNERS = r"client|distributed|dask|streamlit|\bst\b|worker|context|ctx|session|runtime|manager"
"""Names of objects of these libraries, whose own attributes are not ours."""


SWEEP = """
model = "one-bit-sensing"
solvers = ["pairwise-moment"]
trials = 2
spec = { p = 5 }
axes = { n = [100, 200] }
"""


def imports(path: Path) -> set[str]:
    """Return the modules a file imports anywhere, with their full names."""
    names = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(node.module)
    return names


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def required(*files: str) -> set[str]:
    """Return the names by which what the requirement files declare is imported."""
    lines = [line for file in files for line in (ROOT / file).read_text().splitlines()]
    names = [re.match(r"[\w-]+", line)[0] for line in lines if line and not line.startswith(("#", "-r "))]
    extras = {"distributed"} if any(line.startswith("dask[distributed]") for line in lines) else set()
    return {MODULES.get(name, name) for name in names} | extras


@pytest.mark.parametrize(
    ("files", "requirements"),
    [
        (ALONE, ["requirements-library.txt"]),
        (APP, WHOLE),
        (TESTS, [*WHOLE, "requirements-test.txt"]),
        (BENCH, [*WHOLE, "requirements-bench.txt"]),
    ],
    ids=["library", "app", "tests", "benchmarks"],
)
def test_what_is_imported_is_declared(files, requirements):
    known = required(*requirements) | sys.stdlib_module_names | {"lrlab", "tests", "benchmarks", *OPTIONAL}
    strangers = {
        str(path.relative_to(ROOT)): unknown
        for path in files
        if (unknown := {name.partition(".")[0] for name in imports(path)} - known)
    }
    assert not strangers, f"declare them in {' or '.join(requirements)}"


def test_a_server_gets_versions_that_are_allowed_with_their_hashes():
    lock = (ROOT / "requirements-lock.txt").read_text()
    assert "://" not in lock
    locked = dict(re.findall(r"^([a-z0-9-]+)==([\w.]+)", lock, re.M))
    assert re.findall(r"^\w.*(?<! \\)$", lock, re.M) == [], "each has the hashes of its files"
    lines = [line for file in WHOLE for line in (ROOT / file).read_text().splitlines() if not line.startswith("-r ")]
    for line in lines:
        wanted = Requirement(line)
        assert wanted.specifier.contains(locked[wanted.name]), f"{line}: run make lock"


WITHOUT_THE_APP = """
import sys
sys.modules.update(dict.fromkeys(["streamlit", "starlette", "plotly", "pyarrow", "PIL", "typst", "altair"]))
from lrlab.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ("solve one-bit-sensing --solver pairwise-moment --set n=300 --set p=10 --json", 0, ""),
        ("sweep {sweep} --store {store}", 0, ""),
        ("store {store} --export {folder}/trials.csv", 0, ""),
        ("store {store} --export {folder}/trials.parquet", 2, "pyarrow must be installed for this.*pip install pyarrow"),
        ("paper jain2013-fig1d --shipped --out {folder}", 2, "plotly must be installed for this.*pip install plotly"),
    ],
)
def test_the_library_does_without_what_the_app_brings(arguments, status, words, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "alone"
    folder.mkdir(exist_ok=True)
    (folder / "sweep.toml").write_text(SWEEP)
    places = {"sweep": folder / "sweep.toml", "store": folder / "trials.sqlite", "folder": folder}
    command = [sys.executable, "-c", WITHOUT_THE_APP, *arguments.format(**places).split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == status and re.match(words, done.stderr), done.stderr


def test_no_private_interface_is_used():
    used = set()
    for path in LIBRARY:
        inside = {name for name in imports(path) if re.match(r"(streamlit|distributed|dask)\.", name)}
        used |= {(path.name, name) for name in inside - PUBLIC}
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
                owner = ast.unparse(node.value)
                ours = "self" == owner or "cls" == owner or node.attr in ("_asdict", "_replace", "_fields")
                if re.search(OWNERS, owner) and not ours:
                    used.add((path.name, ast.unparse(node)))
    assert not used
