"""Broken files are refused in one sentence that names the line; whatever the bytes, nothing else is ever raised."""

import io
import os
import pickle
import string
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrlab.datasets import FORMATS, read, read_ratings, save_npz
from lrlab.parameters import InputError

ARFF = "@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute x {0,1}\n@data\n"
CORRECT = {
    "arff": "@relation r\n% c\n@attribute 'a \\'b' numeric\n@attribute b {u,'v w'}\n@attribute x {0,1}\n@data\n"
    "{0 1.5,2 1}\n{1 'v w'}\n{2 ?}\n",
    "svmlight": "1,2 3:0.5 7:1\n 2:1e3\n# c\n2 qid:1 1:1\n",
    "extreme": "3 4 5\n0,4 0:1 3:2\n\n1 2:0.5\n",
    "csv": 'a,"b c",x\n1,2,0\n3.5,-4e1,1\n5,6,\n',
}


@pytest.fixture
def write(tmp_path):
    def _write(name: str, text: str | bytes) -> Path:
        (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        return tmp_path / name

    return _write


REFUSED = {
    "no @data": (ARFF[:-6], "@data after the attributes in line 4 of f.arff, got the end of the file"),
    "@data forgotten": (ARFF[:-6] + "1,u,0\n", "@data or a % comment in line 5 of f.arff, got 1,u,0: put @data"),
    "no attribute": ("@data\n1\n", "@attribute lines before @data in line 1"),
    "no rows": (ARFF + "% c\n", "rows after @data in line 5"),
    "text": ("@attribute t string\n" + ARFF, "numeric` or .* in line 1 .*: remove attributes of text"),
    "no type": ("@attribute t\n", "numeric` or .* in line 1"),
    "name twice": (ARFF.replace("b {", "a {"), "a name other than that of line 2 in line 3 of f.arff, got a"),
    "brace": (ARFF.replace("v}", "v"), "different values between braces.* in line 3"),
    "value twice": (ARFF.replace("v}", "u}"), "different values between braces.* in line 3"),
    "short row": (ARFF + "1,u,0\n1,u\n", "3 values .* in line 7 of f.arff, got 2 values"),
    "long row": (ARFF + "1,u,0,1\n", "3 values .* in line 6 of f.arff, got more than 3 values"),
    "word for number": (ARFF + "% c\nhalf,u,0\n", "a number for attribute a in line 7 of f.arff, got half"),
    "not a number": (ARFF + "nan,u,0\n", "a number for attribute a in line 6 of f.arff, got nan"),
    "too large": (ARFF + "1e999,u,0\n", "a number for attribute a in line 6 of f.arff, got 1e999"),
    "strange value": (ARFF + "1,w,0\n", "one of its listed values for attribute b in line 6 of f.arff, got w"),
    "strange label": (ARFF + "1,u,2\n", "listed values for attribute x in line 6 of f.arff, got 2"),
    "unknown feature": (ARFF + "?,u,0\n", "a number for attribute a in line 6 of f.arff, got .: fill the value in"),
    "index": (ARFF + "{3 1}\n", "indices from 0 to 2 once each, in line 6 of f.arff, got 3 1}"),
    "index twice": (ARFF + "{0 1,0 2}\n", "once each, in line 6 of f.arff, got 0 2}"),
    "open brace": (ARFF + "{0 1\n", "pairs .* in line 6 of f.arff"),
    "weight": (ARFF + "{0 1}, {5}\n", "in line 6 of f.arff, got , .5.: remove what follows"),
    "two forms": (ARFF + "{0 1}\n1,u,0\n", "rows like the first one, {index value, ...} in line 7"),
    "label of words": (ARFF.replace("{0,1}", "{red,green}"), "values 0 and 1 .* for x in line 4 of f.arff, got red"),
    "not UTF-8": (ARFF.encode() + b"1,\xff\xfe,0\n", "UTF-8 text in line 6"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_broken_arff_names_its_line(write, case):
    text, message = REFUSED[case]
    with pytest.raises(InputError, match=f"^file must be ARFF with .*{message}"):
        read(write("f.arff", text), 1)


OTHERS = {
    "f.svm": [
        ("1 1:1\n1;2 1:1\n", "labels,labels .* in line 2 of f.svm"),
        ("-1 1:1\n", "labels,labels .* in line 1"),
        ("1 2:1 1:1\n", "increasing order of index in line 1"),
        ("1 1:1 99999999999:1\n", "in line 1"),
        ("1 1:1 2147483648:1\n", "indices below 2147483647 in line 1 of f.svm, got 2147483648"),
        ("1 1:1\n1 1:1e999\n", "finite values in line 2"),
        ("1 1:0x1\n", "in line 1"),
        ("# nothing\n", "at least one row in line 1"),
        (" 1:1\n", "at least one label"),
        ("1\n", "at least one feature"),
        ("0 1:1\n2 1:1\n", "labels below 2 in line 2"),
    ],
    "f.txt": [
        ("2 3 2\n0 0:1\n1 3:1\n", "indices below 3 in line 3 of f.txt, got 3"),
        ("2 3 2\n0 0:1\n2 1:1\n", "labels below 2 in line 3 of f.txt, got 2"),
        ("3 3 2\n0 0:1\n1 1:1\n", "as many rows as it says, 2, in line 1 of f.txt, got 3"),
        ("1 3 2\n0 0:1\n1 1:1\n", "nothing after 1 rows in line 3"),
        ("99999999999 3 2\n0 0:1\n", "in line 1"),
        ("1 3 3\n0 0:1\n", "2 labels, as many as were named, in line 1 of f.txt, got 3"),
    ],
    "f.csv": [
        ("a,x\n1,0\nhalf,1\n", "a number in column a in line 3 of f.csv, got half"),
        ("a,x\n1,0\n1_0,1\n", "a number in column a in line 3 of f.csv, got 1_0"),
        ("a,x\n1,0\n1\n", "2 fields in line 3 of f.csv, got 1 fields"),
        ("a,x\n1,2\n", "1, 0 or nothing for label x in line 2 of f.csv, got 2"),
        ('a,x\n1,"0\n', "fields in closed quotes in line 2"),
        ("a,a\n1,0\n", "names that differ in line 1 of f.csv, got a"),
        ("a,x\n", "at least one row of values"),
        ("", "at least one row of values"),
    ],
}


@pytest.mark.parametrize(("name", "text", "message"), [(name, *case) for name in OTHERS for case in OTHERS[name]])
def test_other_broken_files_name_their_line(write, name, text, message):
    labels = {"f.svm": "2", "f.txt": 2, "f.csv": 1}[name]
    labels = None if "at least one" in message or "3 3 2" in text else labels
    with pytest.raises(InputError, match=f"^file must be .*{message}"):
        read(write(name, text), 1 if name == "f.csv" else labels)


def xml(names: str, head: str = "") -> str:
    return f"<?xml version='1.0'?>\n{head}<labels>\n{names}</labels>"


XML = {
    "no attribute": (
        xml('<label name="x"/>\n<label name="xx"/>\n'),
        "name of a column .* in line 4 of f.xml, got xx: did",
    ),
    "twice": (xml('<label name="x"/>\n<label name="x"/>\n'), "each once, in line 4"),
    "no name": (xml("<label/>"), '`<label name="...">` in line 3'),
    "other": (xml("<tag/>"), "in line 3 of f.xml, got <tag>"),
    "open": ("<labels>\n<label name='x'>", "well-formed XML in line 2"),
    "empty": (xml(""), "at least one label"),
    "nothing": ("", "well-formed XML in line 1"),
    "encoding": ("<?xml version='1.0' encoding='utf-7'?><labels/>", "well-formed XML in line 1"),
    "entities": (
        xml("<label name='&b;'/>", "<!DOCTYPE l [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]>\n"),
        "no document type in line 2",
    ),
    "outside": (xml("<label name='x'/>", "<!DOCTYPE l SYSTEM 'file:///etc/passwd'>\n"), "no document type in line 2"),
}


@pytest.mark.parametrize("case", XML)
def test_a_broken_list_of_labels_names_its_line(write, case):
    text, message = XML[case]
    with pytest.raises(InputError, match=f"^file must be label XML with .*{message}"):
        read(write("f.arff", ARFF + "1,u,0\n"), write("f.xml", text))


@pytest.mark.parametrize(
    ("labels", "message"),
    [(0, "a count from 1"), (-1, 'write "first:1"'), (3, "fewer than the 3 columns"), (["q"], "got q"), ([], "names")]
    + [
        (None, "say which attributes"),
        (True, "XML"),
        (1.5, "XML"),
        ("last:9", "fewer than"),
        (["x", "x"], "each once"),
    ],
)
def test_labels_that_cannot_be(write, labels, message):
    with pytest.raises(InputError, match=f"^labels must be .*{message}"):
        read(write("f.arff", ARFF + "1,u,0\n"), labels)


def test_names_of_numbered_labels_differ(write):
    path, names = write("f.svm", "0,2 1:1\n"), write("f.names", "a\nb\na\n")
    with pytest.raises(InputError, match="^labels must be names, each once, got a: name each label once"):
        read(path, ["a", "b", "a"])
    with pytest.raises(InputError, match="^file must be label list with names, each once, in line 3 of f.names, got a"):
        read(path, names)


def test_size_is_checked_before_memory_is_allocated(write):
    path = write("f.arff", ARFF)
    os.truncate(path, 2 * 2**30)
    with pytest.raises(InputError, match="at most 215 MB .* got f.arff of 2.15 GB: raise limit_bytes to 42949672960"):
        read(path, 1)
    wide = "".join(f"@attribute x{place} {{1,0}}\n" for place in range(500))
    path = write("g.arff", "@attribute a numeric\n" + wide + "@data\n" + "{}\n" * 4000)
    with pytest.raises(InputError, match="fits the limit of 1 MB, got g.arff with 40 MB of values that are not zero"):
        read(path, 500, limit_bytes=10**6)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("f.arff", ARFF.replace("u,v", ",".join(map(str, range(300)))) + "1,u,0\n", "names and values"),
        ("f.csv", "1," * 500 + "0\n", "fields in line 1"),
        ("f.txt", "500 2 2\n" + "\n" * 500, "500 rows"),
    ],
)
def test_names_and_empty_rows_have_their_own_limit(write, name, text, what):
    with pytest.raises(InputError, match=f"fits the limit of 0.03 MB, got {name} with .* of {what}"):
        read(write(name, text), 1 if name != "f.txt" else None, limit_bytes=30_000)


@pytest.mark.parametrize("name", ["no.arff", "\0.arff", ".arff", "x" * 5000 + ".svm"])
def test_files_that_are_not_there(tmp_path, name):
    with pytest.raises(InputError, match="^file must be"):
        read(tmp_path / name, 1)
    with pytest.raises(InputError, match="^file must be"):
        read_ratings(tmp_path / name)


def test_folders_and_unknown_formats(tmp_path, write):
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InputError, match="a regular file, got d.csv"):
        read(tmp_path / "d.csv", 1)
    with pytest.raises(InputError, match="one of .arff, .*, got f.doc: name the format by file_format"):
        read(write("f.doc", ""), 1)
    with pytest.raises(InputError, match='file_format must be one of arff, .* did you mean "arff"'):
        read(write("f.doc", ""), 1, file_format="arf")


