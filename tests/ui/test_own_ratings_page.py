"""The part of *own data* for ratings, on the real engine: uploads, fits beside the baselines, predictions, files."""

import csv
import io
from functools import partial
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from lrlab.fits.fitted_model import load_model
from lrlab.fits.fitting_ratings import fit_ratings
from lrlab.ui.own_data import ratings_controls, ratings_page, ratings_predictions
from tests.fits.implicit_data import pairs_of
from tests.ui import driving
from tests.ui.driving import drawn, errors

PAGE = str(Path(__file__).parents[2] / "pages" / "own_data.py")
finished = partial(driving.finished, page="own_ratings")


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def rating_rows(n1=30, n2=20):
    """Return rows user, item, rating: half of all pairs, what jobs and genres say."""
    pairs = [(i, j) for i in range(n1) for j in range(n2) if (7 * i + 3 * j + i * j) % 2]
    return "\n".join(f"u{i},i{j},{3 + (i % 2) * (1 if j % 3 else -1) + 0.1 * ((i * j) % 5):g}" for i, j in pairs)


FILES = {
    "ratings": "user,item,rating\n" + rating_rows(),
    "users": "user,job\n" + "\n".join(f"u{i},{('smith', 'clerk')[i % 2]}" for i in range(30)),
    "items": "item,genre\n" + "\n".join(f"i{j},{('war', 'crime', 'drama|crime')[j % 3]}" for j in range(20)),
}


def opened(**address):
    at = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in ({"data": "ratings", "ratings.iterations": "10"} | address).items():
        at.query_params[name] = value
    return drawn(at.run())


def uploaded(at, part, content):
    at.file_uploader(key=f"own_data.{part}").set_value((f"{part}.csv", content.encode(), "text/csv"))
    return drawn(at.run())


def of_files(**address):
    at = opened(**{"from": "upload"} | address)
    for part, content in FILES.items():
        at = uploaded(at, part, content)
    return at


def test_a_sample_is_fitted_beside_the_baselines():
    at = finished(opened(**{"ratings.solvers": "biased-als,altmin"}))
    table = at.dataframe[0].value
    assert list(table["solver"][:2]) == list(ratings_page.BASELINES.values())
    assert table["rmse"][2] < table["rmse"][1] < table["rmse"][0] and table["over biases"][1] == 0
    assert table["solver"][3].startswith("Alternating minimisation")
    assert "items by 200 users" in " ".join(caption.value for caption in at.caption)
    assert not errors(at)


@pytest.mark.parametrize(
    ("address", "begun"),
    [
        ({"data": "ratings", "ratings.iterations": "10"}, "own_ratings"),
        ({"data": "answers"}, "own_measurements"),
        ({"data": "rows"}, "own_data"),
    ],
)
def test_an_address_with_run_begins_the_run_of_the_kind_that_it_shows(address, begun):
    at = opened(**address, run="1")
    pages = ("own_data", "own_ratings", "own_measurements")
    assert [page for page in pages if f"{page}:run" in at.session_state] == [begun]
    at.session_state[f"{begun}:run"].cancel()


def test_files_are_fitted_and_predict(tmp_path, monkeypatch):
    at = finished(of_files(**{"ratings.user": "u3", "ratings.top": "4"}))
    assert not errors(at)
    assert "3 features of items" in " ".join(caption.value for caption in at.caption)
    [fit] = at.session_state["own_ratings:run"].results.values()
    best = at.dataframe[1].value
    expected = fit.model.top("u3", 4)
    assert list(best["item"]) == [row["item"] for row in expected] and len(best) <= 4
    at = uploaded(at, "pairs", "u3,i1\nnew,i2\nelse,i2\n")
    at = uploaded(at, "new_users", "user,job\nnew,clerk\n")
    predictions = at.dataframe[2].value
    assert list(predictions["new"]) == ["", "user", "user"]
    assert predictions["prediction"][1] != predictions["prediction"][2], "one is known by its job"
    (tmp_path / "m.npz").write_bytes(ratings_predictions.as_npz(fit.model))
    assert load_model(tmp_path / "m.npz").top("u3", 4) == expected
    rows = list(csv.DictReader(io.StringIO(ratings_predictions.every_user(fit.model, 2).decode())))
    assert {row["user"] for row in rows} <= {f"u{i}" for i in range(30)} and rows[0]["place"] == "1"
    at.text_input(key="own_data.ratings.user").set_value("nobody").run()
    assert "user must be one of the ratings or of the table of features, got nobody" in errors(drawn(at))[0]


