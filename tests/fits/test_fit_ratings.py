"""Ratings with features of users and items: what is learnt of them, on members without ratings, and what is refused."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from lrlab import catalog, datasets
from lrlab.__main__ import main
from lrlab.fits.fitted_model import load_model, save_model
from lrlab.fits.fitting_ratings import fit_ratings, read_table
from lrlab.models.completion import InductiveCompletion
from lrlab.models.ratings_problem import aligned
from lrlab.parameters import InputError

N1, N2, D, RANK = 40, 30, 4, 2
PLAIN = ("soft-impute", "als", "matrix-irls", "r2rils")
SOLVERS = [e.name for e in catalog.solvers_for(InductiveCompletion.model) if e.name not in PLAIN]


def table(seed=0):
    """Return features and ratings R = mean + a_i + c_j + x_i^T W y_j, without noise."""
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((N1, D)) @ rng.standard_normal((D, D)), 5 + rng.standard_normal((N2, D))
    W = rng.standard_normal((D, 1)) @ rng.standard_normal((1, D))
    return X, Y, 3.0 + (X @ rng.standard_normal(D))[:, None] + X @ W @ Y.T


def write(path, rows):
    path.write_text("\n".join(",".join(map(str, row)) for row in rows))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write ratings of all but three users and two items, ratings to test on, and both tables of features."""
    folder, (X, Y, R) = tmp_path_factory.mktemp("ratings"), table()
    rng = np.random.default_rng(1)
    observed = rng.random((N1, N2)) < 0.4
    observed[:3], observed[:, :2] = False, False
    parts = {"train": observed, "test": ~observed & (rng.random((N1, N2)) < 0.3)}
    for name, chosen in parts.items():
        rated = [(f"u{i}", f"i{j}", float(R[i, j])) for i, j in np.argwhere(chosen)]
        rng.shuffle(rated)
        write(folder / f"{name}.csv", [("user", "item", "rating"), *rated])
    for name, side, features in (("users", "u", X), ("items", "i", Y)):
        write(folder / f"{name}.csv", [(f"{side}{i}", *map(repr, row)) for i, row in enumerate(features.tolist())])
    return {name: folder / f"{name}.csv" for name in ("train", "test", "users", "items")}


