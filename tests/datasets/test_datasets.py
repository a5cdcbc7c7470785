"""What readers make of people's files: all spellings of a format give one result, and real sets have their sizes."""

import bz2
import gzip
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from lrlab.datasets import Dataset, read, read_ratings, save_npz
from lrlab.datasets.text import GROWTH
from lrlab.parameters import InputError

DATA = Path(os.environ.get("LRLAB_DATA", Path(__file__).parents[3] / "shared" / "data"))
HEADER = "@relation r\n@attribute a numeric\n@attribute b {0,1}\n@attribute x {0,1}\n@attribute y {0,1}\n@data\n"
X = [[0.5, 1], [-2e3, 0], [0, 0]]
Y = [[1, 0], [0, 1], [0, 0]]


@pytest.fixture
def write(tmp_path):
    def _write(name: str, text: str | bytes) -> Path:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path / name

    return _write


def dense(table):
    return table.toarray() if issparse(table) else table


def assert_is(data: Dataset, X, Y, unknown=()):
    np.testing.assert_array_equal(dense(data.X), X)
    np.testing.assert_array_equal(data.Y.toarray(), Y)
    assert data.X.dtype == data.Y.dtype == np.float64 and isinstance(data.Y, csr_array)
    known = np.ones(data.Y.shape, dtype=bool)
    known[tuple(np.array(unknown, dtype=int).reshape(-1, 2).T)] = False
    assert (data.observed is None) == known.all()
    if data.observed is not None:
        np.testing.assert_array_equal(data.observed.toarray(), known)


ROWS = {
    "dense": "0.5,1,1,0\n-2e3,0,0,1\n0,0,0,0\n",
    "tabs, spaces, comments, blank lines": "% c\n0.5\t1\t1\t0\n\n -2E+3 , 0,0 ,\t1 % c\n 0 0 0 0 \n",
    "sparse": "{0 .5,1 1,2 1}\n{0 -2000,3 1}\n{}\n",
    "sparse, written loosely": "{ 2 1 ,\t1 1, 0 0.5 }\n  {0\t-2e3, 3 '1'} % c\n{ }\n",
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=list(ROWS))
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
def test_arff_in_every_spelling(write, rows, ending):
    path = write("f.arff", "\ufeff" + (HEADER + rows).replace("\n", ending))
    data = read(path, "last:2")
    assert_is(data, X, Y)
    assert issparse(data.X) == ("{" in rows)
    assert (data.feature_names, data.label_names) == (("a", "b"), ("x", "y"))


def test_arff_keywords_types_and_labels_at_the_beginning(write):
    head = "@RELATION 'r: -C 2'\n@Attribute x {false,true}\n@ATTRIBUTE y INTEGER\n"
    head += "@attribute a Real % c\n@ATTRIBUTE b{0,1}\n@DATA\n"
    path = write("f.arff", head + "true,0,.5,1\nfalse,1,-2000,0\nfalse,-1,0,0\n")
    assert_is(read(path, "first:2"), X, Y)
    assert_is(read(path), X, Y)
    assert_is(read(path, ["x", "y"]), X, Y)
    turned = read(path, ["y", "x"])
    assert turned.label_names == ("y", "x")
    assert_is(turned, X, np.array(Y)[:, ::-1])


def test_a_sparse_row_omits_the_first_value_of_any_attribute(write):
    head = "@attribute a {1,0}\n@attribute w {red,'dark blue',\"gr\\'een\"}\n@attribute n {3,5}\n"
    head += "@attribute x {1,0}\n@attribute y {0,1}\n@data\n"
    data = read(write("f.arff", head + "{}\n{0 0,1 'dark blue',3 0}\n{1 gr\\'een,2 5,3 1,4 1}\n"), 2)
    assert_is(data, [[1, 1, 0, 0, 1, 0], [0, 0, 1, 0, 1, 0], [1, 0, 0, 1, 0, 1]], [[1, 0], [0, 0], [1, 1]])
    assert data.feature_names == ("a", "w=red", "w=dark blue", "w=gr'een", "n=3", "n=5")
    again = read(write("g.arff", head + "1,red,3,1,0\n0,'dark blue',3,0,0\n1,gr\\'een,5,1,1\n"), 2)
    assert_is(again, dense(data.X), data.Y.toarray())


