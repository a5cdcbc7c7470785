"""Fits that memory does not suffice for are refused before anything is formed, with what would fit."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from lrlab import catalog, ranking
from lrlab.datasets import Dataset, read, save_npz
from lrlab.fits.fit_memory import largest_rank, require_fit_memory
from lrlab.fits.fitting import fit
from lrlab.fits.own_files import default_rank, max_rank
from lrlab.models.own_rows import OwnProblem, hide
from lrlab.parameters import InputError
from tests.fits.streams import solver_stream

SOLVERS = [entry.name for entry in catalog.solvers_for("multilabel")]


def wide(n: int, d: int, L: int) -> Dataset:
    """Return sparse rows with one feature and one label each."""
    rows = np.arange(n)
    X, Y = (csr_array((np.ones(n), (rows, rows % width)), shape=(n, width)) for width in (d, L))
    return Dataset(X, Y)


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "2")


def test_the_default_rank_is_half_of_what_is_possible_and_at_most_100():
    assert [default_rank(max_rank(rows)) for rows in (wide(5, 40, 30), wide(5, 60_000, 50_000), wide(5, 3, 1))] == [
        15,
        100,
        1,
    ]


@pytest.mark.parametrize("solver", SOLVERS)
def test_50_000_labels_are_fitted_or_refused_before_memory_is_taken(tmp_path, solver):
    paths = [tmp_path / "train.npz", tmp_path / "test.npz"]
    for path in paths:
        save_npz(path, wide(20_000, 50_000, 50_000))
    tracemalloc.start()
    try:
        with pytest.raises(
            InputError, match="^memory must be at most 2.0 GiB for .* GiB for 20,000 rows, 50,000"
        ) as no:
            fit(*paths, solver=solver, rank=1000)
        assert tracemalloc.get_traced_memory()[1] < 2 * 10**8
    finally:
        tracemalloc.stop()
    assert "lower the rank to" in str(no.value) or "take leml-squared of rank" in str(no.value)


def test_the_rank_that_is_named_fits_and_the_next_does_not():
    rows = wide(20_000, 50_000, 50_000)
    options = dict(catalog.solver("leml-squared", "multilabel").settle({}).options)
    most = largest_rank("leml-squared", options, rows, 50_000)
    require_fit_memory("leml-squared", options, rows, None, most)
    with pytest.raises(InputError, match=f"lower the rank to {most} or read fewer rows"):
        require_fit_memory("leml-squared", options, rows, None, most + 1)


def test_the_first_rows_of_any_format_are_read(tmp_path):
    texts = {
        "f.arff": "@attribute a numeric\n@attribute x {0,1}\n@data\n1,0\n2,1\nbroken\n",
        "f.csv": "a,x\n1,0\n2,1\nbroken\n",
        "f.svm": "1 1:1\n2 1:2\nbroken\n",
        "f.txt": "3 1 2\n1 0:1\n0 0:2\nbroken\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        data = read(tmp_path / name, 1 if name in ("f.arff", "f.csv") else None, limit=2)
        assert data.n == 2 and data.X.sum() == 3
        with pytest.raises(InputError):
            read(tmp_path / name, 1 if name in ("f.arff", "f.csv") else None, limit=3)
    save_npz(tmp_path / "f.npz", wide(9, 3, 2))
    assert read(tmp_path / "f.npz", limit=2).n == 2 and read(tmp_path / "f.npz", limit=20).n == 9
    with pytest.raises(InputError, match="limit must be a number of rows"):
        read(tmp_path / "f.npz", limit=-1)


def test_progress_is_reported_after_each_iteration_and_areas_can_be_left_out(tmp_path):
    paths = [tmp_path / "train.npz", tmp_path / "test.npz"]
    for path in paths:
        save_npz(path, wide(30, 5, 4))
    progress = []
    fitted = fit(*paths, iterations=3, limit=20, areas=False, compared=False, following=lambda *at: progress.append(at))
    assert progress[0][:2] == (1, 3) and progress[0][2] > 0 and len(progress) == len(fitted.rows)
    assert "micro_auc" not in fitted.summary() and "auc" in fitted.summary()


@pytest.mark.parametrize("observed", [1.0, 0.5])
@pytest.mark.parametrize("solver", ["leml-squared", "cplst", "binary-relevance", "trace-norm-squared"])
def test_labels_without_positives_tie(solver, observed):
    if solver == "cplst" and observed < 1:
        pytest.skip("needs all labels")
    rng = np.random.default_rng(1001)
    X = rng.standard_normal((200, 10)) + 1.0
    Y = X @ rng.standard_normal((10, 12)) + rng.standard_normal((200, 12)) > 2.0
    Y[:, [3, 7, 9]] = False
    given = hide(Dataset(X, csr_array(Y, dtype=float)), observed, 0)
    problem, entry = OwnProblem.between(given, given, 6), catalog.solver(solver, "multilabel")
    iterates = entry.run(problem, **dict(entry.settle({}).options), rng=solver_stream(0))
    *_, last = (iterate for _, iterate in zip(range(3), iterates, strict=False))
    scores = ranking.rows_of(last.estimate.scores(X), slice(0, 200))
    assert np.ptp(scores[:, [3, 7, 9]], axis=1).max() == 0 and (scores[:, 0] != 0).all()


def test_features_left_out_are_said(tmp_path):
    (tmp_path / "train.svm").write_text("1 1:1 2:1\n2 1:2\n1 2:3\n" * 5)
    (tmp_path / "test.svm").write_text("1 1:1 9:1\n2 2:1\n")
    fitted = fit(tmp_path / "train.svm", tmp_path / "test.svm", iterations=1, compared=False)
    assert fitted.summary()["notes"] == [
        "Features of test.svm that the training rows do not have are left out: 1 of them."
    ]