def test_the_code_gives_the_same_fit(tmp_path, monkeypatch, capsys):
    for part, content in FILES.items():
        (tmp_path / f"{part}.csv").write_text(content)
    monkeypatch.chdir(tmp_path)
    at = finished(of_files(**{"ratings.seed": "4", "ratings.rank": "2"}))
    [fit] = at.session_state["own_ratings:run"].results.values()
    plan = at.session_state["own_ratings:about"]
    names = {}
    exec(ratings_controls.python(plan), names)
    assert names["result"].rows[-1]["rmse"] == fit.rows[-1]["rmse"]
    assert load_model("biased-als.npz").top("u1", 1) == fit.model.top("u1", 1)
    words = "--users users.csv --items items.csv --solver biased-als --rank 2 --iterations 10 --seed 4"
    assert words in ratings_controls.shell(plan)
    again = fit_ratings("ratings.csv", None, "users.csv", "items.csv", rank=2, iterations=10, seed=4)
    assert again.rows[-1]["rmse"] == fit.rows[-1]["rmse"]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("part", "content", "sentence"),
    [
        ("ratings", "u1,i1,1\nu1,j\n", "file must be ratings CSV with user, item, rating in line 2 of ratings.csv"),
        ("users", "user,job\nu1,smith\nu2,clerk\n", "user features CSV with a number, or a word that two users share"),
        ("items", "item,genre\ni0,1\n", "a name that the table of features has"),
        ("later", "u1,i1,good\nu1,i2,bad\n", "a number in column rating in line 2 of later.csv, got bad"),
    ],
)
def test_a_broken_file_is_one_sentence(part, content, sentence):
    at = uploaded(of_files(), part, content)
    assert any(sentence in error for error in errors(at)), errors(at)
    assert at.button(key="own_ratings-run").disabled


GOOD = "\n".join(f"u{k},i{k % 5},{k % 3}" for k in range(20))
BROKEN = {
    "empty": b"",
    "blank": b"\n\n",
    "a heading alone": b"user,item,rating\n",
    "one column": b"u\nv",
    "a short row": f"{GOOD}\nu,i".encode(),
    "pairs and a rating": b"u,i\nu,j,3",
    "pairs and one": b"u,i\nu",
    "a word": f"{GOOD}\nu,i,good".encode(),
    "a gap": f"{GOOD}\nu,i,".encode(),
    "infinite": f"{GOOD}\nu,i,inf".encode(),
    "nan": f"{GOOD}\nu,i,nan".encode(),
    "huge": f"{GOOD}\nu,i,1e200".encode(),
    "overflow": f"{GOOD}\nu,i,1e999".encode(),
    "twice": f"{GOOD}\nu0,i0,3".encode(),
    "an open quote": f'{GOOD}\n"u,i,3'.encode(),
    "nul": f"{GOOD}\nu,\0,3".encode(),
    "latin": f"{GOOD}\n".encode() + b"\xe9\xff,i,3",
    "binary": bytes(range(256)) * 20,
    "packed twice": b"\x1f\x8b\x08damaged",
    "zip": b"PK\x03\x04" + GOOD.encode(),
    "one line": b"1," * 200_001,
}


@pytest.mark.slow
def test_each_hostile_file_of_ratings_is_one_sentence():
    assert len(BROKEN) >= 20
    at = opened(**{"from": "upload"})
    for name, content in BROKEN.items():
        at.file_uploader(key="own_data.ratings").set_value(("ratings.csv", content, "text/csv"))
        at = drawn(at.run())
        sentences = errors(at)
        assert len(sentences) == 1 and " must be " in sentences[0] and len(sentences[0]) < 700, (name, sentences)
        assert at.button(key="own_ratings-run").disabled, name


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ({"ratings.rank": "-1"}, "rank must be a whole number in 0..1000"),
        ({"ratings.solvers": "biased-asl"}, 'did you mean "biased-als"?'),
        ({"ratings.solvers": ""}, "solvers must be at least one"),
    ],
)
def test_bad_settings_are_one_sentence(address, sentence):
    assert any(sentence in error for error in errors(opened(**address)))


def test_a_solver_that_refuses_says_why_and_the_others_stay():
    at = finished(of_files(**{"ratings.solvers": "soft-impute,biases"}))
    assert any("one that uses features" in error for error in errors(at))
    assert "biases" in " ".join(at.dataframe[0].value["solver"]).lower()


def test_without_a_file_the_page_requests_one():
    at = opened(**{"from": "upload"})
    assert "Upload a CSV of ratings" in at.info[0].value and at.button(key="own_ratings-run").disabled


def test_pairs_without_ratings_are_ranked_beside_popularity():
    at = uploaded(opened(**{"from": "upload"}), "ratings", "user,item\n" + "\n".join(map(",".join, pairs_of(41_032))))
    assert "pairs without ratings" in " ".join(caption.value for caption in at.caption)
    at = finished(at)
    assert not errors(at)
    table = at.dataframe[0].value
    assert list(table["solver"]) == ["Popularity alone", ratings_controls.OWN_TITLES["weighted-als"]]
    assert table["recall@10"][1] > 1.5 * table["recall@10"][0] and table["precision@10"][1] > table["precision@10"][0]
    assert len(at.dataframe[1].value) == 10
