"""The shipped atlas of the home page agrees with today's solvers."""

import gzip
import json
import struct

import pytest

import lrlab
from lrlab.ui.widgets import plot


def header():
    content = gzip.decompress((plot.ASSETS / "files" / "atlas.bin").read_bytes())
    [length] = struct.unpack("<I", content[:4])
    return json.loads(content[4 : 4 + length])


@pytest.mark.parametrize(("solver", "i", "j"), [("gamp", 11, 9), ("nbiht", 20, 9), ("marginal-mean", 12, 9)])
def test_errors_of_sparse_signals_are_those_of_the_solver(solver, i, j):
    one = header()["diagrams"]["onebit"]
    known, point = one["solvers"][solver], j * len(one["x"]) + i
    given = {"p": 200, "n": one["x"][i], "sparsity": one["y"][j], "noise": 0.1, "entries": "equal", "seed": 7}
    trace = lrlab.solve(lrlab.spec("one-bit-sensing", **given), solver)
    assert trace.rows[-1]["error"] == pytest.approx(known["errors"][point][-1], rel=5e-3)
    assert trace.iterations == known["iterations"][point][-1]
