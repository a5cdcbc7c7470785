"""Pages have the solvers of your files; they name a broken file, and all others work."""

import pytest

from lrlab import catalog
from lrlab.protocol import Stop
from lrlab.ui.shared import code
from tests.test_plugins import FILE, MODEL, SENTENCE
from tests.ui.driving import accepted, finished, opened, read

# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    """Give the server a file of custom solvers, a model, and a broken file."""
    monkeypatch.setenv("LRLAB_PLUGINS", "")
    files = {"own_solvers.py": FILE, "own_model.py": MODEL, "broken.py": "import nothing_here"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    catalog.load([tmp_path / name for name in files])


def test_a_file_runs_on_converge_and_its_failure_is_a_sentence():
    at = finished(accepted("converge", n="200", p="8", solvers="own-mean,own-failure,sir"), "converge")
    runs = {run.job.solver: run for run in at.session_state["converge:run"].runs}
    assert runs["own-mean"].trace.rows and runs["sir"].trace.rows and runs["own-failure"].error == SENTENCE
    at.session_state["converge-tabs"] = "Code"
    at.run()
    python = next(block.value for block in at.code if block.value.startswith("import lrlab"))
    assert python.splitlines()[1] == "lrlab.register('own_solvers.py')" and "'own-mean'" in python
    assert code.imports("one-bit-sensing", ["sir"]) == "import lrlab"


def test_a_model_in_a_file_is_run_by_the_solvers_of_its_family():
    given = {"model": "own-rank-one", "m": "60", "d1": "4", "d2": "4", "rank": "1", "solvers": "gauss-newton"}
    [run] = finished(accepted("converge", **given), "converge").session_state["converge:run"].runs
    assert run.job.spec.model == "own-rank-one" and run.trace.stop is Stop.CONVERGED


def test_a_broken_file_is_named_on_every_page():
    at = opened("home")
    [sentence] = [read(warning.value) for warning in at.warning]
    assert sentence.startswith("Left out: broken.py: does not import (ModuleNotFoundError: No module named")