def test_ratings_of_users_and_items_without_any_are_predicted_exactly(files):
    found = fit_ratings(**files, solver="altmin", rank=RANK, ridge=0, iterations=100).summary()
    assert found["solver"] == "altmin" and found["rank"] == RANK
    assert max(found[name] for name in ("rmse", "rmse_cold_users", "rmse_cold_items", "train_rmse")) < 1e-8
    assert found["rmse_mean"] > 1 and 0 < found["cold_user_ratings"] < found["test_ratings"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_of_completion_does_better_than_the_mean(files, solver):
    found = fit_ratings(**files, solver=solver, rank=RANK, iterations=60).summary()
    assert found["rmse"] < 0.7 * found["rmse_mean"] and found["iterations"] == len(found["trace"])


def test_solvers_without_features_are_refused_where_there_are_some(files):
    with pytest.raises(
        InputError, match="solver must be one that uses features, as they are given, got soft-impute: take biased-als"
    ):
        fit_ratings(**files, solver="soft-impute", rank=RANK)
    found = fit_ratings(files["train"], files["test"], solver="soft-impute", rank=RANK, iterations=30).summary()
    assert found["rmse"] < found["rmse_mean"] and found["cold_user_ratings"] > 0


def test_scores_are_those_of_the_predictions(files):
    found = fit_ratings(**files, solver="altmin", rank=RANK, iterations=1)
    test = datasets.read_ratings(files["test"], files["users"], files["items"])
    pairs = [(test.user_names[i], test.item_names[j]) for i, j in zip(test.rows, test.columns, strict=True)]
    off = found.model.scores(pairs) - test.values
    cold = [user in {"u0", "u1", "u2"} for user, _ in pairs]
    last = found.rows[-1]
    assert last["rmse"] == pytest.approx(np.sqrt(np.mean(off**2)), rel=1e-9) and last["rmse"] > 1e-3
    assert last["rmse_cold_users"] == pytest.approx(np.sqrt(np.mean(off[cold] ** 2)))


def test_a_side_without_features_takes_its_members_as_they_come(files, tmp_path):
    one = write(tmp_path / "train.csv", [("a", "i1", 5), ("a", "i2", 3), ("b", "i1", 4), ("c", "i3", 1)])
    two = write(tmp_path / "test.csv", [("d", "i1", 2), ("b", "i2", 3)])
    given, test = datasets.read_ratings(one, None, files["items"]), datasets.read_ratings(two, None, files["items"])
    learnt, fresh, size = aligned(given, test)
    assert size == (4, N2) and list(fresh.rows) == [1, 3] and list(fresh.values) == [3, 2]
    assert list(learnt.rows) == [0, 0, 1, 2]
    found = fit_ratings(one, two, None, files["items"], rank=1, iterations=3)
    assert found.baselines["cold_user_ratings"] == 1 and found.model.mean == 3.25
    assert found.model.users.names == ("a", "b", "c"), "d is of the test alone"


def test_features_that_say_the_same_twice_do_no_harm(files, tmp_path):
    lines = [line.split(",") for line in files["users"].read_text().splitlines()]
    twice = write(tmp_path / "users.csv", [(*line, line[1], 1) for line in lines])
    found = fit_ratings(**{**files, "users": twice}, solver="altmin", ridge=0, rank=RANK, iterations=100).summary()
    assert found["rmse"] < 1e-8


def test_ratings_from_the_shell(files, capsys):
    arguments = ["fit", str(files["train"]), "--test", str(files["test"]), "--users", str(files["users"])]
    arguments += ["--items", str(files["items"]), "--rank", "2", "--iterations", "30"]
    assert main([*arguments, "--solver", "altmin", "--set", "ridge=0.001", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["options"]["ridge"] == 0.001 and found["rmse"] < 0.1 and found["trace"][-1]["rmse"] == found["rmse"]
    assert main(arguments) == 0
    assert "rmse_cold_users" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        (["--tune"], "--tune must be left out where ratings are fitted, got ndcg@5"),
        (["--observed", "0.5"], "--observed must be left out where ratings are fitted"),
        (["--limit", "5"], "--limit must be left out where ratings are fitted, got 5"),
        (["--solver", "biases", "--rank", "3"], "--rank must be left out of biases, which have none, got 3"),
        (
            ["--regularization", "2", "--set", "ridge=3"],
            "ridge must be left out beside regularization, which is the same",
        ),
        (["--no-areas"], "--areas must be left out where ratings are fitted"),
        (["--save", "m.txt"], "--save must be a .npz file"),
        (["--rank", "9", "--solver", "altmin"], "rank must be in 0..5, the smaller number of independent features"),
        (["--rank", "99"], "rank must be in 0..30, the smaller number of users and items"),
        (["--solver", "leml-squared"], "solver must be one of"),
        (["--set", "ridges=1"], 'did you mean "ridge"?'),
        (["--set", "users=1"], "option of biased-als must be one of ridge"),
        (["--solver", "biases", "--set", "ridge=1"], "option of biases must be left out"),
    ],
)
def test_bad_settings_are_one_sentence(files, capsys, extra, sentence):
    arguments = ["fit", str(files["train"]), "--test", str(files["test"])]
    assert main([*arguments, "--users", str(files["users"]), "--items", str(files["items"]), *extra]) == 2
    message = capsys.readouterr().err
    assert sentence in message and message.count("\n") == 1


def test_a_user_without_features_is_named_by_the_line(files, tmp_path):
    test = write(tmp_path / "test.csv", [("u1", "i1", 1), ("nobody", "i1", 1)])
    with pytest.raises(InputError, match="a name that the table of features has in line 2 of test.csv, got nobody"):
        fit_ratings(files["train"], test, files["users"], files["items"])


WORDS = {
    "users.csv": [("user", "job", "age"), *((f"u{i}", ("clerk", "smith")[i % 2], 20 + i) for i in range(40))],
    "items.csv": [(f"i{j}", ("drama|war", "comedy", "war")[j % 3]) for j in range(30)],
}


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """Write ratings that jobs and genres say, of all but the user u0, and both tables."""
    folder, rng = tmp_path_factory.mktemp("words"), np.random.default_rng(2)
    rated = [
        (
            f"u{i}",
            f"i{j}",
            3 + (1.0 if (i + j) % 2 else -1.0) * (j % 3 == 1) + 0.5 * (i % 2) + 0.1 * rng.standard_normal(),
        )
        for i in range(1, 40)
        for j in range(30)
        if rng.random() < 0.5
    ]
    write(folder / "ratings.csv", [("user", "item", "rating"), *rated])
    for name, rows in WORDS.items():
        write(folder / name, rows)
    return folder


def test_words_are_read_and_know_new_members(words, tmp_path):
    found = fit_ratings(words / "ratings.csv", None, words / "users.csv", words / "items.csv")
    assert found.rows[-1]["rmse"] < 0.95 * found.baselines["rmse_biases"] and not found.remark
    assert {column for column in found.model.items.columns} == {("2", "drama"), ("2", "war"), ("2", "comedy")}
    save_model(tmp_path / "m.npz", found.model)
    model = load_model(tmp_path / "m.npz")
    # Columns are matched by name.
    rows = [("user", "age", "job"), ("x", 31, "smith"), ("y", "", "none")]
    new = model.users.read(write(tmp_path / "new.csv", rows), "user")
    pairs = [("x", "i1"), ("x", "i3"), ("y", "i1"), ("nobody", "i1"), ("u5", "unknown")]
    np.testing.assert_array_equal(model.scores(pairs, new), found.model.scores(pairs, new))
    rows = model.predict(pairs, new)
    assert [row["new"] for row in rows] == ["user"] * 4 + ["item"]
    known = model.scores([(f"u{i}", "i3") for i in range(1, 40, 2)])
    assert rows[1]["prediction"] == pytest.approx(known.mean(), abs=0.15)


def test_top_items_are_the_best_unrated(words):
    model = fit_ratings(words / "ratings.csv").model
    ratings, table = read_table(words / "ratings.csv", None, None, None, 0)
    place = ratings.user_names.index("u7")
    rated = {ratings.item_names[j] for j in table.given.columns[table.given.rows == place]}
    top = model.top("u7", 5)
    scores = model.scores([("u7", item) for item in ratings.item_names if item not in rated])
    assert not rated & {row["item"] for row in top} and [row["place"] for row in top] == [1, 2, 3, 4, 5]
    np.testing.assert_allclose([row["prediction"] for row in top], np.sort(scores)[::-1][:5])
    assert len(model.top("u7", 100)) == 30 - len(rated)
    with pytest.raises(InputError, match='user must be one of the ratings .* got u77: did you mean "u7'):
        model.top("u77")


def test_plain_ratings_in_the_shell(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["fit", str(words / "ratings.csv"), "--save", "m.npz", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["solver"] == "biased-als" and {"rmse", "rmse_biases", "rmse_mean", "remark", "tried"} <= found.keys()
    assert main(["predict", "m.npz", "--user", "u7", "--top", "3", "--out", "top.csv"]) == 0
    assert [row["place"] for row in csv.DictReader(Path("top.csv").read_text().splitlines())] == ["1", "2", "3"]
    write(tmp_path / "pairs.csv", [("user", "item"), ("u7", "i1"), ("nobody", "i1")])
    capsys.readouterr()
    assert main(["predict", "m.npz", "pairs.csv", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["predictions"]
    assert [row["new"] for row in rows] == ["", "user"]
    for arguments, sentence in (
        (["m.npz"], "FILE must be a CSV of user, item"),
        (
            ["m.npz", "pairs.csv", "--users", str(words / "users.csv")],
            "users must be left out: the model has no features",
        ),
        (["m.npz", "--user", "nobody"], "user must be one of the ratings"),
        (["m.npz", "pairs.csv", "--user", "u7"], "FILE must be left out with --user"),
        (["m.npz", "pairs.csv", "--top", "3"], "--top must be left out without --user, got 3"),
        (["m.npz", "--user", "u7", "--labels", "2"], "--labels must be left out where ratings are predicted"),
    ):
        assert main(["predict", *arguments]) == 2
        assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    "rows",
    [
        [(f"u{i}", f"i{j}", 3 + 1e-9 * i) for i in range(8) for j in range(6)],
        [("u", f"i{j}", j % 5) for j in range(40)],
        [(f"u{j}", f"i{j}", 1e12 * (j % 3)) for j in range(40)],
        [("a", "x", 1), ("b", "y", 2)],
    ],
    ids=["constant", "one user", "nobody twice", "two ratings"],
)
@pytest.mark.parametrize("solver", ["biased-als", "altmin"])
def test_ratings_that_say_little_are_biases_or_one_sentence(rows, solver, tmp_path):
    try:
        found = fit_ratings(write(tmp_path / "r.csv", rows), solver=solver)
    except InputError as error:
        assert solver == "altmin" and "take biased-als" in str(error)
        return
    assert found.rows[-1]["rmse"] <= found.baselines["rmse_biases"] * (1 + 1e-6) + 1e-9


def test_a_damaged_model_of_ratings_is_one_sentence(words, tmp_path):
    save_model(tmp_path / "m.npz", fit_ratings(words / "ratings.csv", solver="biases").model)
    arrays = dict(np.load(tmp_path / "m.npz"))
    for name, value in (
        ("estimate_users", arrays["estimate_users"][:-1]),
        ("estimate_rated", arrays["estimate_rated"] + 1000),
        ("estimate_pointer", arrays["estimate_pointer"][::-1]),
        ("estimate_mean", np.array(np.nan)),
        ("estimate_item_map", np.zeros((3, 1))),
        ("estimate_user_names", np.zeros(len(arrays["estimate_user_names"]))),
    ):
        np.savez(tmp_path / "broken.npz", **{**arrays, name: value})
        with pytest.raises(InputError, match="^model must be a whole file"):
            load_model(tmp_path / "broken.npz")


@pytest.mark.parametrize(
    ("solver", "rmse", "sentence"),
    [("altmin", 1.2, "worse than the mean"), ("altmin", 0.9, "worse than biases"), ("biases", 0.8, "")],
)
def test_one_sentence_where_a_fit_is_below_a_line(words, solver, rmse, sentence):
    found = fit_ratings(words / "ratings.csv", solver="biases")
    found.solver, found.rank, found.baselines = solver, 1, {"rmse_mean": 1.0, "rmse_biases": 0.8}
    found.rows[-1]["rmse"] = rmse
    assert sentence in found.remark and bool(found.remark) == bool(sentence)
    assert ("take solver biases" in found.remark) == (rmse > 0.8)
    found.baselines = {"rmse_mean": 0.7 * rmse, "rmse_biases": rmse}
    assert "worse than the mean" in found.remark and found.remark.endswith("too few for biases, or have none.")


@pytest.mark.parametrize(("duplicates", "value"), [("last", 5.0), ("mean", 4.0)])
def test_the_last_or_the_mean_of_several_ratings_of_a_pair_counts(duplicates, value, tmp_path, capsys):
    path = tmp_path / "ratings.csv"
    path.write_text("user,item,rating\nb,j,3\na,i,2\nb,j,4\na,j,1\nb,j,5\n")
    ratings = datasets.read_ratings(path, duplicates=duplicates)
    assert list(zip(ratings.rows, ratings.columns, ratings.values, strict=True)) == [
        (0, 0, value),
        (1, 0, 1.0),
        (1, 1, 2.0),
    ]
    with pytest.raises(InputError, match="the same again: keep one"):
        datasets.read_ratings(path)
    with pytest.raises(InputError, match="duplicates must be last or mean, got first"):
        datasets.read_ratings(path, duplicates="first")
    assert main(["fit", str(path), "--ratings", "--duplicates", duplicates, "--solver", "biases"]) == 0