class Bomb:
    """What a pickle would run."""

    def __reduce__(self):
        return os.mkdir, ("executed",)


def npz(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name + ".npy", content)
    return stream.getvalue()


def npy(array: np.ndarray, shape: tuple[int, ...] | None = None) -> bytes:
    stream = io.BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(array.dtype), "fortran_order": False, "shape": shape or array.shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + (pickle.dumps(array) if array.dtype.hasobject else array.tobytes())


ONE = npy(np.ones((2, 1)))
NPZ = {
    "pickle": (npz(X=npy(np.array([[Bomb()]])), Y=ONE), "whole .npz of plain arrays"),
    "lying shape": (npz(X=npy(np.ones(2), (10**15, 1)), Y=ONE), "do not fit"),
    "bomb": (npz(X=npy(np.zeros((10**6, 2))), Y=ONE), "fits the limit of 1 MB"),
    "no Y": (npz(X=ONE), "no Y"),
    "vector": (npz(X=npy(np.ones(2)), Y=ONE), "dense or CSR table"),
    "nan": (npz(X=npy(np.full((2, 1), np.nan)), Y=ONE), "finite numbers"),
    "labels": (npz(X=ONE, Y=npy(np.full((2, 1), 3))), "Y holds 1, 0, -1 or nan"),
    "rows": (npz(X=ONE, Y=npy(np.ones((3, 1)))), "as many rows as X"),
    "observed": (npz(X=ONE, Y=ONE, observed=npy(np.zeros((2, 1)))), "true at every positive label"),
    "csr": (
        npz(
            X=ONE,
            **{
                f"Y_{k}": npy(np.array(v))
                for k, v in dict(data=[1], indices=[9], indptr=[0, 1, 1], shape=[2, 1]).items()
            },
        ),
        "CSR",
    ),
    "not a zip": (b"PK", "whole .npz"),
}


