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
XB, ZB, yB, _ = cases.bilinear(SEED, m=60)
XQ, yQ, _ = cases.quadratic(SEED, m=60)
gaps, _ = cases.gaps(SEED)
A, yA, _ = cases.magnitudes(SEED, m=80)
patterns, masks, _ = cases.patterns(SEED)


def changed(array, place, value, dtype=float):
    """Return a copy with another value at a place."""
    copy = np.array(array, dtype=dtype)
    copy[place] = value
    return copy


def bad_vectors(y):
    """Return what is no vector of measurements like y."""
    return {
        "nothing": None,
        "empty": [],
        "a number": 3.0,
        "one": y[:1],
        "short": y[:-1],
        "deep": np.ones((2, 3, 4, 5)),
        "inf": changed(y, 3, np.inf),
        "nan": changed(y, 3, np.nan),
        "huge": changed(y, 3, 1e300),
        "tiny": 1e-300 * np.asarray(y),
        "masked": np.ma.masked_array(y, mask=np.arange(len(y)) == 2),
        "words": np.array(["a", "b", "c"])[np.arange(len(y)) % 3],
        "mixed": np.array([None, "a", 3.0] * len(y), dtype=object)[: len(y)],
        "ragged": [[1.0], [2.0, 3.0]] * 30,
        "a text": "1, 2, 3",
        "a dictionary": {"y": 3},
        "dates": [datetime.date(2020, 1, 1)] * len(y),
        "zeros": np.zeros(len(y)),
    }


def bad_tables(X):
    """Return what is no table of measurement vectors like X."""
    return {
        "nothing": None,
        "empty": np.zeros((0, 3)),
        "without columns": np.zeros((len(X), 0)),
        "a vector": X[:, 0],
        "short": X[:-2],
        "inf": changed(X, (2, 1), -np.inf, X.dtype),
        "nan": changed(X, (2, 1), np.nan, X.dtype),
        "huge": changed(X, (2, 1), 1e200, X.dtype),
        "words": np.full(X.shape, "a"),
        "ragged": [[1.0], [2.0, 3.0]] * 30,
        "deep": np.ones((2, 3, 4, 5)),
        "zeros": np.zeros(X.shape),
    }


CASES = [
    *((name, value, X1, None, "flipped-logistic") for name, value in bad_vectors(y1).items()),
    *((name, y1, value, None, "flipped-logistic") for name, value in bad_tables(X1).items()),
    ("one column", y1, X1[:, :1], None, "flipped-logistic"),
    ("three answers", np.arange(60) % 3, X1, None, "flipped-logistic"),
    *((name, value, XB, ZB, "rank-one-sensing") for name, value in bad_vectors(yB).items()),
    *((name, yB, value, ZB, "rank-one-sensing") for name, value in bad_tables(XB).items()),
    *((name, yB, XB, value, "rank-one-sensing") for name, value in bad_tables(ZB).items()),
    *((name, value, XQ, None, "polynomial-network") for name, value in bad_vectors(yQ).items()),
    *((name, yQ, value, None, "polynomial-network") for name, value in bad_tables(XQ).items()),
    *((name, value, A, None, "phase-retrieval") for name, value in bad_vectors(yA).items()),
    *((name, yA, value, None, "phase-retrieval") for name, value in bad_tables(A).items()),
    ("negative", -yA, A, None, "phase-retrieval"),
    ("other masks", patterns, masks[:, :5], None, "phase-retrieval"),
    ("no masks", patterns, None, None, "phase-retrieval"),
    ("large masks", np.ones((2, 120, 90)), np.ones((2, 120, 90)), None, "phase-retrieval"),
    ("nothing", None, None, None, "inductive-completion"),
    ("empty", np.zeros((0, 3)), None, None, "inductive-completion"),
    ("all gaps", np.full((5, 5), np.nan), None, None, "inductive-completion"),
    ("one entry", changed(np.full((5, 5), np.nan), (1, 1), 2.0), None, None, "inductive-completion"),
    ("one row", np.ones((1, 9)), None, None, "inductive-completion"),
    ("inf", changed(gaps, (2, 2), np.inf), None, None, "inductive-completion"),
    ("huge", changed(gaps, (2, 2), 1e300), None, None, "inductive-completion"),
    ("words", np.full((4, 4), "x"), None, None, "inductive-completion"),
    ("ragged", [[1.0], [2.0, 3.0]], None, None, "inductive-completion"),
    ("deep", np.ones((3, 4, 5, 6)), None, None, "inductive-completion"),
    ("two of three", (np.arange(3), np.arange(3)), None, None, "inductive-completion"),
    ("negative places", (np.arange(3) - 1, np.arange(3), np.ones(3)), None, None, "inductive-completion"),
    ("broken places", (np.arange(3) + 0.5, np.arange(3), np.ones(3)), None, None, "inductive-completion"),
    ("short places", (np.arange(4), np.arange(3), np.ones(3)), None, None, "inductive-completion"),
    ("vast places", (np.arange(3) * 10**12, np.arange(3), np.ones(3)), None, None, "inductive-completion"),
    ("a vast table", (np.arange(3) * 10**8, np.arange(3), np.ones(3)), None, None, "inductive-completion"),
    ("twice", (np.zeros(3), np.zeros(3), np.ones(3)), None, None, "inductive-completion"),
    ("empty sparse", csr_array((5, 5)), None, None, "inductive-completion"),
    ("nan in sparse", coo_array(([1.0, np.nan], ([0, 1], [0, 1])), shape=(3, 3)), None, None, "inductive-completion"),
    ("few features", gaps, np.ones((3, 2)), None, "inductive-completion"),
    ("features of nothing", gaps, np.zeros((40, 2)), None, "inductive-completion"),
    ("features of words", gaps, np.full((40, 2), "a"), None, "inductive-completion"),
]


@pytest.mark.parametrize(("name", "y", "X", "Z", "model"), CASES, ids=[f"{case[4]}-{case[0]}" for case in CASES])
def test_hostile_arrays_end_in_one_sentence(name, y, X, Z, model):
    with pytest.raises(lrlab.InputError) as refused:
        lrlab.recover(y, X, Z, model=model, max_iter=3)
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
        (["a", "b", None], "y must be a word in each row, got None at place 3: fill it in"),
        (["a", np.nan, "b"], "y must be a word in each row, got nan at place 2: fill it in"),
        (["a", pd.NA, "b"], "y must be a word in each row, got <NA> at place 2: fill it in"),
    ],
)
def test_words_that_are_no_two_answers_end_in_one_sentence(words, match, model):
    y = np.array((words * 60)[:60], dtype=object)
    with pytest.raises(lrlab.InputError, match=match):
        lrlab.recover(y, X1, model=model)


def test_what_is_wrong_is_named_with_its_place():
    with pytest.raises(lrlab.InputError, match="rows must be whole numbers from 0 to 2147483647, got 0.5 at place 1"):
        lrlab.recover(([0.5, 0, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]))
    with pytest.raises(lrlab.InputError, match="X must be a table of numbers, got 'yes': leave words out"):
        lrlab.recover(y1, np.where(np.arange(len(y1))[:, None] == 2, "yes", X1.astype(str)), model="flipped-logistic")
    with pytest.raises(lrlab.InputError, match="y must be of numbers that are 0, or some of them 1e-100 in size, got"):
        lrlab.recover(1e-250 * yA, A, model="phase-retrieval")


def test_numbers_beside_one_table_need_a_model():
    with pytest.raises(lrlab.InputError, match="polynomial-network for y = x"):
        lrlab.recover(yQ, XQ)
