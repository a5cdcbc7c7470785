"""Random command lines: a result, or one line on standard error and exit status 1 or 2."""

import contextlib
import io
import os

import pytest
from hypothesis import strategies as st

from lrlab.__main__ import main
from tests.data.hostile_rows import PARTS, saved
from tests.fuzz.drawing import NUMBERS, TOKENS, changed, changed_bytes, drawn
from tests.fuzz.test_readers import LISTS, RATINGS, TEXTS, written

OPTIONS = ("--rank", "--iterations", "--seed", "--base", "--set", "--top", "--user", "--labels")
SHELL_WORDS = (
    "models", "solve", "store", "predict", "fit", "one-bit-sensing", "--solver", "pairwise-moment", "n=40", "--json",
    "--help", "--out", "--store", "--tune", "-x", "--", *OPTIONS,
)  # fmt: skip
VALUES = st.one_of(st.sampled_from(NUMBERS), TOKENS)


def run(arguments):
    """Run a command line in this process, and check its exit status and errors."""
    # The system passes neither NUL bytes nor halves of characters in arguments.
    arguments = [text.replace("\0", "").encode("utf-8", "ignore").decode() for text in map(str, arguments)]
    errors = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
        try:
            status = main(arguments)
        except SystemExit as end:
            status = end.code
    assert status in (0, 1, 2), (arguments, status)
    assert "Traceback" not in errors.getvalue()
    if status:
        assert len(errors.getvalue().strip().splitlines()) == 1, (arguments, errors.getvalue())


@pytest.mark.attempt("random command lines", "a result, or one line")
@drawn("shell:.4", 15, words=st.lists(st.one_of(st.sampled_from(SHELL_WORDS), TOKENS), max_size=6))
def test_any_words_end_in_one_line(words, tmp_path_factory):
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("words"))
    try:
        run(words)
    finally:
        os.chdir(before)


@drawn("shell:.6", 15, data=st.data(), options=st.lists(st.tuples(st.sampled_from(OPTIONS), VALUES), max_size=2))
def test_fit_and_predict_end_in_rows_or_one_line(tmp_path_factory, data, options):
    folder = tmp_path_factory.mktemp("files")
    name = data.draw(st.sampled_from([*sorted(TEXTS), "r.csv"]))
    content = data.draw(changed([TEXTS.get(name, RATINGS)]))
    rows = written(folder, name, content)
    labels = written(folder, "l.xml", data.draw(changed(LISTS[:1])))
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
