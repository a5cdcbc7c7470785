"""Rows with labels in every format: the same data set from each, with the labels wherever a file says they are."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import lrlab
from lrlab.data.hints import Hints
from lrlab.data.reading import read
from lrlab.data.recover import read_task
from lrlab.presets.papers import located
from tests.data.cases import save_npz
from tests.solvers.driving import dense

DATA = Path(__file__).parents[3] / "shared" / "data"
X = np.array([[0.5, 0.0, 2.0], [0.0, 1.5, -1.0], [3.0, 0.0, 0.0], [0.0, 0.0, 4.0]])
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
NUMERIC = "".join(f"@attribute f{j} numeric\n" for j in range(3))
LABELS = "".join(f"@attribute l{j} {{0,1}}\n" for j in range(2))


def rows(separator=","):
    """Return the rows as text."""
    return "\n".join(separator.join(f"{v:g}" for v in (*x, *y)) for x, y in zip(X, Y, strict=True)) + "\n"


def sparse_rows():
    """Return the rows as sparse ARFF."""
    table = np.hstack([X, Y])
    return "\n".join("{" + ",".join(f"{j} {v:g}" for j, v in enumerate(row) if v) + "}" for row in table) + "\n"


def pairs(base):
    """Return the rows as svmlight, counted from a base."""
    on = [",".join(str(j + base) for j in np.flatnonzero(row)) for row in Y]
    return "".join(
        f"{labels} " + " ".join(f"{j + base}:{v:g}" for j, v in enumerate(x) if v) + "\n"
        for labels, x in zip(on, X, strict=True)
    )


XML = '<labels xmlns="x"><label name="l0"><label name="l1"></label></label></labels>'
FILES = {
    "dense.arff": (f"@relation r\n{NUMERIC}{LABELS}@data\n{rows()}", "labels.xml"),
    "sparse.arff": (f"% made\n@relation r\n{NUMERIC}{LABELS}@data\n{sparse_rows()}", "last:2"),
    "meka.arff": (f"@relation 'r: -C -2'\n{NUMERIC}{LABELS}@data\n{rows()}", None),
    "typed.arff": (f"@relation r\n{NUMERIC}@attribute l0 label\n@attribute 'l1' LABEL\n@data\n{rows()}", None),
    "typed first.arff": (
        f"@relation r\n@attribute l0 label\n@attribute l1 label\n{NUMERIC}@data\n"
        + "".join(",".join(f"{v:g}" for v in (*y, *x)) + "\n" for x, y in zip(X, Y, strict=True)),
        None,
    ),
    "one based.svm": (pairs(1), None),
    "zero based.svm": (pairs(0), None),
    "extreme.txt": ("4 3 2\n" + pairs(0), None),
    "table.csv": ("f0,f1,f2,l0,l1\n" + rows(), "l0, l1"),
    "semicolons.csv": ("f0;f1;f2;l0;l1\n" + rows(";").replace(".", ","), 2),
    "words.csv": ("f0,f1,f2,l0,l1\n" + "".join(
        ",".join([*(f"{v:g}" for v in x), "+1" if y[0] else "no", "yes" if y[1] else "-0.0"]) + "\n"
        for x, y in zip(X, Y, strict=True)
    ), "last:2"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_rows(name, packed, tmp_path):
    content, labels = FILES[name]
    (tmp_path / "labels.xml").write_text(XML)
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    data = read(path, tmp_path / labels if labels == "labels.xml" else labels)
    assert np.array_equal(dense(data.X), X) and np.array_equal(dense(data.Y), Y) and data.observed is None
    if labels is None:
        assert read_task(path).source().startswith("4 rows, 3 features, 2 labels")
    again = tmp_path / "again.npz"
    save_npz(again, data)
    assert np.array_equal(dense(read(again).X), X) and read(again).label_names == data.label_names


def test_a_feature_that_is_zero_in_all_rows_counts(tmp_path):
    (tmp_path / "f.svm").write_text("1 1:2 3:0\n2 2:1\n")
    assert np.array_equal(dense(read(tmp_path / "f.svm").X), [[2, 0, 0], [0, 1, 0]])


def arff(attributes, rows):
    """Return an ARFF file."""
    return "@relation r\n" + "".join(f"@attribute {one}\n" for one in attributes) + "@data\n" + "\n".join(rows) + "\n"


@pytest.mark.parametrize(
    ("attributes", "rows", "names", "values"),
    [
        (["a {no,yes} % {0,1}", "l label"], ["yes,1", "no,0"], ("a=yes",), [[1], [0]]),
        (["a {1,0}", "l label"], ["{0 0, 1 1}", "{}"], ("a",), [[0], [1]]),
        (["a {0,1}", "l {0,1}"], ["{0 1}", "{1 1}"], ("a",), [[1], [0]]),
        (["a {x,y,z}", "l label"], ["{0 z}", "{1 1}"], ("a=x", "a=y", "a=z"), [[0, 0, 1], [1, 0, 0]]),
        (["'a b' {'u v',w}", "b real", "l label"], ["w,2,1", "'u v',3,0"], ("b", "a b=w"), [[2, 1], [3, 0]]),
    ],
)
def test_listed_values_are_columns_and_two_of_them_one(attributes, rows, names, values, tmp_path):
    (tmp_path / "f.arff").write_text(arff(attributes, rows))
    data = read(tmp_path / "f.arff", 1)
    assert data.feature_names == names and np.array_equal(dense(data.X), values)


def test_one_attribute_is_the_response_if_you_name_it(tmp_path):
    (tmp_path / "f.arff").write_text(arff(["a real", "b {x,y}", "class {no,yes}"], ["1,x,yes", "2,y,no", "3,x,no"]))
    with pytest.raises(lrlab.InputError, match="or name one response by y"):
        lrlab.fit(tmp_path / "f.arff")
    task = read_task(tmp_path / "f.arff", Hints(y="class"))
    assert task.given.names == ("a", "b=y") and task.model == "flipped-logistic"


def test_the_reading_of_labels_names_columns_form_and_what_is_left_out(tmp_path):
    rows = "".join(f"n{k};{k / 8};1;0\n" for k in range(30)).replace(".", ",")
    (tmp_path / "f.csv").write_text(f"name;a;is.calm;is.sad\n{rows}")
    said = read_task(tmp_path / "f.csv", labels="is.calm, is.sad").source()
    assert said.startswith("30 rows, 1 feature, 2 labels (features a, labels is.calm..is.sad). lrlab leaves out column")
    with pytest.raises(lrlab.InputError, match="labels must be the name of a column .* got label0"):
        read_task(tmp_path / "f.csv", labels=",".join(f"label{k}" for k in range(100)))
    with pytest.raises(lrlab.InputError, match="must be a regular file, got"):
        read_task(tmp_path / "f.csv", labels=tmp_path)
    assert said.endswith("per row. Form: separated by semicolons, decimal commas; model multilabel.")


def test_an_attribute_that_names_the_rows_is_left_out_with_a_note(tmp_path):
    words = [f"page{k}" for k in range(30)]
    lines = [f"{word},{k % 7},{k % 2}" for k, word in enumerate(words)]
    (tmp_path / "f.arff").write_text(arff([f"url {{{','.join(words)}}}", "x real", "l label"], lines))
    data = read(tmp_path / "f.arff")
    assert data.feature_names == ("x",) and "column url: it is nearly unique per row" in data.notes[0]
    assert "leaves out column url" in lrlab.fit(tmp_path / "f.arff", solver="binary-relevance").task.source()


def test_unknown_labels_are_neither_on_nor_off(tmp_path):
    (tmp_path / "f.csv").write_text("a,b,l,m\n1,2,1,\n2,3,?,0\n3,4,0,NA\n")
    data = read(tmp_path / "f.csv", 2)
    assert np.array_equal(dense(data.observed), [[1, 0], [0, 1], [1, 0]]) and dense(data.Y).sum() == 1
    (tmp_path / "f.csv").write_text("a,l,m\n1,0,9\n2,1,0\n3,0,1\n4,9,0\n")
    np.savez(tmp_path / "f.npz", X=[[1], [2], [3], [4]], Y=[[1, 9], [1, 0], [0, 1], [9, 0]])
    for name in ("f.csv", "f.npz"):
        given = read_task(tmp_path / name, Hints(missing="9"), labels=2).given.y
        assert np.array_equal(dense(given.observed), [[1, 0], [1, 1], [1, 1], [0, 1]])


@pytest.mark.parametrize(
    ("name", "stated", "sentence"),
    [
        ("f.svm", {"y": "1"}, "y must be left out for rows with labels"),
        ("f.svm", {"kind": "matrix"}, "kind must be left out"),
        ("f.svm", {"missing": "9"}, "missing must be left out for svmlight"),
        ("f.npz", {"missing": "NA"}, "missing must be a number for an .npz"),
        ("m.npz", {"kind": "responses"}, "kind must be left out for arrays y of several dimensions"),
        ("none.csv", {"model": "one-bit-sensng"}, "model must be one of one-bit-sensing"),
        ("y.npz", {"y": "1"}, "y must be left out for an .npz"),
        ("f.csv", {"y": "1", "kind": "matrix"}, "y must be left out for kind=matrix"),
    ],
)
def test_statements_without_effect_are_refused(name, stated, sentence, tmp_path):
    np.savez(tmp_path / "f.npz", X=X, Y=Y)
    np.savez(tmp_path / "m.npz", y=X)
    np.savez(tmp_path / "y.npz", X=X, y=Y[:, 0])
    (tmp_path / "f.svm").write_text(pairs(0))
    (tmp_path / "f.csv").write_text("a,b,c\n" + "1,2,3\n" * 9)
    with pytest.raises(lrlab.InputError, match=sentence):
        read_task(tmp_path / name, Hints(**stated), labels=2 if name == "f.npz" else None)


def test_a_column_that_counts_the_rows_is_no_feature(tmp_path):
    for name, first in (("a", 0), ("b", 40)):
        body = "".join(f"{first + k},{k % 5},{k % 2}\n" for k in range(6))
        (tmp_path / f"{name}.csv").write_text(f"id,x,l\n{body}")
    given = read(tmp_path / "a.csv", 1)
    assert given.feature_names == ("x",) and read(tmp_path / "b.csv", 1, like=given).d == 1
    assert "(features x, labels l). Row names `id`; model" in read_task(tmp_path / "a.csv", labels=1).source()
    # A feature of the training rows stays one, even if it differs in all rows of a few.
    (tmp_path / "a.csv").write_text("user,x,l\n1,2,1\n1,3,0\n2,4,1\n")
    (tmp_path / "c.csv").write_text("user,x,l\n2,2,1\n")
    assert read(tmp_path / "c.csv", 1, like=read(tmp_path / "a.csv", 1)).feature_names == ("user", "x")


def test_rows_of_another_file_take_the_columns_of_the_first(tmp_path):
    (tmp_path / "a.csv").write_text("x,word,l\n1,red,1\n2,blue,0\n")
    (tmp_path / "b.csv").write_text("l,word,x\n1,green,5\n0,red,6\n")
    given = read(tmp_path / "a.csv", ["l"])
    fresh = read(tmp_path / "b.csv", ["l"], like=given)
    assert fresh.feature_names == given.feature_names and np.array_equal(dense(fresh.X), [[5, 0, 0], [6, 0, 1]])
    (tmp_path / "c.csv").write_text("word,x\nred,6\n")
    assert read(tmp_path / "c.csv", like=given, unlabelled=True).observed.nnz == 0


def test_names_may_repeat_unless_columns_are_matched_by_them(tmp_path):
    (tmp_path / "a.csv").write_text("w=p,w,l\n5,p,1\n6,q,0\n")
    np.savez(tmp_path / "a.npz", X=X, Y=Y, label_names=["a", "a"])
    np.savez(tmp_path / "b.npz", X=X, Y=Y, label_names=["a", "b"], feature_names=list("uvw"))
    some = np.where(X[:, :2] == 3.0, np.nan, Y)
    np.savez(tmp_path / "c.npz", X=X[:, ::-1], Y=some[:, ::-1], label_names=["b", "a"], feature_names=list("wvu"))
    fresh = read(tmp_path / "c.npz", like=read(tmp_path / "b.npz"))
    assert np.array_equal(dense(fresh.X), X) and np.array_equal(dense(fresh.Y), np.nan_to_num(some))
    assert np.array_equal(dense(fresh.observed), some == some) and fresh.names == ("a", "b")
    table, given = read(tmp_path / "a.csv", 1), read(tmp_path / "a.npz")
    assert table.feature_names == ("w=p", "w=p", "w=q") and read(tmp_path / "a.npz", like=given).names == ("a", "a")
    with pytest.raises(lrlab.InputError, match="labels must be of different names"):
        read(tmp_path / "b.npz", like=given)
    with pytest.raises(lrlab.InputError, match="features must be of different names"):
        read(tmp_path / "a.csv", 1, like=replace(table, feature_names=("w=q", "w=p", "w=p")))


@pytest.mark.parametrize(("base", "d"), [(None, 3), (0, 4), (1, 3)])
def test_the_base_of_svmlight_can_be_said(base, d, tmp_path):
    (tmp_path / "f.svm").write_text(pairs(1))
    assert read(tmp_path / "f.svm", base=base).d == d
    with pytest.raises(lrlab.InputError, match="base must be 0 or 1"):
        read(tmp_path / "f.svm", base=2)


@pytest.mark.skipif(not DATA.exists(), reason="published sets are not part of the package")
@pytest.mark.parametrize(("name", "sizes"), [("emotions", (391, 72, 6)), ("corel5k", (4500, 499, 374))])
def test_published_sets_have_their_sizes(name, sizes):
    files = located(DATA, (name,))[name]
    data = read(files.train, files.labels)
    assert (data.n, data.d, data.L) == sizes and len(set(data.label_names)) == data.L
