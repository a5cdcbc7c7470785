"""Parts of pages without a page: tables as files, the preparation of a server, words on a spectrum, the atlas."""

import gzip
import io
import json
import struct

import pandas as pd
import pytest
import streamlit as st

import lrlab
from lrlab.ui import startup
from lrlab.ui.spectrum.results_view import sentence
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.axis import Axis, fine


def test_no_text_of_a_csv_is_a_formula_and_numbers_stay_numbers():
    names = ["=HYPERLINK(1)", "+1", "-1", "@x", "\tx", "plain", ""]
    table = pd.DataFrame({"name": names, "value": [-1.5, 2, 3, 4, 5, 6, 7]})
    back = pd.read_csv(io.BytesIO(tables.csv(table)), keep_default_na=False)
    assert list(back["name"]) == ["'=HYPERLINK(1)", "'+1", "'-1", "'@x", "'\tx", "plain", ""]
    assert list(back["value"]) == list(table["value"])


@pytest.mark.attempt("`clear_cache` by any session", "the server is prepared once")
def test_a_server_is_prepared_once_whatever_a_session_clears():
    began = startup.begin()
    # As Streamlit does when a browser sends `clear_cache`.
    st.cache_data.clear()
    st.cache_resource.clear()
    assert startup.begin() is began
    began.join()


ALONG = Axis("n", "measurements n", (100.0, 1000.0), "log", "n", True)
AT = [100.0, 200.0, 400.0, 1000.0]


@pytest.mark.parametrize(
    ("overlaps", "words"),
    [
        ([0.0, 0.0, 0.2, 0.6], "eigenvector asymptotically points to the signal from about measurements n = 400."),
        ([0.6, 0.2, 0.0, 0.0], "to the signal up to about measurements n = 200."),
        ([0.6, 0.2, 0.1, 0.1], "Everywhere here the leading"),
        ([0.0, 0.0, 0.0, 0.0], "Nowhere here the leading"),
        ([0.0, 0.2, 0.0, 0.2], "On parts of this axis"),
        ([0.0, 0.2, float("nan"), 0.2], "Press Run"),
    ],
)
def test_theory_is_said_where_its_curve_crosses(overlaps, words):
    assert words in sentence(pd.DataFrame(), pd.DataFrame({"at": AT, "overlap": overlaps}), ALONG)


def test_what_was_measured_is_said_at_both_ends():
    points = pd.DataFrame({"at": AT[::-1], "trials": 3, "mean_top": 1.0, "mean_overlap": [0.9, 0.5, 0.1, 0.01]})
    assert sentence(points, pd.DataFrame(), ALONG) == "Measured squared overlap: 0.01 at 100, 0.9 at 1000."


def test_a_run_without_points_asks_for_no_run():
    assert sentence(pd.DataFrame(), pd.DataFrame(), ALONG) == "Press Run to measure."
    assert sentence(pd.DataFrame(), pd.DataFrame(), ALONG, running=True) == "Measuring."


def test_an_axis_of_one_value_has_a_grid_of_one_value():
    assert fine(Axis("ratio", "n/p", (2.0,), "linear", "n", False)) == [2.0]


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
