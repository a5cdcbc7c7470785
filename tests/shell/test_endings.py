"""However a command ends: one sentence, the right exit status, and no control characters on a terminal."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

import lrlab
from lrlab import catalog, spec
from lrlab.__main__ import main
from lrlab.parameters import printable
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep

LRLAB = [sys.executable, "-m", "lrlab"]
SOLVE = ["solve", "one-bit-sensing", "--solver", "marginal-mean", "--set", "n=200"]


def run(*arguments, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([*LRLAB, *arguments], capture_output=True, text=True, env=environment, errors="replace")


def shell(line, **environment):
    command = line.replace("lrlab", " ".join(LRLAB), 1)
    environment = {**os.environ, **environment}
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
        ("lrlab sweep nothing.toml 2>&-", 2, ""),
        ("lrlab paper jain2013-fig1d --quick --out /proc/x", 2, "out must be "),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(line, status, sentence):
    done = shell(line)
    assert done.returncode == status, done.stderr
    assert sentence in done.stderr and done.stderr.count("\n") == bool(sentence) and done.stdout == ""


@pytest.mark.slow
def test_an_encoding_that_lacks_characters_gets_codes():
    done = run("models", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "one-bit-sensing" in done.stdout


@pytest.mark.slow
def test_python_without_docstrings_reads_the_same_catalog():
    done = run("models", "--json", PYTHONOPTIMIZE="2")
    assert done.returncode == 0, done.stderr
    listed = {(m["model"], s["solver"]): s["reference"] for m in json.loads(done.stdout) for s in m["solvers"]}
    assert listed == {(m, e.name): e.reference for m in catalog.MODELS for e in catalog.solvers_for(m)}


def test_version_is_that_of_the_package():
    done = run("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"lrlab {lrlab.__version__}\n", "")


PLUGIN = '''
import os, signal, sys
from lrlab import Iterate, solver
print("hello from the file")
@solver(models="one-bit-sensing")
def noisy(problem, *, rng):
    """Noisy.

    A guess.

    .. math:: x

    Reference: None.
    """
    print("hello from the solver")
    print("hello from another stream", file=sys.__stdout__, flush=True)
    os.write(1, b"hello from a library\\n")
    {first}
    yield Iterate(rng.standard_normal(problem.spec.p))
{last}
'''
CTRL_C = "os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "last", "status", "sentence"),
    [
        ("pass", "", 0, ""),
        (CTRL_C, "", 130, "\nInterrupted.\n"),
        ("pass", CTRL_C, 130, "\nInterrupted.\n"),
        ("raise KeyboardInterrupt", "", 1, "own.py raised KeyboardInterrupt on line 18: correct the file."),
        ("raise SystemExit(0)", "", 1, "noisy raised SystemExit: correct the solver."),
        ("pass", "raise KeyboardInterrupt", 2, "own.py: does not import (KeyboardInterrupt"),
    ],
)
def test_what_a_plugin_prints_or_raises_is_not_taken_for_the_command(first, last, status, sentence, tmp_path):
    (tmp_path / "own.py").write_text(PLUGIN.format(first=first, last=last))
    done = run(*SOLVE[:3], "noisy", "--json", LRLAB_PLUGINS=str(tmp_path / "own.py"))
    assert done.returncode == status and sentence in done.stderr and "Traceback" not in done.stderr
    assert "Warning:" not in done.stderr and "catalog.py" not in done.stderr
    assert "hello from the file" in done.stderr
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
    try:
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    printed = capsys.readouterr()
    assert status == 2 and printed.err.count("\n") == 1 and clean(printed.err) and printed.out == ""


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
