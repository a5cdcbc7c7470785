"""Pairs without ratings: a ranking objective beside popularity, from Python and the shell."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import lrlab
from lrlab.__main__ import main
from lrlab.fits.fitted_model import load_model, save_model
from lrlab.fits.fitting_ratings import fit_ratings, read_table
from lrlab.fits.implicit import Pairs, least_squares, popularity, weighted_als
from tests.fits.implicit_data import pairs_of

SEED = 41_032


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("pairs") / "pairs.csv"
    file.write_text("user,item\n" + "\n".join(map(",".join, pairs_of(SEED))))
    return file


@pytest.fixture(scope="module")
def found(path):
    return fit_ratings(path)


@pytest.mark.parametrize("settings", [{"weight": 5.0, "ridge": 2.0}, {"weight": 0.0, "ridge": 1e-3}])
def test_the_objective_falls_and_is_that_of_the_docstring(path, settings):
    problem = Pairs(read_table(path, None, None, None, 0)[1], 3)
    P, last = problem.known.toarray(), np.inf
    runs = weighted_als(problem, **settings, rng=np.random.default_rng(SEED))
    for _, iterate in zip(range(6), runs, strict=False):
        U, V = iterate.estimate.users[:, 1:], iterate.estimate.items[:, 1:]
        F = np.sum((1 + settings["weight"] * P) * (P - U @ V.T) ** 2) + settings["ridge"] * (
            np.sum(U**2) + np.sum(V**2)
        )
        assert iterate.objective == pytest.approx(F) and F <= last * (1 + 1e-12)
        last = F


def test_each_half_step_is_a_weighted_ridge_regression(path):
    known = Pairs(read_table(path, None, None, None, 0)[1]).known
    V = np.random.default_rng(SEED).standard_normal((known.shape[1], 4))
    U, row = least_squares(known, V, 7.0, 2.0), known[[5]].toarray()[0]
    root = np.sqrt(1 + 7.0 * row)[:, None]
    A, b = np.vstack([root * V, np.sqrt(2.0) * np.eye(4)]), np.append(root[:, 0] * row, np.zeros(4))
    assert U[5] == pytest.approx(np.linalg.lstsq(A, b, rcond=None)[0])


def test_scores_are_those_of_a_loop_over_users(path):
    problem = Pairs(read_table(path, None, None, None, 0)[1], 3)
    estimate = next(weighted_als(problem, rng=np.random.default_rng(0))).estimate
    scores, precision, recall = estimate.users[:, 1:] @ estimate.items[:, 1:].T, [], []
    known, fresh = problem.known.toarray() > 0, problem.fresh.toarray() > 0
    for i in np.flatnonzero(fresh.any(axis=1)):
        order = [j for j in np.argsort(-scores[i]) if not known[i, j]][:10]
        precision.append(fresh[i, order].sum() / 10)
        recall.append(fresh[i, order].sum() / fresh[i].sum())
    assert problem.score(estimate) == pytest.approx({"precision@10": np.mean(precision), "recall@10": np.mean(recall)})


def test_a_fit_ranks_better_than_popularity_where_there_are_directions(found):
    last, lines = found.rows[-1], found.baselines
    assert found.implicit and found.solver == "weighted-als" and found.rank and not found.remark
    assert last["recall@10"] > 1.5 * lines["recall@10_popularity"]
    assert last["precision@10"] > 1.5 * lines["precision@10_popularity"]
    assert {row["rank"] for row in found.tried} >= {0, 5, 20}


def test_pairs_that_only_popularity_says_are_popularity(tmp_path):
    (tmp_path / "pairs.csv").write_text("\n".join(map(",".join, pairs_of(SEED, signal=0.0))))
    found = fit_ratings(tmp_path / "pairs.csv")
    assert found.rank == 0 and "popularity alone" in found.remark
    assert found.rows[-1]["recall@10"] == found.baselines["recall@10_popularity"]
    table = read_table(tmp_path / "pairs.csv", None, None, None, 0)[1]
    [first] = popularity(Pairs(table))
    assert first.estimate.items[:, 0] == pytest.approx(np.bincount(table.given.columns, minlength=table.size[1]) / 120)


@pytest.mark.parametrize("rating", ["5", "1"])
def test_ratings_that_are_all_equal_are_pairs(path, found, rating, tmp_path):
    lines = path.read_text().splitlines()
    (tmp_path / "rated.csv").write_text("\n".join([f"{lines[0]},rating", *(f"{line},{rating}" for line in lines[1:])]))
    assert fit_ratings(tmp_path / "rated.csv").rows[-1]["recall@10"] == found.rows[-1]["recall@10"]


def test_a_saved_model_lists_items_without_a_pair(path, found, tmp_path):
    save_model(tmp_path / "m.npz", found.model)
    model, ratings = load_model(tmp_path / "m.npz"), lrlab.datasets.read_ratings(path)
    top = model.top("u3", 10)
    assert top == found.model.top("u3", 10) and len({row["item"] for row in top}) == 10
    assert model.predict([("new", "i1"), ("u3", "i1")])[0]["new"] == "user"
    assert len(ratings.values) == len(pairs_of(SEED)) and set(ratings.values) == {1.0}


def test_pairs_in_the_shell(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["fit", str(path), "--ratings", "--rank", "4", "--set", "weight=30", "--set", "ridge=30"]
    assert main([*arguments, "--solver", "weighted-als", "--save", "m.npz", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rank"] == 4 and document["recall@10"] > document["recall@10_popularity"]
    assert main(["predict", "m.npz", "--user", "u3", "--top", "3", "--out", "top.csv"]) == 0
    assert [row["place"] for row in csv.DictReader(Path("top.csv").read_text().splitlines())] == ["1", "2", "3"]
    capsys.readouterr()
    assert main(["fit", str(path), "--ratings", "--rank", "4"]) == 0
    assert "recall@10 of the most popular items" in capsys.readouterr().out
    # Two columns may as well be a number and a label.
    assert main(["fit", str(path)]) == 2


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("a,b\nc,d\ne,f,g", {}, "2 fields in line 3"),
        ("a,b\nc", {}, "user, item, rating in line 2"),
        ("user,item\n", {}, "at least one rating"),
        ("a,b", {}, "at least 2"),
        ("a,b\na,c\nb,c", {"solver": "als"}, "weighted-als where all ratings are equal, got als"),
        ("a,b,1\na,c,2\nb,c,2", {"solver": "weighted-als"}, "one of ratings that differ, got weighted-als"),
        ("a,b\na,c\nb,c", {"rank": 9}, r"rank must be in 0\.\.2"),
        ("a,b\na,c\nb,c", {"rank": 1.5}, "rank must be a whole number, got 1.5"),
        ("a,b,1\na,c,2\nb,c,2", {"rank": 1.5}, "rank must be a whole number, got 1.5"),
        ("a,b\na,c\nb,c", {"weight": -1}, "option of biased-als must be one of ridge"),
        ("a,b\na,c\nb,c", {"solver": "weighted-als", "weight": -1}, "weight must be"),
    ],
)
def test_what_is_wrong_is_one_sentence(text, options, sentence, tmp_path):
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(lrlab.InputError, match=sentence) as refused:
        fit_ratings(tmp_path / "pairs.csv", **options)
    assert "\n" not in str(refused.value)


def test_features_are_refused_beside_pairs(path, tmp_path):
    (tmp_path / "users.csv").write_text("\n".join(f"u{i},{i}" for i in range(120)))
    with pytest.raises(lrlab.InputError, match="users and items must be left out where all ratings are equal"):
        fit_ratings(path, users=tmp_path / "users.csv")


def test_users_without_pairs_have_the_mean_vector(tmp_path):
    (tmp_path / "pairs.csv").write_text("\n".join(map(",".join, pairs_of(SEED))))
    (tmp_path / "test.csv").write_text("nobody,i1\nu1,i2\nu2,elsewhere")
    model = fit_ratings(tmp_path / "pairs.csv", tmp_path / "test.csv", rank=5).model
    mean = model.factors.users.mean(axis=0)
    assert model.scores([("nobody", "i1")])[0] == pytest.approx(model.factors.items[model.items.places["i1"]] @ mean)
    assert model.scores([("u2", "elsewhere")])[0] == 0.0


def test_few_pairs_end_in_a_model(tmp_path):
    (tmp_path / "pairs.csv").write_text("a,b\na,c\nb,c\nb,c\nc,b")
    found = fit_ratings(tmp_path / "pairs.csv")
    assert found.model is not None and np.isfinite(found.model.scores([("a", "b"), ("new", "c")])).all()