@pytest.mark.parametrize("rows", ["0.5,1,?,0\n0,0,0,?\n", "{0 .5,1 1,2 ?}\n{3 ?}\n"], ids=["dense", "sparse"])
def test_an_unknown_label_is_not_a_zero(write, rows):
    assert_is(read(write("f.arff", HEADER + rows), 2), [[0.5, 1], [0, 0]], np.zeros((2, 2)), [(0, 0), (1, 1)])


QUOTED = r"""@attribute 'TAG_o\'reilly' {0,1}
@attribute "TAG_\"so\" said, 50% {x}" {0,1}
@attribute TAG_it\'s {0,1}
@attribute don't {0,1}
@attribute 'tab\tand \\' {0,1}
@attribute a numeric
@data
{0 1,4 1,5 2}
"""
NAMES = ("TAG_o'reilly", 'TAG_"so" said, 50% {x}', "TAG_it's", "don't", "tab\tand \\")
IN_XML = ("TAG_o\\'reilly", "TAG_&quot;so&quot; said, 50% {x}", "'TAG_it\\'s'", "don&apos;t", "tab&#9;and \\")


def test_names_with_quotes_and_escapes_are_read_from_the_xml(write):
    labels = "".join(f'<label name="{name}"></label>\n' for name in IN_XML)
    xml = f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{labels}</labels>'
    data = read(write("f.arff", QUOTED), write("f.xml", xml))
    assert data.label_names == NAMES
    assert_is(data, [[2]], [[1, 0, 0, 0, 1]])
    named = read(write("f.arff", QUOTED), write("names.txt", "\r\n".join(name for name in NAMES[:4])))
    assert named.label_names == NAMES[:4] and named.feature_names == ("tab\tand \\", "a")


@pytest.mark.slow
def test_lines_of_a_million_characters(write):
    words = [f"{place:05d}{'x' * 40}" for place in range(25_000)]
    head = "@attribute b {" + ",".join(words) + "}\n@attribute a numeric\n@attribute x {0,1}\n@data\n"
    assert head.index("\n") > 10**6
    data = read(write("f.arff", head + f"{{0 {words[-1]},1 2}}\n{{2 1{' ' * 10**6}}}\n"), 1)
    assert (data.X.shape, data.X.nnz, data.X[0, 24_999], data.X[0, 25_000]) == ((2, 25_001), 3, 1, 2)
    assert data.Y.toarray().tolist() == [[0], [1]]
    wide = read(write("g.csv", f"{'1' * 10:>11}," * 99_999 + "0\n"), 1)
    assert wide.X.shape == (1, 99_999) and wide.X.all()
    with pytest.raises(InputError, match="4 values.* in line 7 of f.arff, got more than 4 values"):
        read(write("f.arff", HEADER + "1," * 10**6 + "1\n"), 2)


SVMLIGHT = "# c\n1,3 qid:4 1:0.5 4:-2e3\n\n 2:1 # c\n2\n1.0,2 \n"


def test_svmlight_is_that_of_scikit_learn(write):
    path = write("f.svm", SVMLIGHT)
    data = read(path)
    expected, labels = load_svmlight_file(path, multilabel=True)
    assert_is(data, expected.toarray(), [[1, 0, 1], [0, 0, 0], [0, 1, 0], [1, 1, 0]])
    assert labels == [(1, 3), (), (2,), (1, 2)] and data.counts_from == (1, 1)
    from_zero = read(write("g.libsvm", "0,2 0:1\n1 3:1\n"))
    assert_is(from_zero, [[1, 0, 0, 0], [0, 0, 0, 1]], [[1, 0, 1], [0, 1, 0]])
    assert read(path, 7).L == 7 and read(path, ["p", "q", "r"]).label_names == ("p", "q", "r")


