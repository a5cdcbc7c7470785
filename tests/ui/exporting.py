"""Presets of pages, exported as Python and as notebooks, run by any Python and compared with the page.

python -m tests.ui.exporting PYTHON [SEED]      ten presets at random; PYTHON: of an environment that has lrlab
"""

import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from lrlab.presets import sweeps as library
from lrlab.ui.home import EXPLORE
from lrlab.ui.shared import code
from lrlab.ui.spectrum.plan import spectrum_panels
from lrlab.ui.sweep.sweep_controls import address
from tests.ui.driving import current, finished

PAGES = Path(__file__).parents[2] / "pages"
NUMBER, DRAWN = 10, 1000
SMALL = {"trials": "2", "adaptive": "false", "budget": "0"}
FEW = {"x-points": "3", "y-points": "3", "x-values": "", "y-values": ""}


def presets():
    """Return page and address of the presets of all pages that run; of sweeps and spectra a few trials."""
    cards = [(card.page, {key: value for key, value in card.address.items() if key != "run"}) for card in EXPLORE]
    own = [(page, own | (SMALL | FEW if page == "transition" else {})) for page, own in cards]
    panels = [("spectrum", dict(own) | {"trials": "2", "points": "3"}) for _, own in spectrum_panels("yi2015-fig1")]
    swept = [("transition", address(library.load(name).sweep) | SMALL) for name in library.names()]
    return [case for case in own if case[0] != "spectrum"] + panels + swept


def exported(page, given):
    """Return a page whose run is over, its code as Python, and that of the notebook's cells."""
    page, given = current(page, given)
    at = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=300)
    for name, value in given.items():
        at.query_params[name] = value
    at = finished(at.run(), page, seconds=600)
    at.session_state["code"], at.session_state["converge-tabs"] = True, "Code"
    at.run()
    python = next(block.value for block in at.code if block.value.startswith("import lrlab"))
    names = [button.proto.label for button in at.get("download_button")]
    assert {"Python (.py)", "Notebook (.ipynb)"} <= set(names)
    run = at.session_state[f"{page}:run"]
    figures = {"converge": lambda: code.figure([one.job for one in run.runs]), "transition": lambda: "lrlab.map(table)"}
    return at, python, cells(code.notebook("lrlab", python, figures.get(page, str)()))


def cells(notebook):
    """Return the code of a notebook's cells as one script."""
    book = json.loads(notebook)
    assert book["nbformat"] == 4 and book["cells"][0]["cell_type"] == "markdown"
    return "\n".join(cell["source"] for cell in book["cells"] if cell["cell_type"] == "code")


def printed(script, folder, python=sys.executable):
    """Run a script far from this repository's folder, and return what it prints."""
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, cwd=folder, check=True)
    return done.stdout


def compare(at, page, text):
    """Hold what a script printed to the numbers of the page, to 1e-9."""
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
        shown = pd.DataFrame([row for number in sorted(run.results) for row in run.results[number]])
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


def main(python, seed):
    """Compare ten presets at random."""
    for page, given in random.Random(seed).sample(presets(), NUMBER):
        at, script, notebook = exported(page, given)
        with tempfile.TemporaryDirectory() as folder:
            for words in dict.fromkeys([script, notebook]):
                compare(at, page, printed(words, folder, python))
        print("agrees:", page, {key: value for key, value in given.items() if key not in SMALL}, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else DRAWN)
