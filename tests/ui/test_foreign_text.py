"""Text from outside is shown as text; pages of other sites are refused; a small class at a real server."""

import asyncio
import gzip
import io
import json
import re
import struct
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from playwright.sync_api import expect
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

import lrlab
from benchmarks.load.classroom import attend, predict
from lrlab.sweeps.toml import parse
from lrlab.ui import startup
from lrlab.ui.spectrum import sentence
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.controls import Axis, fine
from lrlab.ui.widgets.text import JOINER, plain
from tests.ui import driving
from tests.ui.browsing import opened
from tests.ui.driving import components, drawn, errors, finished
from tests.waiting import aside

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "![i](http://host/m)",
    "[link](http://host/)",
    "http://host/ www.host.org a@host.org",
    "<img src=x onerror=alert(1)> <b>bold</b>",
    "**bold** __bold__ *it* _it_ ~~gone~~",
    "`code` $x^2$ $$y$$",
    ":red[red] :orange-badge[badge]",
    "# head",
    "1. list",
    "- list",
    "| a | b |",
    r"\[escaped](http://host)",
]
NAME = "![i](http://host/m) <a href='http://host'>x</a> **b** :red[r]"
MARKED = re.compile(r"(?<!\\)(?:!?\[i\]|:red\[r|\*\*b|<a href)")
"""What of NAME would be shown as more than text."""


def shown(at):
    """Return every text that a page gives to Streamlit as Markdown."""
    kinds = (at.error, at.warning, at.info, at.caption, at.markdown, at.header, at.subheader, at.title)
    texts = [element.value for kind in kinds for element in kind]
    widgets = (at.checkbox, at.selectbox, at.button, at.number_input, at.text_input, at.toggle)
    return texts + [getattr(one, part, "") or "" for kind in widgets for one in kind for part in ("label", "help")]


@pytest.mark.attempt(
    "Markdown, HTML and links in addresses, opened in a browser",
    "shown as they were typed, nothing is fetched",
)
@pytest.mark.browser
@pytest.mark.slow
def test_addresses_are_shown_as_they_were_typed(page, address):
    names = ["n", "p", "sparsity", "noise", "truth", "entries", "design", "tol", "seed", "max_iter", "show", "axes"]
    query = urlencode({**dict(zip(names, HOSTILE, strict=True)), "solvers": "sir", NAME: "1"})
    opened(page, f"{address}/converge?{query}", "Run")
    alerts = page.get_by_test_id("stAlert")
    expect(alerts.nth(len(HOSTILE))).to_be_visible()
    read = " ".join(alerts.all_inner_texts()).replace(JOINER, "")
    # Long values are cut.
    for text in [*HOSTILE, NAME[:40]]:
        assert text in read, text
    assert not alerts.locator("a, img, strong, em, del, h1, li, table, .katex, .stMarkdownBadge, p code").count()


@pytest.mark.slow
@pytest.mark.attempt("a title of a TOML definition that is Markdown or HTML", "shown as text")
def test_a_pasted_definition_fills_the_controls_its_title_is_text_and_a_wrong_one_is_one_sentence():
    at = driving.opened("sweep")
    text = f'title = "{NAME}"\nmodel = "one-bit-sensing"\nsolvers = ["sir"]\ntrials = 2\n[axes]\nn = [300, 500]\n'
    for given in (text.replace("sir", "sirr"), text):
        at.text_area(key="transition-toml").set_value(given).run()
        at.button(key="transition-read").click().run()
        at.run()
        assert any('did you mean "sir"?' in error for error in errors(at)) == (given != text), (
            "until another one is read"
        )
    assert not errors(at) and at.query_params["x-values"] == "300, 500"
    at = finished(at, "transition")
    at.session_state["transition-past"] = at.session_state["code"] = True
    drawn(at.run())
    texts = shown(at)
    assert at.markdown[-1].value.startswith(plain(NAME)) and not any(MARKED.search(text) for text in texts)
    python, shell, toml = (block.value for block in at.code)
    assert "axes = {'n': [300, 500]}" in python and "sweep /dev/stdin --store" in shell
    assert parse(toml) == at.session_state["transition:run"].sweep