def test_a_file_that_scikit_learn_wrote(tmp_path):
    rng = np.random.default_rng(0)
    table, labels = np.where(rng.random((30, 6)) < 0.5, rng.standard_normal((30, 6)), 0), rng.random((30, 4)) < 0.4
    table[:, 0] = 1
    dump_svmlight_file(table, csr_array(labels), str(tmp_path / "f.svm"), multilabel=True)
    expected, _ = load_svmlight_file(tmp_path / "f.svm", multilabel=True)
    assert_is(read(tmp_path / "f.svm"), expected.toarray(), labels)


def test_a_test_file_has_the_columns_of_its_training_file(write):
    train = read(write("f.svm", SVMLIGHT))
    test = read(write("g.svm", "2 2:1\n"), like=train)
    assert_is(test, [[0, 1, 0, 0]], [[0, 1, 0]])
    more = read(write("g.svm", "2 2:1 5:7\n1 3:2 5:1 90:1\n"), like=train)
    assert_is(more, [[0, 1, 0, 0], [0, 0, 2, 0]], [[0, 1, 0], [1, 0, 0]])
    assert more.notes == ("Features of g.svm that the training rows do not have are left out: 2 of them.",)
    for text, wrong in (("4 2:1\n", "labels below 4"), ("\n0 2:1\n", "from 1.*line 2")):
        with pytest.raises(InputError, match=wrong):
            read(write("g.svm", text), like=train)
    train = read(write("f.arff", HEADER + "1,1,1,1\n"), 2)
    with pytest.raises(InputError, match='features as the other file, "a" among them, got c'):
        read(write("g.arff", HEADER.replace(" a ", " c ") + "1,1,1,1\n"), 2, like=train)
    with pytest.raises(InputError, match="of 2 features, like the other file, got 3"):
        read(write("g.arff", HEADER + "1,1,1,1\n"), 1, like=train)


def test_columns_in_another_order_are_matched_by_name(write):
    train = read(write("f.csv", "a,b,x,y\n1,2,1,0\n3,4,0,1\n"), "last:2")
    for labels in ("last:2", ["x", "y"], ["y", "x"]):
        test = read(write("g.csv", "y,b,a,x\n0,2,1,1\n,4,3,0\n"), labels, like=train)
        assert_is(test, [[1, 2], [3, 4]], [[1, 0], [0, 0]], [(1, 1)])
        assert test.feature_names == ("a", "b") and test.label_names == ("x", "y")
    head = HEADER.replace("@attribute a numeric\n", "").replace("@data", "@attribute a numeric\n@data")
    train = read(write("f.arff", HEADER + ROWS["sparse"]), 2)
    for rows in ("1,1,0,0.5\n0,0,1,-2e3\n0,0,0,0\n", "{0 1,1 1,3 .5}\n{2 1,3 -2000}\n{}\n"):
        assert_is(read(write("g.arff", head + rows), 2, like=train), X, Y)


def test_trailing_separators_are_no_columns(write):
    for text in ("a,b,x,\n1,2,0,\n3,4,1,\n", "a,b,x,,\n1,2,0\n3,4,1,,\n", "a,b,x\n1,2,0\n3,4,1\n"):
        data = read(write("f.csv", text), 1)
        assert_is(data, [[1, 2], [3, 4]], [[0], [1]])
        assert data.label_names == ("x",)


def test_packed_files_and_utf_16(write):
    plain = read(write("f.csv", CSV["f.csv"]), 2)
    text = CSV["f.csv"].encode()
    forms = {"f.csv.gz": gzip.compress(text), "f.csv.bz2": bz2.compress(text), "g.csv": gzip.compress(text)}
    for order in ("utf-16-le", "utf-16-be"):
        forms[f"{order}.csv"] = ("\ufeff" + CSV["f.csv"]).encode(order)
    forms["u.csv.gz"] = gzip.compress(CSV["f.csv"].encode("utf-16"))
    for name, content in forms.items():
        data = read(write(name, content), 2)
        assert_is(data, plain.X, plain.Y.toarray())
        assert data.label_names == plain.label_names
    assert read(write("f.txt.gz", gzip.compress(b"1 3 2\n1 0:1\n"))).d == 3
    assert read(write("f.arff", (HEADER + ROWS["dense"]).encode("utf-16")), 2).n == 3


