"""What a shell prints never holds control characters, wherever the text comes from."""

import sqlite3
from contextlib import closing

import pytest

from lrlab import spec
from lrlab.__main__ import main
from lrlab.parameters import printable
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep

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
