"""Exported code: what a page gives as Python and as a notebook prints the page's numbers in a process of its own."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from lrlab.ui.shared import code
from tests.ui.driving import finished

PAGES = Path(__file__).parents[2] / "pages"


def printed(script, folder):
    """Run a script far from this repository's folder, and return what it prints."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=True)
    return done.stdout


def cells(notebook):
    """Return the code of a notebook's cells as one script."""
    book = json.loads(notebook)
    assert book["nbformat"] == 4 and book["cells"][0]["cell_type"] == "markdown"
    return "\n".join(cell["source"] for cell in book["cells"] if cell["cell_type"] == "code")


@pytest.fixture(autouse=True)
def warm(engine):
    """Let every page find the session's engine."""


def exported(page, **address):
    """Return a page whose run is over, and its code as Python and as a notebook."""
    at = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=60)
    for name, value in address.items():
        at.query_params[name] = value
    at = finished(at.run(), page)
    at.session_state["code"] = True
    at.run()
    python = next(block.value for block in at.code if block.value.startswith("import lrlab"))
    names = [button.proto.label for button in at.get("download_button")]
    assert {"Python (.py)", "Notebook (.ipynb)", "Shell (.sh)"} <= set(names)
    return at, python, code.notebook("lrlab", python)


@pytest.mark.slow
def test_a_run_exported_as_a_notebook_prints_the_scores_of_the_page(tmp_path):
    at, python, notebook = exported("converge", n="400", p="8", noise="0.3", solvers="pairwise-moment", seed="1003")
    [run] = at.session_state["converge:run"].runs
    stop, _, scores = printed(cells(notebook), tmp_path).partition("{")
    nan = float("nan")
    result = eval("{" + scores, {"nan": nan, "np": np})
    assert stop.strip() == run.trace.stop.value
    for name, value in run.trace.metrics.items():
        assert result[name] == pytest.approx(value, abs=1e-9, nan_ok=True), name


@pytest.mark.slow
def test_a_sweep_exported_as_python_prints_the_table_of_the_page(tmp_path):
    small = {"n": "400", "p": "8", "x-points": "2", "trials": "2", "solvers": "marginal-mean"}
    at, python, _ = exported("sweep", **small)
    table = pd.read_csv(io.StringIO(printed(python, tmp_path)))
    shown = at.session_state["sweep:run"].results.table("overlap")
    each = table.groupby("ratio")["overlap"].mean()
    assert each.to_numpy() == pytest.approx(shown["mean"].to_numpy(), abs=1e-9)
