"""Custom solvers and models: in files and notebooks, on workers and clusters, with the version of their code."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import lrlab
from lrlab import catalog
from lrlab.__main__ import main
from lrlab.engine.results import LocalResults
from lrlab.parameters import InputError
from lrlab.plugins import CatalogError
from lrlab.store import store as stores
from lrlab.store.store import Store

ROOT = Path(__file__).parents[1]
SPEC = lrlab.spec("one-bit-sensing", n=200, p=8)
DOCSTRING = '''"""{}.

    Yield a mean of the rows with their signs.

    .. math:: x

    Reference: nobody (2026).
    """'''
FILE = f'''"""An own solver."""

from typing import Annotated

from lrlab import Iterate, number, solver
from lrlab.linalg import unit

FACTOR = 1.0


@solver(models="one-bit-sensing")
def own_mean(problem, *, power: Annotated[int, number(1, 9, "steps")] = 2, rng):
    {DOCSTRING.format("Own mean")}
    for _ in range(power):
        yield Iterate(FACTOR * unit(problem.y @ problem.X), objective=1.0)


@solver(models="one-bit-sensing")
def own_failure(problem, *, rng):
    {DOCSTRING.format("Own failure")}
    yield Iterate(problem.y @ problem.X)
    raise ValueError("no such luck")

'''
SENTENCE = "The job failed inside the solver (ValueError: no such luck)."


@pytest.fixture
def own(tmp_path):
    """Register a file of custom solvers, and return it."""
    file = tmp_path / "own_solvers.py"
    file.write_text(FILE)
    assert lrlab.register(file) == ("own-failure", "own-mean")
    return file


def mean(problem, *, rng):
    yield lrlab.Iterate(problem.y @ problem.X, objective=0.0)


def failing(problem, *, rng):
    yield lrlab.Iterate(problem.y @ problem.X)
    raise ValueError("no such luck")


def test_a_solver_in_a_file_is_one_of_the_catalogue_and_its_options_are_declared(own):
    trace = lrlab.solve(SPEC, "own-mean", power=3)
    assert len(trace.rows) == 3 and trace.stop is lrlab.Stop.FINISHED
    assert "own-mean" in [entry.name for entry in catalog.solvers_for(SPEC.model)]
    with pytest.raises(InputError, match=r"power must be a whole number in 1\.\.9, got 10"):
        lrlab.solve(SPEC, "own-mean", power=10)
    own.write_text(FILE.replace("own_mean", "other_mean").replace("own_failure", "other_failure"))
    assert lrlab.register(own) == ("other-failure", "other-mean")
    assert len(catalog.PLUGINS) == 1 and "own-mean" not in catalog.NAMES, "the file has the new names alone"


def test_a_function_is_solved_as_it_is_and_a_declared_one_by_its_words():
    expected = SPEC.build()
    trace = lrlab.solve(SPEC, mean)
    words = trace.job.entry.title, trace.job.entry.summary, trace.job.entry.reference
    assert words == ("Mean", "A function without a docstring.", "Not published.")
    assert trace.job.solver == "mean" and trace.estimate == pytest.approx(expected.y @ expected.X)

    @lrlab.solver(models=SPEC.model, name="mine")
    def own(problem, *, rng):
        """My mean.

        It is mine.

        .. math:: x

        Reference: B (2026).
        """
        yield from mean(problem, rng=rng)

    declared = lrlab.solve(SPEC, own)
    assert declared.job.solver == "mine" and declared.job.entry.title == "My mean"
    assert declared.estimate == pytest.approx(trace.estimate)
    scope = {"mean": mean}
    exec("def without_module(problem, *, rng): yield from mean(problem, rng=rng)", scope)
    assert lrlab.solve(SPEC, scope["without_module"]).estimate == pytest.approx(trace.estimate)


@pytest.mark.parametrize(
    ("solver", "sentence"),
    [
        (3, "solver must be a name or a generator function, got 3: write def my_solver"),
        (lambda problem: None, "solver must be a name or a generator function, got <function <lambda>"),
        (len, "len must be a function \\(problem, \\*, options, rng\\) that yields an Iterate"),
    ],
)
def test_what_is_no_solver_is_one_sentence(solver, sentence):
    with pytest.raises((InputError, CatalogError), match=sentence):
        lrlab.solve(SPEC, solver)
    assert catalog.PLUGINS == () and lrlab.solve(SPEC, "sir").rows


@pytest.mark.slow
def test_a_failure_is_its_sentence_here_and_a_row_of_a_sweep_on_workers(engine, own):
    with pytest.raises(RuntimeError, match="no such luck") as error:
        lrlab.solve(SPEC, "own-failure")
    assert str(error.value) == SENTENCE and isinstance(error.value.__cause__, ValueError)
    solvers = ["own-mean", "own-failure", mean, failing]
    table = lrlab.sweep(SPEC, axes={"n": [100, 200]}, solvers=solvers, trials=3, start=engine.map)
    failed = table[table["stop"] == "FAILED"]
    assert set(failed["solver"]) == {"own-failure", "failing"} and set(failed["refused"]) == {SENTENCE}
    good = table[table["stop"] == "FINISHED"]
    assert len(failed) == len(good) == 12 and set(good["solver"]) == {"own-mean", "mean"}
    here = lrlab.sweep(SPEC, axes={"n": [100, 200]}, solvers=solvers, trials=3, start=LocalResults)
    assert here.drop(columns="seconds").equals(table.drop(columns="seconds"))


def test_workers_that_cannot_have_a_solver_say_so_and_nothing_waits(engine):
    lock = threading.Lock()

    def holding(problem, *, rng):
        yield lrlab.Iterate(problem.y @ problem.X, objective=float(lock.locked()))

    table = lrlab.sweep(SPEC, axes={"n": [100]}, solvers=[holding, "sir"], trials=2, start=engine.map)
    assert list(table["stop"]) == ["FAILED"] * 2 + ["FINISHED"] * 2
    words = "solver must be one that can be used here, got holding: holding: cannot be sent to workers (cannot pickle"
    assert table["refused"].iloc[0].startswith(words)
    assert lrlab.solve(SPEC, holding).rows, "here it runs"


def version(solver="own-mean"):
    return stores.version(SPEC.model, solver)


def test_trials_of_a_file_go_stale_when_its_code_changes_and_not_when_its_words_do(own):
    with Store() as store:
        lrlab.sweep(SPEC, axes={"n": [100]}, solvers=["own-mean"], trials=2, store=store, start=LocalResults)
        [before] = store.groups()
        words = FILE.replace("Yield a mean of the rows with their signs.", "Yield a mean.")
        own.write_text(words.replace('models="one-bit-sensing"', 'models="one-bit-sensing", memory=0.5'))
        lrlab.register(own)
        assert not store.groups()[0].stale and version() == before.version
        own.write_text(FILE.replace("FACTOR = 1.0", "FACTOR = 2.0"))
        lrlab.register(own)
        assert store.groups()[0].stale
        table = lrlab.sweep(SPEC, axes={"n": [100]}, solvers=["own-mean"], trials=2, store=store, start=LocalResults)
        assert len(store.groups()) == 2 and len(table) == 2


MODEL = '''
from dataclasses import dataclass, replace
from lrlab.model_entry import ModelEntry
from lrlab.models import rank_one_sensing
from lrlab.models.rank_one_sensing import RankOneSensing


@dataclass(frozen=True, kw_only=True)
class OwnRankOne(RankOneSensing):
    """An own model."""

    model = "own-rank-one"
    title = "Own rank one"
    summary = "An own model."


ENTRY = replace(rank_one_sensing.ENTRY, spec=OwnRankOne)
'''

BROKEN = {
    "syntax.py": ("def f(:", r"syntax.py: does not import \(SyntaxError"),
    "leaves.py": ("raise SystemExit(3)", r"leaves.py: does not import \(SystemExit: 3\)"),
    "taken.py": (FILE.replace("own_mean", "sir"), "the solver 'sir' for one-bit-sensing is in lrlab.*rename one of"),
    "nameless.py": (
        MODEL.replace("own-rank-one", ""),
        r"nameless.py: does not import \(InputError: spec must be a class with a model, got .*OwnRankOne",
    ),
    "twice.py": (FILE + "\n", r"the solver 'own-mean' for one-bit-sensing is in good.py, too: rename one of them"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_plugin_is_named_and_the_others_work(name, tmp_path, monkeypatch):
    monkeypatch.setenv("LRLAB_PLUGINS", "")
    text, sentence = BROKEN[name]
    (tmp_path / "good.py").write_text(FILE)
    (tmp_path / name).write_text(text)
    catalog.load([tmp_path / "good.py", tmp_path / name])
    [left_out] = catalog.LEFT_OUT
    assert re.search(sentence, left_out), left_out
    assert "\n" not in left_out and lrlab.solve(SPEC, "own-mean").rows
    assert os.environ["LRLAB_PLUGINS"].split(os.pathsep) == [str(tmp_path / "good.py"), str(tmp_path / name)]
    assert catalog.solver("sir").run.__module__.startswith("lrlab.")
    with pytest.raises(InputError, match="with must be a Python file that is there, got "):
        catalog.load([tmp_path / "none.txt"])


def test_a_worker_tries_a_broken_plugin_once(tmp_path):
    text = f"import os\nos.mkdir({str(tmp_path / 'tried')!r})\nimport nothing_here"
    for _ in range(3):
        catalog.install((("broken.py", text.encode()),))
    assert "nothing_here" in catalog.LEFT_OUT[-1]


PACKAGE = {
    "own_package/__init__.py": "",
    "own_package/tools.py": "FACTOR = 1.0\n",
    "own_package/solvers.py": FILE.replace("FACTOR = 1.0", "from .tools import FACTOR"),
    "own_package-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n",
    "own_package-1.0.dist-info/entry_points.txt": "[lrlab.solvers]\na = own_package.solvers\nb = own_package.gone\n",
}
OF_PACKAGE = """
import lrlab
from lrlab import catalog
from lrlab.store.store import version
print(version("one-bit-sensing", "own-mean"), "|", *catalog.LEFT_OUT)
"""


@pytest.mark.slow
@pytest.mark.soak
def test_an_installed_package_names_its_modules_by_entry_points(tmp_path):
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)

    path = os.pathsep.join([str(ROOT), str(tmp_path)])

    def printed():
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        done = subprocess.run([sys.executable, "-c", OF_PACKAGE], env=environment, stdout=subprocess.PIPE, text=True)
        return done.stdout.split(" | ")

    before, left_out = printed()
    assert "own_package.gone: does not import (ModuleNotFoundError" in left_out
    (tmp_path / "own_package" / "tools.py").write_text("FACTOR = 2.0\n")
    assert printed()[0] != before, "its other files count, too"


@pytest.mark.slow
def test_a_new_solver_and_its_test_pass_as_they_are(tmp_path, monkeypatch, capsys):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = {"env": environment, "cwd": tmp_path, "capture_output": True, "text": True}
    monkeypatch.chdir(tmp_path)
    assert main(["new", "solver", "my-steps"]) == 0 and "test_my_steps.py are written" in capsys.readouterr().out
    assert main(["new", "model", "my-sensing"]) == 0
    files = "test_my_steps.py", "test_my_sensing.py"
    tested = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files], **run)
    assert tested.returncode == 0 and "5 passed" in tested.stdout, tested.stdout
    capsys.readouterr()
    refused = {"my-steps": "without a file yet", "My Solver": "no word of Python", "true": "no word of Python"}
    for name, sentence in {**refused, **dict.fromkeys(("biht", "numpy", "np", "spec"), "that no module")}.items():
        assert main(["new", "model", name]) == 2
        error = capsys.readouterr().err
        assert sentence in error and len(error.splitlines()) == 1
    listed = subprocess.run(
        [sys.executable, "-m", "lrlab", "models", "--json"], check=True,
        **run | {"env": environment | {"LRLAB_PLUGINS": str(tmp_path / "my_steps.py")}},
    )  # fmt: skip
    model = next(model for model in json.loads(listed.stdout) if model["model"] == "one-bit-sensing")
    assert "my-steps" in [solver["solver"] for solver in model["solvers"]]