@pytest.mark.parametrize("case", NPZ)
def test_broken_npz(write, tmp_path, monkeypatch, case):
    content, message = NPZ[case]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        read(write("f.npz", content), limit_bytes=10**6)
    assert not (tmp_path / "executed").exists()


RATINGS = [
    ("u,i,1\nu,i,2\n", "other than those of line 1 in line 2"),
    ("u,i,1\nv,i,good\n", "a number in column rating in line 2 of r.csv, got good"),
    ("u,i,1\nv,i\n", "user, item, rating in line 2"),
    ("u,i,1\nw,i,1\n", "a name that the table of features has in line 2 of r.csv, got w"),
    ("user,item,rating\n", "at least one rating"),
    ("u,i,1e300\n", "a rating of a size up to 1e.100 in line 1"),
]


@pytest.mark.parametrize(("text", "message"), RATINGS)
def test_broken_ratings_name_their_line(write, text, message):
    users = write("u.csv", "id,age\nu,1\nv,2\n")
    with pytest.raises(InputError, match=f"^file must be ratings CSV with .*{message}"):
        read_ratings(write("r.csv", text), users)
    for broken in ("u,1\nu,2\n", "u,1\nv\n", "u,1\nv,x\n", "u\n", "id,age\n", ""):
        with pytest.raises(InputError, match="^file must be user features CSV with "):
            read_ratings(write("r.csv", text), write("w.csv", broken))