@pytest.mark.attempt("names of labels, users and files that are Markdown or HTML", "shown as text")
@pytest.mark.slow
@pytest.mark.usefixtures("engine")
def test_names_of_labels_and_files_are_text():
    X = np.random.default_rng(5).standard_normal((60, 4))
    Y = (X[:, :2] > 0.3).astype(int)
    file = f"{NAME.replace('/', '')}.csv"
    rows = "\n".join(",".join(f"{x:g}" for x in row) for row in np.hstack([X, Y]))
    content = f"a,b,c,d,{NAME},{NAME}2\n{rows}\n".encode()
    at = driving.opened("own_data", labels="last:2", max_iter="2")
    at.file_uploader(key="own_data.file").set_value((file, content, "text/csv"))
    at = finished(drawn(at.run()), "own_data")
    texts = shown(at)
    assert any(plain(file) in text for text in texts) and not any(MARKED.search(text) for text in texts)
    assert "<a href" not in "".join(part["figure"] for part in components(at) if "figure" in part)


def test_sentences_on_what_is_wrong_are_shown_by_one_function():
    calls = {
        path.name
        for path in [*(ROOT / "lrlab/ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        if re.search(r"\.(error|warning)\((?!\s*\")", path.read_text().replace("LOG.", "LOG "))
    }
    assert calls == {"permalink.py", "text.py"}


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
NOTHING = pd.DataFrame()
MEASURED = pd.DataFrame({"at": AT[::-1], "trials": 3, "mean_top": 1.0, "mean_overlap": [0.9, 0.5, 0.1, 0.01]})


def theory(*overlaps):
    """Return the curve of theory with these squared overlaps."""
    return pd.DataFrame({"at": AT, "overlap": overlaps})


@pytest.mark.parametrize(
    ("points", "curve", "running", "words"),
    [
        (NOTHING, theory(0, 0, 0.2, 0.6), False, "points to the signal from about measurements n = 400."),
        (NOTHING, theory(0.6, 0.2, 0, 0), False, "to the signal up to about measurements n = 200."),
        (NOTHING, theory(0.6, 0.2, 0.1, 0.1), False, "Everywhere here the leading"),
        (NOTHING, theory(0, 0, 0, 0), False, "Nowhere here the leading"),
        (NOTHING, theory(0, 0.2, 0, 0.2), False, "On parts of this axis"),
        (NOTHING, theory(0, 0.2, float("nan"), 0.2), False, "Press Run"),
        (MEASURED, NOTHING, False, "Measured squared overlap: 0.01 at 100, 0.9 at 1000."),
        (NOTHING, NOTHING, False, "Press Run to measure."),
        (NOTHING, NOTHING, True, "Measuring."),
    ],
)
def test_theory_is_said_where_its_curve_crosses_and_measurements_at_both_ends(points, curve, running, words):
    assert words in sentence(points, curve, ALONG, running=running)


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


def test_pages_of_other_servers_do_not_reach_it(address):
    """A proxy passes on the host name of the request, which must be the name of the page."""

    async def status(origin: str) -> int:
        port, there = int(address.rpartition(":")[2]), "ws://lab.example.org/_stcore/stream"
        try:
            async with connect(there, host="127.0.0.1", port=port, subprotocols=["streamlit"], origin=origin):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    assert aside(asyncio.run, status("https://lab.example.org")) == 101
    assert aside(asyncio.run, status("https://elsewhere.example.org")) == 403


@pytest.mark.slow
def test_a_class_runs_and_predicts_and_sees_the_answer_in_each_round(address):
    waited = aside(asyncio.run, attend(address, 4, touching=1))
    assert {name: len(values) for name, values in waited.items()} == {
        "answer to a change": 2, "first iterate": 4, "end": 4,
    }  # fmt: skip
    waited = aside(asyncio.run, predict(address, 6))
    assert [len(values) for values in waited.values()] == [2, 2 * 7]