def test_the_extreme_classification_format(write):
    path = write("f.txt", "4 3 5\n0,4 0:1.5 2:1\n\n 1:2\n3\n\n")
    data = read(path)
    assert_is(
        data,
        [[1.5, 0, 1], [0, 0, 0], [0, 2, 0], [0, 0, 0]],
        np.eye(5)[[0, 1, 1, 3]] * [[1], [0], [0], [1]] + np.eye(4, 5, 4),
    )
    assert read(path, write("names.txt", "a\nb\nc\nd\ne\n")).label_names == tuple("abcde")
    assert read(write("g.txt", "0,1 0:1\n")).L == 2


CSV = {
    "f.csv": "a,b,x,y\n0.5,1,1,0\n-2e3,0,0,1\n0,0,0,0\n",
    "g.csv": '"a";"b";"x";"y"\r\n 0.5;"1";true;no\r\n-2e3;0;-1;1\r\n\r\n0;0;0;0\r\n',
    "h.tsv": "0.5\t1\t1\t0\n-2e3\t0\t0\t1\n0\t0\t0\t0\n",
}


@pytest.mark.parametrize("name", CSV)
def test_csv(write, name):
    data = read(write(name, CSV[name]), "last:2")
    assert_is(data, X, Y)
    assert data.label_names == (None if name == "h.tsv" else ("x", "y"))
    named = read(write("u.csv", "1,x,2\n1,,1\n2,0,?\n".replace("2\n", "y\n", 1)), ["x", "y"])
    assert named.feature_names == ("1",)
    assert_is(named, [[1], [2]], [[0, 1], [0, 0]], [(0, 0), (1, 1)])


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_npz_files_round_trip(tmp_path, sparse):
    features, observed = np.array(X), csr_array(np.array([[1, 1], [0, 1], [1, 1]], dtype=bool))
    data = Dataset(
        csr_array(features) if sparse else features, csr_array(np.array(Y, float)), observed, ("a", "b"), ("x", "ü")
    )
    save_npz(tmp_path / "f.npz", data)
    again = read(tmp_path / "f.npz")
    assert_is(again, X, Y, [(1, 0)])
    assert issparse(again.X) == sparse and (again.feature_names, again.label_names) == (("a", "b"), ("x", "ü"))
    np.savez(tmp_path / "g.npz", X=np.array(X), Y=np.array([[1, np.nan], [-1, 1], [0, 0]]))
    assert_is(read(tmp_path / "g.npz"), X, Y, [(0, 1)])


def test_ratings_with_features_of_both_sides(write):
    ratings = write("r.csv", "user,item,rating,when\nu2,i1,5,9\nu1,i2,3.5,9\nu2,i0,1,9\n")
    users, items = write("u.csv", "id,age\nu1,30\nu2,40\nu3,50\n"), write("i.csv", "i0,1,0\ni1,0,1\ni2,1,1\n")
    data = read_ratings(ratings, users, items)
    assert (data.rows.tolist(), data.columns.tolist(), data.values.tolist()) == ([0, 1, 1], [2, 0, 1], [3.5, 1, 5])
    assert data.X.tolist() == [[30], [40], [50]] and data.Y.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert data.table == (3, 3) and data.user_names == ("u1", "u2", "u3")
    plain = read_ratings(ratings)
    assert plain.X is plain.Y is None and plain.user_names == ("u2", "u1") and plain.table == (2, 3)


