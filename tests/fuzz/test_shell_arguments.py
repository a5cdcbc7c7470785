"""Drawn command lines: done, or one line on standard error and exit status 1 or 2."""

import contextlib
import io
import json
import os

import pytest
from hypothesis import strategies as st

from lrlab import catalog
from lrlab.__main__ import main
from lrlab.parameters import declared
from lrlab.protocol import Limits
from tests.data.hostile_rows import PARTS, saved
from tests.fuzz.drawing import NUMBERS, TOKENS, changed, changed_bytes, drawn
from tests.fuzz.test_readers import RATINGS, TEXTS, XML, written

SMALL = {"n": 40, "m": 40, "p": 8, "n1": 12, "n2": 12, "d": 4, "d1": 4, "d2": 4, "labels": 4, "rank": 1, "r": 1}
QUICK = ["--set", "max_seconds=0.5", "--set", "max_iter=3"]
OPTIONS = ("--rank", "--iterations", "--seed", "--observed", "--limit", "--set", "--top", "--user", "--labels")
SHELL_WORDS = (
    "models", "solve", "store", "predict", "fit", "one-bit-sensing", "--solver", "pairwise-moment", "n=40", "--json",
    "--help", "--out", "--store", "--tune", "-x", "--", *OPTIONS,
)  # fmt: skip
VALUES = st.one_of(st.sampled_from(NUMBERS), TOKENS)


def run(arguments):
    """Run a command line in this process; return its exit status and both outputs."""
    # The system passes no NUL byte in an argument, and no half of a character.
    arguments = [text.replace("\0", "").encode("utf-8", "ignore").decode() for text in map(str, arguments)]
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
    assert status in (0, 1, 2), (arguments, status)
    assert "Traceback" not in errors.getvalue()
    if status:
        assert len(errors.getvalue().strip().splitlines()) == 1, (arguments, errors.getvalue())
    return status, out.getvalue(), errors.getvalue()


@st.composite
def solve_lines(draw):
    """Return a command `solve` on a small problem with drawn settings."""
    model = draw(st.sampled_from(sorted(catalog.MODELS)))
    solver = draw(st.sampled_from([entry.name for entry in catalog.solvers_for(model)]))
    parameters = declared(catalog.MODELS[model])
    options = catalog.solver(solver, model).options
    names = st.sampled_from([*parameters, *options, *declared(Limits), "picture", "qq", ""])
    sizes = {name: value for name, value in SMALL.items() if name in parameters}
    line = ["solve", model, "--solver", solver, "--json", *QUICK]
    for name, value in sizes.items():
        line += ["--set", f"{name}={value}"]
    for _ in range(draw(st.integers(1, 3))):
        name = draw(names)
        value = draw(st.sampled_from(NUMBERS[:9])) if name == "link" else draw(VALUES)
        line += ["--set", f"{name}={value}"]
    return line


@drawn("shell:.5", 25, line=solve_lines())
def test_solve_ends_in_a_document_or_one_line(line):
    status, out, _ = run(line)
    if status == 0:
        assert set(json.loads(out)) >= {"model", "stop", "metrics"}


@pytest.mark.attempt("drawn command lines", "a result, or one line")
@drawn("shell:.2", 15, words=st.lists(st.one_of(st.sampled_from(SHELL_WORDS), TOKENS), max_size=6))
def test_any_words_end_in_one_line(words, tmp_path_factory):
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("words"))
    try:
        run(words)
    finally:
        os.chdir(before)


@drawn("shell:.3", 15, data=st.data(), options=st.lists(st.tuples(st.sampled_from(OPTIONS), VALUES), max_size=2))
def test_fit_and_predict_end_in_rows_or_one_line(tmp_path_factory, data, options):
    folder = tmp_path_factory.mktemp("files")
    name = data.draw(st.sampled_from([*sorted(TEXTS), "r.csv"]))
    content = data.draw(changed([TEXTS.get(name, RATINGS)]))
    rows = written(folder, name, content)
    labels = written(folder, "l.xml", data.draw(changed(XML[:1])))
    model = written(folder, "m.npz", data.draw(st.one_of(st.just(saved(PARTS)), changed_bytes([saved(PARTS)]))))
    line = data.draw(
        st.sampled_from(
            [
                ["fit", rows, "--solver", "leml-squared", "--labels", labels, "--iterations", "2"],
                ["fit", rows, "--solver", "plst", "--labels", "last:3", "--iterations", "2"],
                ["predict", model, rows],
                ["store", model],
                ["sweep", rows],
            ]
        )
    )
    run([*line, *(word for pair in options for word in pair)])
