"""Files of own measurements: read as `recover` takes them, from the shell, and refused in one sentence."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lrlab.__main__ import main
from lrlab.data.examples import EXAMPLES
from lrlab.data.hints import Hints
from lrlab.data.label_models import load_model
from lrlab.data.reading import read_given
from lrlab.parameters import InputError
from tests.data import cases
from tests.data.hostile_files import KINDS, npz, text
from tests.data.hostile_rows import CASES, COMPRESSED, KERNEL, PARTS, saved

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


def test_whole_models_are_read(tmp_path):
    for base in (PARTS, KERNEL, COMPRESSED):
        (tmp_path / "m.npz").write_bytes(saved(base))
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


def test_parquet_of_other_columns_is_refused(tmp_path, capsys):
    frame = pd.DataFrame({"a": pd.date_range("2020", periods=3), "b": [[1], [2], [3]], "y": [1, 0, 1]})
    frame.to_parquet(tmp_path / "rows.parquet")
    assert main(["recover", str(tmp_path / "rows.parquet")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
