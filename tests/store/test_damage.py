"""A damaged store is one sentence."""

import os
import sqlite3
from contextlib import closing

import pytest

from lrlab import spec
from lrlab.__main__ import main
from lrlab.engine.results import LocalResults
from lrlab.store.store import Store
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.run import run
from lrlab.sweeps.toml import to_toml

SWEEP = Sweep(
    spec=spec("one-bit-sensing", n=200, p=5), axes={"noise": [0.1, 0.5, 1.0]}, solvers=["marginal-mean"], trials=200
)


@pytest.fixture
def path(tmp_path):
    """Return a store whose trials fill several pages."""
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        run(SWEEP, store, LocalResults)
    return path


@pytest.mark.attempt("a store with damaged rows, columns, tables or pages", "one sentence that says how to recover it")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE trials SET metrics = '[0.1' WHERE cell = 2 AND trial = 3",
        "UPDATE trials SET metrics = '[0.1, x]' WHERE cell = 2 AND trial = 3",
        "UPDATE trials SET metrics = CAST(x'1b5b33316dff' AS TEXT) WHERE cell = 2 AND trial = 3",
        "ALTER TABLE trials DROP COLUMN seconds",
        "DROP TABLE cells",
        3,
        -2,
    ],
)
def test_damage_is_one_sentence(path, tmp_path, capsys, damage):
    if isinstance(damage, str):
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(damage)
    else:
        content = path.read_bytes()
        start = 4096 * damage % len(content)
        path.write_bytes(content[:start] + os.urandom(4096) + content[start + 4096 :])
    definition = tmp_path / "sweep.toml"
    definition.write_text(to_toml(SWEEP))
    remedy = f"recover it with `sqlite3 {path} .recover | sqlite3 NEW`, or delete it"
    for arguments in (["sweep", str(definition), "--store"], ["store", "--export", str(tmp_path / "out.csv")]):
        assert main([*arguments, str(path)]) == 2
        printed = capsys.readouterr()
        assert printed.out == "" and printed.err.count("\n") == 1 and "\x1b" not in printed.err
        assert f"it is damaged: {remedy}" in printed.err
