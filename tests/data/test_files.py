"""Files and arrays of own measurements: read as `recover` takes them, from the shell, and refused in one sentence."""

import codecs
import datetime
import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array

import lrlab
from lrlab.__main__ import main
from lrlab.data.examples import EXAMPLES
from lrlab.data.hints import Hints
from lrlab.data.label_task import load_model
from lrlab.data.reading import read_given
from lrlab.parameters import InputError
from tests.data import cases
from tests.data.hostile import CASES, COMPRESSED, KERNEL, KINDS, PARTS, npz, text

SEED = 20_026
MEMORY_BYTES = 200 * 10**6
FILES = [(kind, name) for kind, files in KINDS.items() for name in files]


@pytest.mark.parametrize(("kind", "name"), FILES)
def test_hostile_files_end_in_one_sentence(kind, name, tmp_path, capsys):
    content, options = KINDS[kind][name]
    path = tmp_path / name
    path.write_bytes(content)
    assert main(["recover", str(path), *options, "--set", "max_iter=3"]) == 2
    out, err = capsys.readouterr()
    assert out.count("\n") <= 1 and err.count("\n") == 1 and len(err) < 700 and " must be " in err


@pytest.mark.slow
@pytest.mark.attempt(
    "files of every format that are cut, bombs or lies; CSV and ARFF of 200,000 columns, npz of 60,000 members",
    "one sentence before they are read",
)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_is_refused_in_a_sentence(tmp_path, name):
    case = CASES[name]
    path = case.write(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=case.refusal) as refused:
            case.opened(path, case.labels)
        assert tracemalloc.get_traced_memory()[1] < MEMORY_BYTES
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_a_broken_byte_and_a_wrong_number_are_said_at_their_places(mark, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(mark + b"a,y\n1.5,0\n2.5,\x81\n")
    with pytest.raises(InputError, match="line 3"):
        lrlab.fit(path)
    with pytest.raises(InputError, match="inf at position 4"):
        lrlab.recover(np.array([0.0, 1.0, 0.0, np.inf]), np.eye(4))
    with pytest.raises(InputError, match="got ndarray: give tables and arrays to lrlab.recover"):
        lrlab.fit(np.eye(4))


def test_a_lack_of_memory_is_not_called_a_damaged_file(tmp_path, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError("Unable to allocate 9 GiB")

    pd.DataFrame({"a": [1.0], "y": [2.0]}).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", too_large)
    with pytest.raises(InputError, match="of a size that fits the memory of this machine, got t.parquet"):
        read_given(tmp_path / "t.parquet")


def test_whole_models_are_read(tmp_path):
    for base in (PARTS, KERNEL, COMPRESSED):
        (tmp_path / "m.npz").write_bytes(npz(**base))
        assert load_model(tmp_path / "m.npz").columns.L == 2


def test_the_documentation_has_source_and_license_of_each_example():
    lines = (Path(__file__).parents[2] / "docs" / "howto" / "your-data.md").read_text().splitlines()
    for name, one in EXAMPLES.items():
        [line] = [line for line in lines if line.startswith("|") and f"`{name}`" in line]
        assert line.split("|")[3].strip() == one.license.split(";")[0]
        assert line.split("|")[2].strip().split(",")[0].split(":")[0] in one.source


def recovered(arguments, capsys):
    """Run the command, and return its document."""
    assert main(["recover", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_answers_from_each_format_save_a_direction_with_intervals(suffix, tmp_path, capsys):
    X, y, b = cases.answers(SEED)
    path, out = tmp_path / f"meas.{suffix}", tmp_path / "direction.csv"
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(bought=np.where(y, "yes", "no"))
    if suffix == "npz":
        np.savez(path, X=X, y=y)
    else:
        frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    document = recovered([path, "--save", out], capsys)
    assert document["model"] == "flipped-logistic" and document["solver"] == "link-free-refinement"
    assert document["metrics"]["held_out_log_loss"] < 0.6
    saved = pd.read_csv(out)
    assert list(saved) == ["column", "direction", "standardized", "low", "high"]
    assert (saved.low < saved.standardized).all() and (saved.standardized < saved.high).all()
    assert saved.direction @ b > 0.9 * np.linalg.norm(b)
    assert suffix == "npz" or list(saved.column) == list("abcdef")


def test_a_bilinear_form_from_csv_is_saved_with_its_factors(tmp_path, capsys):
    X, Z, y, W = cases.bilinear(SEED)
    path, out = tmp_path / "form.csv", tmp_path / "form.npz"
    pd.DataFrame(np.column_stack([y, X, Z])).to_csv(path, index=False, header=[f"c{k}" for k in range(15)])
    document = recovered([path, "--y", "c0", "--z", "10-15", "--save", out], capsys)
    assert document["metrics"]["guessed_rank"] == 2
    with np.load(out) as saved:
        assert np.allclose((saved["U"] * saved["s"]) @ saved["V"].T, np.pad(W, ((1, 0), (1, 0))))


def test_a_table_is_completed_with_its_names(tmp_path, capsys):
    given, T = cases.gaps(SEED)
    titles, rows = [f"film {k}" for k in range(30)], [f"user {k}" for k in range(40)]
    frame = pd.DataFrame(given, columns=titles, index=rows)
    path, out = tmp_path / "table.csv", tmp_path / "completed.csv"
    frame.to_csv(path)
    recovered([path, "--solver", "matrix-irls", "--set", "rank=2", "--save", out], capsys)
    saved = pd.read_csv(out, index_col=0)
    assert list(saved) == titles and list(saved.index) == rows and np.allclose(saved, T)
    triples = frame.stack().dropna().reset_index()
    triples.to_csv(path, index=False)
    recovered([path, "--triples", "--solver", "matrix-irls", "--set", "rank=2", "--save", out], capsys)
    again = pd.read_csv(out, index_col=0)
    assert np.allclose(again.loc[rows, titles], T)


def test_patterns_from_npz_save_the_image(tmp_path, capsys):
    values, masks, image = cases.patterns(SEED)
    path, out = tmp_path / "patterns.npz", tmp_path / "image.csv"
    path.write_bytes(npz(patterns=values, masks=masks))
    recovered([path, "--save", out], capsys)
    assert np.allclose(pd.read_csv(out), image, atol=1e-6)


@pytest.mark.parametrize(
    ("header", "columns", "y", "names"),
    [
        ("a,b,y", Hints(), 2, ("a", "b")),
        ("a,b,c", Hints(y="b"), 1, ("a", "c")),
        ("a,b,c", Hints(y="1"), 0, ("b", "c")),
        ("", Hints(y="3"), 2, ("1", "2")),
    ],
)
def test_the_column_of_measurements_is_named_or_the_last(header, columns, y, names, tmp_path):
    values = np.random.default_rng(SEED).standard_normal((9, 3)).round(4)
    (tmp_path / "rows.csv").write_bytes(text(header, values))
    read = read_given(tmp_path / "rows.csv", columns)
    assert np.array_equal(read.y, values[:, y]) and read.names == names
    assert np.array_equal(read.X, np.delete(values, y, axis=1))


X1, y1, _ = cases.answers(SEED, n=60)
XQ, yQ, _ = cases.quadratic(SEED, m=60)
TABLE = "inductive-completion"
gaps, _ = cases.gaps(SEED)
A, yA, _ = cases.magnitudes(SEED, m=60)
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
ARRAYS = {
    **{f"responses, {name}": ("flipped-logistic", value, X1) for name, value in VECTORS.items()},
    **{f"features, {name}": ("flipped-logistic", y1, value) for name, value in TABLES.items()},
    **{f"measurements, {name}": ("polynomial-network", value, XQ) for name, value in VECTORS.items()},
    **{f"second vectors, {name}": ("rank-one-sensing", y1, X1, value) for name, value in TABLES.items()},
    **{f"matrix, {name}": (TABLE, *given) for name, given in MATRICES.items()},
    **{f"magnitudes, {name}": ("phase-retrieval", value, A) for name, value in VECTORS.items()},
    **{f"vectors of magnitudes, {name}": ("phase-retrieval", yA, value) for name, value in TABLES.items()},
    **{f"features of labels, {name}": ("multilabel", X1 > 0, TABLES[name]) for name in TABLES if name != "zeros"},
    "one column": ("flipped-logistic", y1, X1[:, :1]),
    "lists of label names": ("multilabel", [["a"], ["b", "c"]] * 30, X1),
    "vectors of magnitudes, -inf": ("phase-retrieval", yA, changed(A, (2, 1), -np.inf, A.dtype)),
    "patterns, other masks": ("phase-retrieval", patterns, masks[:, :5]),
    "patterns, few masks": ("phase-retrieval", patterns, masks[:-1]),
    "patterns, large masks": ("phase-retrieval", np.ones((2, 120, 90)), np.ones((2, 120, 90))),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_hostile_arrays_end_in_one_sentence(name):
    model, *given = ARRAYS[name]
    with pytest.raises(lrlab.InputError) as refused:
        lrlab.recover(*given, model=model, max_iter=3)
    sentence = str(refused.value)
    assert " must be " in sentence and ", got " in sentence and len(sentence) < 600
    assert "[[" not in sentence and "\n" not in sentence


RESPONSES = y1, X1
WRONG = [
    (RESPONSES, {"model": "flipped"}, "model must be one of"),
    (RESPONSES, {"model": ["multilabel"]}, "model must be one of"),
    (RESPONSES, {"model": "one-bit"}, "model must be one of (?!.*one-bit-completion)"),
    (RESPONSES, {"model": "multilabel"}, "y must be a table of 1, 0 and -1"),
    (RESPONSES, {"solver": "als"}, "solver must be made for"),
    (RESPONSES, {"solver": "nothing"}, "solver must be one of"),
    (RESPONSES, {"held_out": 1}, "held_out must be"),
    (RESPONSES, {"scaling": "rows"}, "scaling must be one of"),
    (RESPONSES, {"steps": 3}, "option must be one of"),
    (RESPONSES, {"n": 3}, "option must be one of"),
    (RESPONSES, {"truth": "phantom"}, "option must be one of"),
    (RESPONSES, {"file": "x"}, "option must be one of"),
    (RESPONSES, {"max_iter": 0}, "max_iter must be"),
    (RESPONSES, {"sparsity": 99}, "sparsity must be"),
    (RESPONSES, {"Z": X1, "model": "flipped-logistic"}, "Z must be left out"),
    ((yQ, XQ), {}, "polynomial-network for y = x"),
    ((y1, X1 + 1j), {"model": "flipped-logistic"}, "must be real, got complex numbers"),
    ((yQ, XQ + 1j), {"model": "polynomial-network"}, "must be real, got complex numbers"),
    ((y1, X1 + 1j, X1), {"model": "rank-one-sensing"}, "must be real, got complex numbers"),
    ((X1 + 1j,), {"model": TABLE}, "must be real, got complex numbers"),
    (
        (([0.5, 0, 1, 1], [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]),),
        {},
        "rows must be whole numbers from 0 to 2147483647, got 0.5 at position 1",
    ),
    (
        (y1, np.where(np.arange(60)[:, None] == 2, "yes", X1.astype(str))),
        {"model": "flipped-logistic"},
        "X must be a table of numbers, got 'yes': leave words out",
    ),
    (
        (1e-250 * yA, A),
        {"model": "phase-retrieval"},
        "y must be of numbers that are 0, or some of them 1e-100 in size, got",
    ),
]
WORDS = [
    (["yes"], "y must be of two values, got one: give rows of both"),
    ([1.0], "y must be of two values, got one"),
    (["a", "b", "c"], "y must be of two values, got 3 values: code"),
    (["a", "b", None], "y must be a word in each row, got None in row 3: fill it in"),
    (["a", np.nan, "b"], "y must be a word in each row, got nan in row 2: fill it in"),
    (["a", pd.NA, "b"], "y must be a word in each row, got <NA> in row 2: fill it in"),
]
WRONG += [
    ((np.array((words * 60)[:60], dtype=object), X1), {"model": model}, match)
    for words, match in WORDS
    for model in ("", "flipped-logistic")
]


@pytest.mark.parametrize(("given", "options", "match"), WRONG)
def test_wrong_data_and_options_end_in_one_sentence(given, options, match):
    with pytest.raises(lrlab.InputError, match=match):
        lrlab.recover(*given, **options)
