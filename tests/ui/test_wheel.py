"""The wheel in an environment that has nothing else: without its extras, and with `lrlab[app]`."""

import json
import os
import re
import socket
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from playwright.sync_api import expect

import lrlab
from tests.server import healthy
from tests.ui.browsing import opened
from tests.waiting import until

ROOT = Path(__file__).parents[2]
SWEEP = """model = "one-bit-sensing"
solvers = ["pairwise-moment"]
trials = 2
[axes]
n = [500, 1000]
"""
pytestmark = [pytest.mark.soak, pytest.mark.browser]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return the programs of an environment that has only the wheel, built from the sdist."""
    folder = tmp_path_factory.mktemp("bare")
    done(sys.executable, "-m", "build", "--outdir", folder / "dist", ROOT)
    files = sorted((folder / "dist").iterdir())
    assert [file.name.removeprefix(f"lrlab-{lrlab.__version__}") for file in files] == ["-py3-none-any.whl", ".tar.gz"]
    done(sys.executable, "-m", "twine", "check", "--strict", *files)
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    done(programs / "pip", "install", "--quiet", files[0])
    return programs


def done(*command, status=0):
    """Run a command away from the checkout; return its output, or its errors if it should fail."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LRLAB_"))}
    result = subprocess.run(list(map(str, command)), cwd="/", env=own, capture_output=True, text=True)
    assert result.returncode == status, result.stdout + result.stderr
    return result.stderr if status else result.stdout


def test_the_wheel_alone_solves_and_names_what_the_rest_needs_and_then_serves_the_pages(bare, tab, tmp_path):
    lrlab = bare / "lrlab"
    solve = lrlab, "solve", "one-bit-sensing", "--solver", "pairwise-moment", "--set", "n=2000", "--json"
    alone = json.loads(done(*solve))
    assert alone["stop"] == "CONVERGED"
    (tmp_path / "map.toml").write_text(SWEEP)
    sweep = lrlab, "sweep", tmp_path / "map.toml", "--store", tmp_path / "trials.sqlite", "--json"
    svm = lrlab, "solve", "multilabel", "--solver", "svm", "--set", "n=50", "--set", "rank=2"
    for command, extra in ((sweep, "engine"), (svm, "fit")):
        assert done(*command, status=2).endswith(f": pip install 'lrlab[{extra}]'\n")
    # Follow the advice of the sentence.
    [command] = re.findall(r"^streamlit must be .*: pip (install) '(.*)'$", done(lrlab, "app", status=2), re.M)
    done(bare / "pip", *command)

    assert json.loads(done(*solve))["metrics"] == alone["metrics"]
    assert json.loads(done(*sweep))["trials_run"] == 4
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [lrlab, "app", "--port", str(port), "--store", "pages.sqlite", "--no-browser"]
    server = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: server.poll() is not None or healthy(f"http://127.0.0.1:{port}"))
        # A run of the page, on workers and over the live channel; then the store of the command line.
        opened(tab, f"http://127.0.0.1:{port}/converge?run=1", "Run")
        expect(tab.get_by_text(re.compile("^Predicted error .*, measured"))).to_be_visible()
        opened(tab, f"http://127.0.0.1:{port}/sweep", "Phase transitions")
        assert (tmp_path / "pages.sqlite").exists()
    finally:
        server.terminate()
        assert server.wait(20) in (0, -15, 143)
