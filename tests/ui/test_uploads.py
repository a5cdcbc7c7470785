"""Uploads are read by a worker, under its limits."""

import os
import time

import numpy as np
import pytest

from lrlab.data.hints import Hints
from lrlab.parameters import InputError
from lrlab.ui.own_data.source import Reading, carry_out, short_name
from lrlab.ui.shared import live

# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


@pytest.mark.slow
def test_a_worker_reads_and_errors_come_back():
    assert live.on_worker(pid, 0) != os.getpid()
    with pytest.raises(InputError, match="x must be small"):
        live.on_worker(refuse, 3)


@pytest.mark.slow
@pytest.mark.attempt(
    "an upload that takes too long or too much memory to read",
    "one sentence, the worker is ended alone",
)
def test_what_takes_too_long_or_too_much_memory_ends_in_a_sentence():
    with pytest.raises(InputError, match="file must be one that a worker reads within 0.1 s"):
        live.on_worker(time.sleep, 30.0, seconds=0.1)
    with pytest.raises(InputError, match="The job needed more memory"):
        live.on_worker(np.ones, 2**50)


def pid(_: int) -> int:
    """Return the process."""
    return os.getpid()


def refuse(x: int) -> None:
    """Refuse a number."""
    raise InputError("x", "small", x, "lower it")


@pytest.mark.attempt("an upload whose name has 300 bytes (76 emoji)", "cut by its bytes")
@pytest.mark.parametrize("name", ["\N{GRINNING FACE}" * 76 + ".csv", "é" * 200 + ".csv", "a" * 300 + ".csv"])
def test_a_long_name_is_cut_by_its_bytes(name, tmp_path):
    path = tmp_path / short_name(name)
    path.write_bytes(b"1,2")
    assert path.suffix == ".csv" and path.name[0] == name[0] and len(path.name.encode()) <= 80


def test_files_travel_to_the_worker():
    csv = b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (k, k * k % 7, k % 2) for k in range(20))
    task = live.on_worker(carry_out, Reading({"x.csv": csv}, {"file": "x.csv"}, Hints(), "last:1"))
    assert task.source().startswith("20 rows, 2 features, 1 labels")
