"""Ratings with features of users and items: what is learnt of them, on members without ratings, and what is refused."""

import json

import numpy as np
import pytest

from lrlab import catalog, datasets
from lrlab.__main__ import main
from lrlab.fits.fitting_ratings import fit_ratings
from lrlab.models.completion import InductiveCompletion
from lrlab.models.ratings_problem import RatingsProblem, aligned
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
    found = fit_ratings(**files, rank=RANK, iterations=100).summary()
    assert found["solver"] == "altmin" and found["rank"] == RANK
    assert max(found[name] for name in ("rmse", "rmse_cold_users", "rmse_cold_items", "train_rmse")) < 1e-8
    assert found["rmse_mean"] > 1 and 0 < found["cold_user_ratings"] < found["test_ratings"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_of_completion_does_better_than_the_mean(files, solver):
    found = fit_ratings(**files, solver=solver, rank=RANK, iterations=60).summary()
    assert found["rmse"] < 0.7 * found["rmse_mean"] and found["iterations"] == len(found["trace"])


def test_solvers_without_features_are_refused_where_there_are_some(files):
    with pytest.raises(
        InputError, match="solver must be one that uses features, as they are given, got soft-impute: take altmin"
    ):
        fit_ratings(**files, solver="soft-impute", rank=RANK)
    found = fit_ratings(files["train"], files["test"], solver="soft-impute", rank=RANK, iterations=30).summary()
    assert found["rmse"] < found["rmse_mean"] and found["cold_user_ratings"] > 0


def test_scores_are_those_of_the_predictions(files):
    found = fit_ratings(**files, rank=RANK, iterations=1)
    given, test = (datasets.read_ratings(files[part], files["users"], files["items"]) for part in ("train", "test"))
    problem = RatingsProblem(*aligned(given, test)[:2], given.X, given.Y, given.table, RANK)
    off = problem.predict(found.estimate, problem.test) - test.values
    cold = [name in {"u0", "u1", "u2"} for name in np.array(test.user_names)[test.rows]]
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
    problem = RatingsProblem(learnt, fresh, None, given.Y, size, 0)
    assert list(problem.cold_users) == [False, True] and problem.rank == 4 and problem.mean == 3.25
    found = fit_ratings(one, two, None, files["items"], rank=1, iterations=3, ridge=0.1)
    assert found.rows[-1]["rmse_cold_users"] == pytest.approx(abs(2 - 3.25)), "nothing is known of d but the mean"


def test_features_that_say_the_same_twice_do_no_harm(files, tmp_path):
    lines = [line.split(",") for line in files["users"].read_text().splitlines()]
    twice = write(tmp_path / "users.csv", [(*line, line[1], 1) for line in lines])
    found = fit_ratings(**{**files, "users": twice}, rank=RANK, iterations=100).summary()
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
        (["--save", "m.npz"], "--save must be left out where ratings are fitted"),
        (["--rank", "9"], "rank must be in 0..5, the smaller number of independent features"),
        (["--solver", "leml-squared"], "solver must be one of"),
        (["--set", "ridges=1"], 'did you mean "ridge"?'),
        (["--set", "users=1"], "option of altmin must be one of inner, ridge"),
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