fuzz = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
ALPHABET = st.sampled_from(
    [*"{}%?'\"\\,;:\t\r\n -+.e_019#@abx\0\ufeffé", "@data\n", "@attribute ", " numeric\n", "1e999"]
)


def reads_or_refuses(path: Path, kind: str, labels) -> None:
    try:
        data = read(path, labels, file_format=kind, limit_bytes=10**7)
        assert data.n == data.Y.shape[0] and data.d > 0 and data.L > 0
    except InputError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("kind", FORMATS)
@given(content=st.binary(max_size=200), labels=st.sampled_from([None, 1, "first:2"]))
@fuzz
def test_any_bytes(tmp_path, kind, content, labels):
    (tmp_path / "f").write_bytes(content)
    reads_or_refuses(tmp_path / "f", kind, labels)


@pytest.mark.parametrize("kind", CORRECT)
@given(data=st.data(), labels=st.sampled_from([None, 1, 2, "first:1", ["x"]]))
@fuzz
def test_a_correct_file_with_a_part_replaced(tmp_path, kind, data, labels):
    text = CORRECT[kind]
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(len(text), start + 8)))
    middle = "".join(data.draw(st.lists(ALPHABET, max_size=5)))
    (tmp_path / "f").write_text(text[:start] + middle + text[stop:], newline="")
    reads_or_refuses(tmp_path / "f", kind, labels)


@given(start=st.integers(0, 1200), content=st.binary(max_size=4))
@fuzz
def test_a_correct_archive_with_bytes_replaced(tmp_path, start, content):
    path = tmp_path / "f.npz"
    (tmp_path / "f.csv").write_text(CORRECT["csv"])
    save_npz(path, read(tmp_path / "f.csv", 1))
    whole = path.read_bytes()
    path.write_bytes(whole[:start] + content + whole[start + len(content) :])
    reads_or_refuses(path, "npz", None)


TAGS = st.sampled_from([*string.printable, "<label name='x'/>", "<labels>", "</labels>", "&#0;", "<!DOCTYPE"])


@given(text=st.lists(TAGS, max_size=60).map("".join))
@fuzz
def test_any_list_of_labels(tmp_path, text):
    (tmp_path / "f.arff").write_text(ARFF + "1,u,0\n")
    for name in ("f.xml", "f.names"):
        (tmp_path / name).write_text("<labels>" + text if name == "f.xml" else text, newline="")
        reads_or_refuses(tmp_path / "f.arff", "arff", tmp_path / name)


@given(texts=st.lists(st.text('u1,;\t"\n i.x-', max_size=30), min_size=3, max_size=3))
@fuzz
def test_any_ratings(tmp_path, texts):
    paths = [tmp_path / name for name in "rui"]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, newline="")
    for sides in ([], [paths[1]], paths[1:]):
        try:
            data = read_ratings(paths[0], *sides)
            assert len(data.values) == len(data.rows) > 0
        except InputError as error:
            assert "\n" not in str(error)
