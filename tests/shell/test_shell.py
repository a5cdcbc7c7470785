"""The command line: the same jobs, one JSON document, one line of complaint, and the right exit status at any end."""

import importlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

import lrlab
from lrlab import catalog, extras, spec
from lrlab.__main__ import main
from lrlab.parameters import printable
from lrlab.presets.result import WORDS
from lrlab.runs.run import Trial, TrialResult
from lrlab.shell import app
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from tests.test_plugins import DOCSTRING

SOLVE = ["solve", "one-bit-sensing", "--solver", "pairwise-moment"]


def test_solve_prints_one_json_document(capsys):
    assert main([*SOLVE, "--set", "n=500", "--set", "seed=3", "--set", "pairs=all", "--set", "tol=1e-6", "--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert printed.err == ""
    keys = ["model", "spec", "solver", "options", "stop", "message", "iterations", "seconds", "metrics", "trace"]
    assert list(document) == keys
    assert document["spec"]["n"] == 500 and document["options"]["pairs"] == "all" and document["stop"] == "CONVERGED"
    assert len(document["trace"]) == document["iterations"]
    assert {"iteration", "seconds", "objective", "error", "overlap"} <= set(document["trace"][0])
    same = lrlab.solve(lrlab.spec("one-bit-sensing", n=500, seed=3), "pairwise-moment", pairs="all", tol=1e-6)
    assert document["metrics"] == same.metrics
    assert main([*SOLVE, "--set", "n=500"]) == 0 and "  overlap " in capsys.readouterr().out


def test_an_example_of_own_measurements_has_its_model_and_options(capsys):
    assert main(["recover", "example:diabetes", "--set", "r=1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["model"] == "polynomial-network" and document["spec"]["constant"] is True
    assert main(["recover", "example:diabetes", "--set", "r=1", "--set", "constant=false", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spec"]["constant"] is False
    assert main(["fit", "example:wine", "--tune", ""]) == 0, "an empty metric is ignored"


def test_models_lists_parameters_and_solvers(capsys):
    assert main(["models", "--json"]) == 0
    listed = {entry["model"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert {"one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval"} <= set(listed)
    assert "pairwise-moment" in [s["solver"] for s in listed["flipped-logistic"]["solvers"]]
    assert "picture" not in [p["name"] for p in listed["one-bit-sensing"]["parameters"]]
    assert main(["models"]) == 0
    short = capsys.readouterr().out
    assert len(short.splitlines()) == len(catalog.MODELS) + 1 and "--set" not in short
    text = ""
    for model in ("polynomial-network", "one-bit-sensing"):
        assert main(["models", model]) == 0
        text += capsys.readouterr().out
    assert "--set noise" in text
    for name, known in {"tangent-descent": "rank", "gamp": "link, sparsity", "biht": "sparsity"}.items():
        [line, *_] = [line for line in text.splitlines() if f"--solver {name} " in line]
        assert line.endswith(f"Oracle information: {known}.")
    assert "Given" not in next(line for line in text.splitlines() if "--solver pairwise-moment " in line)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["jain2013-fig1d", "--quick"], ["--all", "--shipped"]])
def test_paper_prints_its_verdicts_as_one_json_document(arguments, capsys, tmp_path):
    assert main(["paper", *arguments, "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert all((tmp_path / name).exists() for name in document["files"]) and document["not_computed"] == []
    mine = [claim for claim in document["claims"] if claim["preset"] == "jain2013-fig1d"]
    assert [claim["claim"] for claim in mine] == ["“the test error degrades gracefully as either k or d increases”"]
    assert {claim["verdict"] for claim in document["claims"]} <= set(WORDS)
    assert len({claim["preset"] for claim in document["claims"]}) > 10 or len(document["claims"]) == 1


def refused(arguments, capsys):
    """Run a command that ends with status 2; return the only line of its errors."""
    try:
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    printed = capsys.readouterr()
    assert status == 2 and printed.out == "" and printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*SOLVE, "--set", "n=-1"], "n must be a whole number in 2..1000000, got -1: raise n to 2 or more"),
        ([*SOLVE, "--set", "n"], "--set must be of the form NAME=VALUE, got n"),
        ([*SOLVE, "--set", "nois=1"], 'did you mean "noise"?'),
        (["models", "one-bit-sensin"], 'did you mean "one-bit-sensing"?'),
        (["solve", "one-bit", "--solver", "x"], "model must be one of one-bit-sensing"),
        (["solve", "one-bit-sensing"], "the following arguments are required: --solver"),
        (["paper", "nobody2000-fig1"], "preset must be one of"),
        (["paper", "yi2015-fig1", "--shipped"], "paper must be a name, or --all"),
        (["fly"], "invalid choice: 'fly'"),
        (["fit", "a.csv", "--save", "a.csv"], "--save must be another file than those that are read, got a.csv"),
        (["app", "--port", "0"], "--port must be a whole number in 1..65535, got 0: name another port"),
        (["app", "--port", "x"], "argument --port: invalid int value: 'x'"),
        (["app", "--with", "missing.py"], "with must be a Python file that is there, got "),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, sentence, capsys):
    assert sentence in refused(arguments, capsys)


def test_the_advice_on_memory_fits_the_solver(monkeypatch, capsys):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "1")
    large = ["--set", "n=1000000", "--set", "p=10000"]
    for model, solver, advised in (
        ("one-bit-sensing", "logistic", "marginal-mean"),
        ("one-bit-phase-retrieval", "gamp", ""),
        ("one-bit-sensing", "pairwise-moment", ""),
    ):
        printed = refused(["solve", model, "--solver", solver, *large], capsys)
        assert f"such as {advised}" in printed if advised else "take a solver" not in printed


def test_a_large_job_runs_on_a_worker_with_the_same_result(engine, monkeypatch, capsys):
    here = lrlab.solve(lrlab.spec("one-bit-sensing", n=500), "pairwise-moment")
    monkeypatch.setattr("lrlab.engine.solve.IN_PROCESS_BYTES", 0)
    monkeypatch.setattr("lrlab.engine.solve.run_job", None)
    assert main([*SOLVE, "--set", "n=500", "--json"]) == 0
    there = lrlab.solve(lrlab.spec("one-bit-sensing", n=500), "pairwise-moment")
    assert json.loads(capsys.readouterr().out)["metrics"] == there.metrics == here.metrics
    np.testing.assert_array_equal(there.estimate, here.estimate)


def test_a_port_that_is_taken_is_one_sentence(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert refused(["app", "--port", str(taken.getsockname()[1])], capsys).endswith(": name another port\n")


def test_arguments_are_what_the_server_is_started_with(monkeypatch, tmp_path):
    (tmp_path / "own.py").write_text("ENTRIES = ()\n")
    monkeypatch.chdir(tmp_path)
    # Set first, so that they are as before in the end.
    for name in ("LRLAB_PLUGINS", "LRLAB_STORE"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "argv", [])
    started = []
    monkeypatch.setattr(app.runpy, "run_module", lambda name, **how: started.append([name, *sys.argv]))
    assert main(["app", "--port", "18501", "--with", "own.py", "--store", "mine.sqlite", "--no-browser"]) == 0
    assert os.environ["LRLAB_PLUGINS"] == str(tmp_path / "own.py")
    assert os.environ["LRLAB_STORE"] == str(tmp_path / "mine.sqlite")
    [[module, *arguments]] = started
    assert module == "streamlit" and arguments[:2] == ["streamlit", "run"] and arguments[2].endswith("app.py")
    assert arguments[3:] == ["--server.address", "127.0.0.1", "--server.port", "18501"]


def test_another_missing_module_is_not_explained_away():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), extras.named():
        importlib.import_module("no_such_module")


def run(line, **environment):
    """Run a line of a shell, in which `lrlab` is the command, with more variables in its environment."""
    command, environment = line.replace("lrlab", f"{sys.executable} -m lrlab", 1), {**os.environ, **environment}
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, env=environment, errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "status", "sentence"),
    [
        ("lrlab --help > /dev/full", 1, "Standard output cannot be used (No space left on device)"),
        ("lrlab models --json > /dev/full", 1, "Standard output cannot be used (No space left on device)"),
        ("lrlab models --json >&-", 1, "Standard output cannot be used (closed)"),
        ("lrlab sweep nothing.toml >&-", 2, "sweep file must be"),
        ("lrlab new solver mine --dir /proc", 2, "file must be one that can be used"),
        ("lrlab models 2>&- | head -1 > /dev/null", 0, ""),
        ("lrlab models --json | head -1 > /dev/null", 0, ""),
        ("lrlab sweep nothing.toml 2>&-", 2, ""),
        ("lrlab paper jain2013-fig1d --quick --out /proc/x", 2, "out must be "),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(line, status, sentence):
    done = run(line)
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr and done.stderr.count("\n") == bool(sentence) and done.stdout == ""


@pytest.mark.slow
def test_an_encoding_that_lacks_characters_gets_codes():
    done = run("lrlab models", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "") and "one-bit-sensing" in done.stdout


@pytest.mark.slow
def test_python_without_docstrings_has_the_same_catalog():
    done = run("lrlab models --json", PYTHONOPTIMIZE="2")
    assert done.returncode == 0, done.stderr
    listed = {(m["model"], s["solver"]) for m in json.loads(done.stdout) for s in m["solvers"]}
    assert listed == {(m, e.name) for m in catalog.MODELS for e in catalog.solvers_for(m)}


def test_version_is_that_of_the_package(capsys):
    assert (main(["--version"]), *capsys.readouterr()) == (0, f"lrlab {lrlab.__version__}\n", "")


PLUGIN = """
import os, signal, sys
from lrlab import Iterate, solver
print("hello from the file")
@solver(models="one-bit-sensing")
def noisy(problem, *, rng):
    {words}
    print("hello from the solver")
    print("hello from another stream", file=sys.__stdout__, flush=True)
    os.write(1, b"hello from a library\\n")
    {first}
    yield Iterate(rng.standard_normal(problem.spec.p))
{last}
"""
CTRL_C = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "last", "status", "sentence"),
    [
        ("pass", "", 0, ""),
        (CTRL_C, "", 130, "\nInterrupted.\n"),
        ("pass", CTRL_C, 130, ""),
        ("raise KeyboardInterrupt", "", 130, "\nInterrupted.\n"),
        ("pass", "raise KeyboardInterrupt", 2, "own.py: does not import (KeyboardInterrupt"),
    ],
)
def test_what_a_plugin_prints_or_raises_is_not_taken_for_the_command(first, last, status, sentence, tmp_path):
    (tmp_path / "own.py").write_text(PLUGIN.format(words=DOCSTRING.format("Noisy"), first=first, last=last))
    files = f"none.py{os.pathsep}{tmp_path / 'own.py'}"
    done = run("lrlab solve one-bit-sensing --solver noisy --json", LRLAB_PLUGINS=files)
    assert done.returncode == status and sentence in done.stderr and "Traceback" not in done.stderr
    assert "Warning:" not in done.stderr and "catalog.py" not in done.stderr
    assert "hello from the file" in done.stderr
    assert status == 130 or "none.py: is not there (" in done.stderr
    assert status or all(f"hello from {what}" in done.stderr for what in ("the solver", "another stream", "a library"))
    assert done.stdout == "" if status else json.loads(done.stdout)["solver"] == "noisy"


EVIL = "a\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202eb"


def clean(text):
    return all(letter == "\n" or letter.isprintable() for letter in text)


def test_printable_writes_what_moves_the_cursor_as_codes():
    assert printable(EVIL) == r"a\x1b]0;owned\x07\x1b[2J\x9b31m\x0d\u202eb"
    assert printable("é – 数\t|\n") == "é – 数\t|\n" and printable("\udc9b") == r"\udc9b" and printable(3) == "3"


@pytest.mark.attempt("the same in arguments and names of files", "written as codes")
@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", EVIL],
        ["solve", "one-bit-sensing", "--set", f"{EVIL}=3"],
        ["solve", "one-bit-sensing", "--set", f"n={EVIL}"],
        [EVIL],
        ["store", f"{EVIL}.sqlite"],
        ["paper", EVIL],
        ["fit", EVIL, "--solver", EVIL],
    ],
)
def test_messages_are_clean(arguments, capsys):
    assert clean(refused(arguments, capsys))


@pytest.mark.attempt(
    "control characters (ESC, bidirectional marks) in stores and definitions, on a terminal",
    "written as codes",
)
def test_texts_of_a_store_and_of_a_definition_are_clean(tmp_path, capsys):
    path, definition = tmp_path / f"{EVIL.replace('/', '')}.sqlite", tmp_path / "sweep.toml"
    sweep = Sweep(spec=spec("one-bit-sensing", n=200, p=5), axes={"noise": [0.1]}, solvers=["sir"], trials=2)
    with Store(path) as store:
        store.add({Trial(sweep.jobs[0], n): TrialResult(n, EVIL, 3, 0.1, {EVIL: 0.5}) for n in range(2)})
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("UPDATE cells SET solver = ?", "UPDATE trials SET metrics = ?"):
            assert main(["store", str(path)]) in (0, 2)
            connection.execute(statement, (EVIL,))
    assert main(["store", str(path), "--export", str(tmp_path / "out.csv")]) == 2
    definition.write_text(f'model = "{EVIL}"\n'.replace("\x1b", "\\u001b").replace("\x07", "\\u0007"))
    assert main(["sweep", str(definition)]) == 2
    printed = capsys.readouterr()
    assert clean(printed.out) and clean(printed.err) and "owned" in printed.out
