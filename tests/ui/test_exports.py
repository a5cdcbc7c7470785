"""Code that pages export as Python and as notebooks prints the page's numbers in another process."""

import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from lrlab.ui.shared import code
from tests.thorough import a_third
from tests.ui.driving import current, finished, opened


def exported(page, given):
    """Return a page whose run is over, its name today, its code as Python, and the code of its notebook's cells."""
    page, given = current(page, given)
    at = finished(opened(page, **given), page)
    at.session_state["code"], at.session_state["converge-tabs"] = True, "Code"
    at.run()
    python = next(block.value for block in at.code if block.value.startswith("import lrlab"))
    names = [button.proto.label for button in at.get("download_button")]
    assert {"Python (.py)", "Notebook (.ipynb)"} <= set(names)
    run = at.session_state[f"{page}:run"]
    figures = {"converge": lambda: code.figure([one.job for one in run.runs]), "transition": lambda: "lrlab.map(table)"}
    return at, page, python, cells(code.notebook("lrlab", python, figures.get(page, str)()))


def cells(notebook):
    """Return the code of a notebook's cells as one script."""
    book = json.loads(notebook)
    assert book["nbformat"] == 4 and book["cells"][0]["cell_type"] == "markdown"
    return "\n".join(cell["source"] for cell in book["cells"] if cell["cell_type"] == "code")


def printed(script, folder):
    """Run a script away from the folder of this repository, and return its output."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, check=True)
    return done.stdout


def compare(at, page, text):
    """Check that a script printed the numbers of the page, to 1e-9."""
    run = at.session_state[f"{page}:run"]
    if page == "converge":
        for line, one in zip(text.strip().splitlines(), run.runs, strict=True):
            stop, _, scores = line.partition("{")
            result = eval("{" + scores, {"nan": float("nan"), "inf": float("inf"), "np": np})
            assert stop.strip() == one.trace.stop.value
            for name, value in one.trace.metrics.items():
                assert result[name] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), name
        return
    table = pd.read_csv(io.StringIO(text))
    if page == "spectrum":
        shown = pd.DataFrame([row for number in sorted(run.values) for row in run.values[number]])
        keys = [name for name in shown if name in table and shown[name].dtype.kind == "f"]
        assert keys
        for name in keys:
            assert np.sort(table[name]) == pytest.approx(np.sort(shown[name]), rel=1e-9, abs=1e-9, nan_ok=True), name
        return
    sweep = run.sweep
    metric, by = sweep.contour.metric, [*sweep.grid, "solver"]
    shown = run.results.table(metric).set_index(by)["mean"].dropna().sort_index()
    each = table[np.isfinite(table[metric])].groupby(by)[metric].mean().sort_index()
    assert list(each.index) == list(shown.index)
    assert each.to_numpy() == pytest.approx(shown.to_numpy(), rel=1e-9, abs=1e-9)


SPECTRUM = {"model": "one-bit-phase-retrieval", "p": "8", "n": "400", "points": "2", "trials": "2"}


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "given"),
    a_third(
        [
            ("converge", {"n": "400", "p": "8", "noise": "0.3", "solvers": "pairwise-moment,sir", "seed": "1003"}),
            ("sweep", {"n": "400", "p": "8", "x-points": "2", "trials": "2", "solvers": "marginal-mean"}),
            ("spectrum", SPECTRUM),
        ]
    ),
    ids=["notebook of a run", "sweep", "spectrum"],
)
def test_exported_code_prints_the_numbers_of_the_page(page, given, tmp_path):
    at, page, python, notebook = exported(page, given)
    compare(at, page, printed(notebook if page == "converge" else python, tmp_path))
