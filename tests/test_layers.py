"""The floors of the house: imports point down only, pages stay short, names stay distinct."""

import subprocess
import sys
from pathlib import Path

import pytest

from lrlab import catalog
from lrlab.parameters import declared
from lrlab.protocol import drive_limits

ROOT = Path(__file__).parents[1]


def test_imports_point_down_only():
    linter = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:]


def test_pages_are_short_because_the_package_does_the_work():
    pages = [ROOT / "app.py", *(ROOT / "pages").glob("*.py")]
    lengths = {page.name: len(page.read_text().splitlines()) for page in pages}
    assert all(length < 80 for length in lengths.values()), lengths


@pytest.mark.parametrize("model", list(catalog.MODELS))
def test_a_setting_means_one_thing(model):
    parameters, ending = set(declared(catalog.MODELS[model])), set(declared(drive_limits))
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
    heavy = "pandas", "plotly", "sklearn", "distributed", "scipy.stats", "streamlit"
    script = f"import sys, lrlab; lrlab.solve; print(*[name for name in {heavy} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