def test_rows_are_chosen_with_their_labels(write):
    data = read(write("f.arff", HEADER + "0.5,1,?,0\n0,0,0,1\n"), 2)
    assert_is(data.rows(np.array([1, 0])), [[0, 0], [0.5, 1]], [[0, 1], [0, 0]], [(1, 0)])
    assert data.rows(slice(1, 2)).label_names == ("x", "y")


REAL = {
    "bibtex/bibtex-train.arff": ("bibtex/bibtex.xml", 4880, 1836, 159),
    "bibtex/bibtex-test.arff": ("bibtex/bibtex.xml", 2515, 1836, 159),
    "corel5k/Corel5k-train-sparse.arff": ("corel5k/Corel5k.xml", 4500, 499, 374),
    "corel5k/Corel5k-test-sparse.arff": ("corel5k/Corel5k.xml", 500, 499, 374),
    "emotions/emotions-train.arff": ("emotions/emotions.xml", 391, 72, 6),
    "emotions/emotions-test.arff": ("emotions/emotions.xml", 202, 72, 6),
}
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="real data: name its folder by LRLAB_DATA")


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_real_sets_have_their_sizes_and_entries(name):
    labels, n, d, L = REAL[name]
    data = read(DATA / name, DATA / labels)
    assert (data.n, data.d, data.L, data.observed) == (n, d, L, None)
    text = (DATA / name).read_text().lower().partition("@data")[2]
    if "{" in text:
        assert data.X.nnz + data.Y.nnz == text.count(",") + sum(1 for row in text.split("\n") if len(row) > 2)
    else:
        np.testing.assert_array_equal(np.hstack([data.X, data.Y.toarray()]), np.loadtxt(text.split(), delimiter=","))


@needs_data
def test_memory_stays_within_what_is_estimated():
    path = DATA / "bibtex/bibtex-train.arff"
    read(DATA / "emotions/emotions-test.arff", 6)
    tracemalloc.start()
    try:
        read(path, DATA / "bibtex/bibtex.xml", limit_bytes=GROWTH * path.stat().st_size)
        assert tracemalloc.get_traced_memory()[1] < GROWTH * path.stat().st_size
    finally:
        tracemalloc.stop()


def test_words_of_a_csv_have_a_column_each_and_those_of_the_other_file(tmp_path):
    (tmp_path / "train.csv").write_text("colour,size,kind,y\nred,1,A 1,1\nblue,2,3,0\n?,3,A 1,1\nred,4,,0\n")
    (tmp_path / "test.csv").write_text("kind,colour,size,y\nA 1,green,5,1\n3,blue,6,0\n")
    train = read(tmp_path / "train.csv", "last:1")
    assert train.feature_names == ("colour=red", "colour=blue", "size", "kind=A 1", "kind=3")
    expected = [[1, 0, 1, 1, 0], [0, 1, 2, 0, 1], [0, 0, 3, 1, 0], [1, 0, 4, 0, 0]]
    assert np.array_equal(train.X, expected)
    # One word beside several numbers is a word in most rows.
    (tmp_path / "few.csv").write_text("a,y\nnone,1\nnone,0\nnone,1\n1,0\n2,1\n")
    assert read(tmp_path / "few.csv", "last:1").feature_names == ("a=none", "a=1", "a=2")
    # Columns are matched by name, and what the training rows never say is none of their words.
    test = read(tmp_path / "test.csv", "last:1", like=train)
    assert test.feature_names == train.feature_names and np.array_equal(test.X, [[0, 0, 5, 1, 0], [0, 1, 6, 0, 1]])
    for text, sentence in (
        ("colour,y\n1,1\nred,0\n", "a number in column colour in line 3 of bad.csv, got red"),
        ("a,y\n-1e-3.5,1\n1,0\n2,1\n", "a number in column a, as in most rows, in line 2 of bad.csv, got -1e-3.5"),
        (
            "name,y\n" + "".join(f"n{i},0\n" for i in range(1001)),
            "at most 1,000 different words in column name in line 1002",
        ),
    ):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(InputError, match=sentence):
            read(tmp_path / "bad.csv", "last:1")
