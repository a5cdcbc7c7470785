"""Arrays that are no measurements end in one sentence, whatever is wrong with them."""

import datetime

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array

import lrlab
from tests.data import cases

SEED = 20_026
X1, y1, _ = cases.answers(SEED, n=60)
XQ, yQ, _ = cases.quadratic(SEED, m=60)
TABLE = "inductive-completion"
gaps, _ = cases.gaps(SEED)
A, yA, _ = cases.magnitudes(SEED, m=80)
patterns, masks, _ = cases.patterns(SEED)


def changed(array, place, value, dtype=float):
    """Return a copy with another value at a place."""
    copy = np.array(array, dtype=dtype)
    copy[place] = value
    return copy


VECTORS = {
    "nothing": None,
    "empty": [],
    "a number": 3.0,
    "one": y1[:1],
    "short": y1[:-1],
    "deep": np.ones((2, 3, 4, 5)),
    "inf": changed(y1, 3, np.inf),
    "huge": changed(y1, 3, 1e300),
    "tiny": 1e-300 * y1,
    "masked": np.ma.masked_array(y1, mask=np.arange(60) == 2),
    "words": np.array(["a", "b", "c"])[np.arange(60) % 3],
    "mixed": np.array([None, "a", 3.0] * 20, dtype=object),
    "ragged": [[1.0], [2.0, 3.0]] * 30,
    "a text": "1, 2, 3",
    "a dictionary": {"y": 3},
    "dates": [datetime.date(2020, 1, 1)] * 60,
    "zeros": np.zeros(60),
}
TABLES = {
    "nothing": None,
    "empty": np.zeros((0, 3)),
    "without columns": np.zeros((60, 0)),
    "a vector": X1[:, 0],
    "short": X1[:-2],
    "nan": changed(X1, (2, 1), np.nan),
    "huge": changed(X1, (2, 1), 1e200),
    "words": np.full(X1.shape, "a"),
    "ragged": [[1.0], [2.0, 3.0]] * 30,
    "deep": np.ones((2, 3, 4, 5)),
    "zeros": np.zeros(X1.shape),
}
MATRICES = {
    "nothing": (None,),
    "empty": (np.zeros((0, 3)),),
    "all gaps": (np.full((5, 5), np.nan),),
    "one entry": (changed(np.full((5, 5), np.nan), (1, 1), 2.0),),
    "one row": (np.ones((1, 9)),),
    "inf": (changed(gaps, (2, 2), np.inf),),
    "words": (np.full((4, 4), "x"),),
    "ragged": ([[1.0], [2.0, 3.0]],),
    "deep": (np.ones((3, 4, 5, 6)),),
    "two of three": ((np.arange(3), np.arange(3)),),
    "negative places": ((np.arange(3) - 1, np.arange(3), np.ones(3)),),
    "short places": ((np.arange(4), np.arange(3), np.ones(3)),),
    "vast places": ((np.arange(3) * 10**12, np.arange(3), np.ones(3)),),
    "a vast table": ((np.arange(3) * 10**8, np.arange(3), np.ones(3)),),
    "twice": ((np.zeros(3), np.zeros(3), np.ones(3)),),
    "empty sparse": (csr_array((5, 5)),),
    "nan in sparse": (coo_array(([1.0, np.nan], ([0, 1], [0, 1])), shape=(3, 3)),),
    "few features": (gaps, np.ones((3, 2))),
    "features of nothing": (gaps, np.zeros((40, 2))),
}
CASES = {
    **{f"responses, {name}": ("flipped-logistic", value, X1) for name, value in VECTORS.items()},
    **{f"features, {name}": ("flipped-logistic", y1, value) for name, value in TABLES.items()},
    **{f"measurements, {name}": ("polynomial-network", value, XQ) for name, value in VECTORS.items()},
    **{f"second vectors, {name}": ("rank-one-sensing", y1, X1, value) for name, value in TABLES.items()},
    **{f"matrix, {name}": (TABLE, *given) for name, given in MATRICES.items()},
    "one column": ("flipped-logistic", y1, X1[:, :1]),
    "lists of label names": ("multilabel", [["a"], ["b", "c"]] * 30, X1),
    "magnitudes, negative": ("phase-retrieval", -yA, A),
    "magnitudes, complex inf": ("phase-retrieval", yA, changed(A, (2, 1), -np.inf, A.dtype)),
    "patterns, other masks": ("phase-retrieval", patterns, masks[:, :5]),
    "patterns, no masks": ("phase-retrieval", patterns),
    "patterns, large masks": ("phase-retrieval", np.ones((2, 120, 90)), np.ones((2, 120, 90))),
}


@pytest.mark.parametrize("name", CASES)
def test_hostile_arrays_end_in_one_sentence(name):
    model, *given = CASES[name]
    with pytest.raises(lrlab.InputError) as refused:
        lrlab.recover(*given, model=model, max_iter=3)
    sentence = str(refused.value)
    assert " must be " in sentence and ", got " in sentence and len(sentence) < 600
    assert "[[" not in sentence and "\n" not in sentence


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"model": "flipped"}, "model must be one of"),
        ({"model": "one-bit"}, "model must be one of (?!.*one-bit-completion)"),
        ({"model": "multilabel"}, "y must be a table of 1, 0 and -1"),
        ({"solver": "als"}, "solver must be made for"),
        ({"solver": "nothing"}, "solver must be one of"),
        ({"held_out": 1}, "held_out must be"),
        ({"scaling": "rows"}, "scaling must be one of"),
        ({"steps": 3}, "option must be one of"),
        ({"n": 3}, "option must be one of"),
        ({"truth": "phantom"}, "option must be one of"),
        ({"file": "x"}, "option must be one of"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"sparsity": 99}, "sparsity must be"),
        ({"Z": X1, "model": "flipped-logistic"}, "Z must be left out"),
    ],
)
def test_wrong_options_end_in_one_sentence(options, match):
    with pytest.raises(lrlab.InputError, match=match):
        lrlab.recover(y1, X1, **options)


@pytest.mark.parametrize("model", ["", "flipped-logistic"])
@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["yes"], "y must be of two values, got one: give rows of both"),
        ([1.0], "y must be of two values, got one"),
        (["a", "b", "c"], "y must be of two values, got 3 values: code"),
        (["a", "b", None], "y must be a word in each row, got None in row 3: fill it in"),
        (["a", np.nan, "b"], "y must be a word in each row, got nan in row 2: fill it in"),
        (["a", pd.NA, "b"], "y must be a word in each row, got <NA> in row 2: fill it in"),
    ],
)
def test_words_that_are_no_two_answers_end_in_one_sentence(words, match, model):
    y = np.array((words * 60)[:60], dtype=object)
    with pytest.raises(lrlab.InputError, match=match):
        lrlab.recover(y, X1, model=model)


def test_what_is_wrong_is_named_with_its_place():
    with pytest.raises(
        lrlab.InputError, match="rows must be whole numbers from 0 to 2147483647, got 0.5 at position 1"
    ):
        lrlab.recover(([0.5, 0, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(lrlab.InputError, match="X must be a table of numbers, got 'yes': leave words out"):
        lrlab.recover(y1, np.where(np.arange(len(y1))[:, None] == 2, "yes", X1.astype(str)), model="flipped-logistic")
    with pytest.raises(lrlab.InputError, match="y must be of numbers that are 0, or some of them 1e-100 in size, got"):
        lrlab.recover(1e-250 * yA, A, model="phase-retrieval")


def test_numbers_beside_one_table_need_a_model():
    with pytest.raises(lrlab.InputError, match="polynomial-network for y = x"):
        lrlab.recover(yQ, XQ)
