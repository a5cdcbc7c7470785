"""Uploads are read by a worker, under its limits."""

import os
import time
from types import SimpleNamespace

import numpy as np
import pytest

from lrlab.data.columns import Hints
from lrlab.parameters import InputError
from lrlab.ui.own_data.source import Folder, Reading, carry_out
from lrlab.ui.shared import uploads

# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def test_a_worker_reads_and_errors_come_back():
    assert uploads.on_worker(pid, 0) != os.getpid()
    with pytest.raises(InputError, match="x must be small"):
        uploads.on_worker(refuse, 3)


@pytest.mark.attempt(
    "an upload that takes too long or too much memory to read",
    "one sentence, the worker is ended alone",
)
def test_what_takes_too_long_or_too_much_memory_ends_in_a_sentence(monkeypatch):
    monkeypatch.setattr(uploads, "READ_SECONDS", 0.1)
    with pytest.raises(InputError, match="file must be one that a worker reads within 0.1 s"):
        uploads.on_worker(time.sleep, 30.0)
    with pytest.raises(InputError, match="The job needed more memory"):
        uploads.on_worker(np.ones, 2**50)


def pid(_: int) -> int:
    """Return the process."""
    return os.getpid()


def refuse(x: int) -> None:
    """Refuse a number."""
    raise InputError("x", "small", x, "lower it")


@pytest.mark.attempt("an upload whose name has 300 bytes (76 emoji)", "cut by its bytes")
@pytest.mark.parametrize("name", ["\N{GRINNING FACE}" * 76 + ".csv", "é" * 200 + ".csv", "a" * 300 + ".csv"])
def test_a_long_name_is_cut_by_its_bytes(name):
    folder = Folder()
    path = folder.path / folder.write(SimpleNamespace(name=name, getvalue=lambda: b"1,2"))
    assert path.read_bytes() == b"1,2" and path.suffix == ".csv" and path.name[0] == name[0]


def test_files_travel_to_a_worker_that_does_not_have_them():
    folder, csv = Folder(), b"a,b,c\n" + b"".join(b"%d,%d,%d\n" % (k, k * k % 7, k % 2) for k in range(20))
    (folder.path / "x.csv").write_bytes(csv)
    for place, content in (("", {"x.csv": csv}), (str(folder.path), {})):
        task = carry_out(Reading(place, content, {"file": "x.csv"}, Hints(), "last:1"))
        assert task.source().startswith("20 rows, 2 features, 1 labels")
