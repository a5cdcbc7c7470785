"""Presets of kind `table` and published data sets: what is run, and what stands beside the paper's numbers."""

import numpy as np
import pytest

from benchmarks import ship
from lrlab import presets, solve
from lrlab.data.dataset import Dataset
from lrlab.engine.results import LocalResults, collect
from lrlab.models.multilabel import Multilabel
from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.parameters import InputError
from lrlab.presets import claims, table
from lrlab.presets.definition import read
from lrlab.presets.evidence import Samples
from lrlab.presets.papers import SETS, located, presence
from lrlab.presets.table import redrawn
from tests.data.cases import save_npz

TEXT = """
title = "t"
reference = "r"
explanation = "e"
model = "multilabel"
trials = 2
tune_by = "precision@3"
data = ["meadow", "forest"]
settings = { max_iter = 3 }
figure = { kind = "table" }
series = [
  { label = "LEML", solver = "leml-squared", settings = { inner = "cg" } },
  { label = "full", solver = "binary-relevance", full_rank = true },
]
panels = [
  { title = "over the rank", metric = "precision@3", axis = "share", rows = { data = "meadow" } },
  { title = "one rank", metric = "auc", axis = "data", rows = { share = 0.5 } },
  { title = "nothing", metric = "auc", axis = "share", rows = { data = "forest" } },
]
[paper]
columns = ["data", "series", "share", "observed", "precision@3", "auc"]
rows = [
  ["meadow", "LEML", 0.25, 0.5, 40.0, ""],
  ["meadow", "LEML", 0.5, 0.5, 50.0, 0.9],
  ["meadow", "full", 0.25, 0.5, "", 0.8],
  ["forest", "LEML", 0.5, 0.5, 1.0, 0.5],
]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write one small data set under another spelling of its name, and return the folder."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "meadow").mkdir()
    problem = Multilabel(n=200, d=9, labels=8, rank=2, per_row=2, seed=3).build()
    for part, X, Y in (("train", problem.X, problem.Y), ("test", problem.X_test, problem.Y_test)):
        save_npz(folder / "meadow" / f"Meadow-{part}.npz", Dataset(X=X, Y=Y))
    return folder


def test_files_are_found_by_name_in_any_spelling_and_place(folder, tmp_path, monkeypatch):
    found = located(folder, ("forest", "meadow"))
    assert list(found) == ["meadow"] and found["meadow"].train.name == "Meadow-train.npz"
    assert found["meadow"].test.name == "Meadow-test.npz" and found["meadow"].labels is None
    for name in ("pond-sparse-train.svm.gz", "Pond_test_sparse.arff", "pond.xml", "ponder.xml", "pond-train.doc"):
        (tmp_path / name).touch()
    monkeypatch.setenv("LRLAB_DATA", str(tmp_path))
    pond = located(None, ("pond",))["pond"]
    assert [path.name for path in pond] == ["pond-sparse-train.svm.gz", "Pond_test_sparse.arff", "pond.xml"]
    assert presence(folder, ("meadow", "forest")) == {"meadow": found["meadow"], "forest": None}
    assert presence(tmp_path / "none", ("bibtex",)) == {"bibtex": None}
    assert {name for preset in presets.names() for name in presets.load(preset).data} <= SETS.keys()


def test_a_folder_without_them_is_refused_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("LRLAB_DATA", raising=False)
    for given, sentence in (
        (None, "data must be a folder with data sets, got none: name one by --data or LRLAB_DATA"),
        (tmp_path / "no", "data must be a folder with data sets, got "),
        (tmp_path, "data must be a folder with one of pond, lake, got .*: put pond-train.arff"),
    ):
        with pytest.raises(InputError, match=sentence):
            located(given, ("pond", "lake"))


def test_a_preset_that_draws_its_own_data_takes_no_folder(tmp_path):
    with pytest.raises(InputError, match="data must be nothing, as jain2013-fig1c simulates its data"):
        presets.plan(presets.load("jain2013-fig1c"), data=tmp_path)


@pytest.mark.slow
def test_our_numbers_stand_beside_the_paper_s(folder):
    plan = table.plan(read("small", TEXT), data=folder)
    result = plan.finish(collect(LocalResults(plan.function, plan.items)))
    assert len(plan.items) == 6, "forest is not there"
    keys = ["series", "share", "metric"]
    points = result.table.dropna(subset=keys).set_index(keys).sort_index()
    row, trials = points.loc[("LEML", 0.25, "precision@3")], result.trials
    own = trials[(trials["series"] == "LEML") & (trials["share"] == 0.25)]
    assert row["paper"] == 40.0 and row["ours"] == pytest.approx(own["precision@3"].mean()) and len(own) == 2
    assert set(own["rank"]) == {2} and (own["regularization"] > 0).all() and set(own["trial"]) == {0, 1}


@pytest.mark.slow
def test_other_sets_of_a_folder_are_fitted_alike_and_refused_fits_left_out(tmp_path):
    """Of a set that the paper does not have, with fewer features than labels; CPLST refuses missing labels."""
    problem = Multilabel(n=60, d=4, labels=8, rank=2, per_row=2, seed=3).build()
    for part, X, Y in (("train", problem.X, problem.Y), ("test", problem.X_test, problem.Y_test)):
        save_npz(tmp_path / f"Pond_{part}.npz", Dataset(X=X, Y=Y))
    text = TEXT.replace('solver = "binary-relevance"', 'solver = "cplst"').replace("0.5, 0.5,", "1.0, 0.5,")
    plan = table.plan(read("t", text), trials=1, data=tmp_path)
    result = plan.finish([plan.function(item) for item in plan.items])
    assert {item.data for item in plan.items} == {"pond"} and set(result.table["data"]) == {"pond"}
    own = result.table[result.table["series"] == "LEML"]
    assert own["ours"].notna().all() and own["paper"].isna().all()
    assert sorted(result.trials.loc[result.trials["refused"] == "", "rank"]) == [2, 4]
    assert "over the rank" in [panel.title for panel in result.panels]
    for panel in result.panels:
        assert "Not in the folder: meadow, forest." in panel.caption and "printed" not in panel.caption
        assert "Left out: cplst on pond (observed must be 1 for this solver" in panel.caption


@pytest.mark.parametrize(
    ("ours", "numbers", "order"),
    [
        ([60.5, 48.9, 40.2], "reproduced", "reproduced"),
        ([60.5, 58.0, 40.2], "better than printed", "not decided"),
        ([71.0, 62.0, 51.0], "better than printed", "reproduced"),
        ([60.5, 42.0, 47.2], "not reproduced", "not reproduced"),
        ([40.2, 48.9, 60.5], "not reproduced", "not reproduced"),
    ],
)
def test_a_table_ends_with_verdicts_on_its_numbers_on_both_sides_and_on_the_order(ours, numbers, order):
    """With blocks of test rows that give a percentage to within a point."""
    names = ["a", "b", "c"]
    held = Samples({name: {0.4: np.array([value])} for name, value in zip(names, ours, strict=True)})
    # Two blocks at c - e and c + e have the standard error e.
    blocks = {
        name: {0.4: np.array([value - sign, value + sign])}
        for name, value, sign in zip(names, ours, (1, -1, 1), strict=True)
    }
    held = held._replace(blocks=blocks)
    printed = dict(zip(names, ({0.4: value, 0.6: np.nan} for value in (60.0, 50.0, 40.0)), strict=True))
    found = claims.on_numbers(printed, held, best=1)
    assert [verdict.verdict for verdict in found] == [numbers, order]
    assert claims.on_numbers({"a": {0.4: np.nan}}, held) == []
    unsure = held._replace(blocks={})
    assert {verdict.verdict for verdict in claims.on_numbers(printed, unsure)} == {"not decided"}, "one trial"
    small = held._replace(blocks={name: {0.4: own[0.4].mean() + np.array([-8.0, 8.0])} for name, own in blocks.items()})
    assert claims.on_numbers(printed, small)[0].verdict in ("not decided", "not reproduced"), "40 test rows"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["yu2014-table5", "yu2014-tables11-15"])
@pytest.mark.parametrize("trials", [1, 3])
def test_of_hidden_labels_one_draw_decides_nothing(name, trials):
    """Numbers far from all printed ones; rows of the paper repeat methods of full rank for each rank."""
    plan = presets.plan(presets.load(name), data=ship.names_alone(["bibtex"]))
    scores = {"precision@1": 99.0, "precision@3": 98.0, "precision@5": 97.0, "hamming": 0.5, "auc": 0.999}
    fit = {"data": "bibtex", "refused": "", "trace": [], "blocks": [scores] * 20, **scores}
    results = [
        {"solver": item.solver, "trial": item.trial, **fit} if item.trial < trials else None for item in plan.items
    ]
    words = {verdict.verdict for panel in plan.finish(results).panels for verdict in panel.judged}
    assert words == {"not decided"} if trials == 1 else "not reproduced" in words and "reproduced" not in words


def test_differences_on_the_same_test_rows_are_known_better_than_the_numbers():
    """Blocks of test rows that are hard are so for all methods."""
    hard = np.random.default_rng(0).normal(0.0, 5.0, 20)
    held = Samples({"a": {1.0: np.array([50.0])}, "b": {1.0: np.array([52.0])}})
    rule = {"rule": "each", "lower": ["a"], "higher": ["b"]}
    apart = {"a": {1.0: 50.0 + hard}, "b": {1.0: 52.0 + hard[::-1]}}
    assert claims.judge(rule, held._replace(blocks=apart)).holds is None
    paired = {"a": {1.0: 50.0 + hard}, "b": {1.0: 52.0 + hard + np.linspace(-0.5, 0.5, 20)}}
    assert claims.judge(rule, held._replace(blocks=paired)).holds


COLUMNS = """
title = "t"
reference = "r"
explanation = "e"
trials = 2
model = "one-bit-multilabel"
settings = { max_iter = 3 }
spec = { m = 400, d1 = 8, d2 = 5, rank = 2 }
figure = { kind = "table" }
columns = [
  { label = "quiet" }, { label = "loud", spec = { noise = 0.5 }, settings = { LEML = { regularization = 2.0 } } },
]
series = [
  { label = "power", solver = "one-bit-power" },
  { label = "LEML", solver = "leml-squared", settings = { regularization = 9.0 } },
]
panels = [
  { title = "area", metric = "auc", metric_title = "AUC (%)", scale = 100 },
  { title = "error", metric = "error", metric_title = "error" },
]
[paper]
columns = ["column", "series", "auc"]
rows = [["quiet", "power", 99.0], ["quiet", "LEML", ""], ["loud", "power", 95.5], ["loud", "LEML", ""]]
"""


@pytest.fixture(scope="module")
def result():
    plan = table.plan(read("small", COLUMNS))
    assert len(plan.items) == 2 * 2 * 2
    return plan.finish(collect(LocalResults(plan.function, plan.items)))


def test_runs_are_those_of_the_file_and_solvers_see_the_same_data():
    items = table.plan(read("small", COLUMNS)).items
    specs = {item.seeded.spec for item in items}
    assert len(specs) == 4 and {spec.noise for spec in specs} == {0.0, 0.5} and {spec.m for spec in specs} == {400}
    strengths = [dict(item.job.options)["regularization"] for item in items if item.job.solver == "leml-squared"]
    assert strengths == [9.0, 2.0, 9.0, 2.0] and {item.job.limits.max_iter for item in items} == {3}


def test_ours_stand_beside_what_was_printed(result):
    keys = ["panel", "series", "column"]
    rows, trials = result.table.dropna(subset=keys).set_index(keys).sort_index(), result.trials
    own = trials[(trials["series"] == "power") & (trials["column"] == "loud")]
    row = rows.loc[("area", "power", "loud")]
    assert row["ours"] == pytest.approx(100 * own["auc"].mean()) and row["spread"] == pytest.approx(
        100 * own["auc"].std()
    )
    judged = result.table[result.table["level"] == "claim"]
    assert list(judged["panel"]) == ["area"] and judged["verdict"].iloc[0] in result.panels[0].caption
    assert row["paper"] == 95.5 and row["difference"] == pytest.approx(row["ours"] - 95.5) and row["trials"] == 2
    assert np.isnan(rows.loc[("area", "LEML", "loud"), "paper"]) and np.isnan(
        rows.loc[("error", "power", "loud"), "paper"]
    )
    assert rows.loc[("error", "power", "loud"), "ours"] == pytest.approx(own["error"].mean())
    seed = int(own["seed"].iloc[0])
    again = solve(OneBitMultilabel(m=400, d1=8, d2=5, rank=2, noise=0.5, seed=seed), "one-bit-power", max_iter=3)
    assert again.metrics["auc"] == pytest.approx(own["auc"].iloc[0])


NUMBERS = [name for name in presets.names() if "rows" in presets.load(name).content.get("paper", {})]


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_that_is_drawn_is_printed_and_every_printed_one_of_a_panel_is_drawn(name):
    content = presets.load(name).content
    for panel in content["panels"]:
        figure, column = redrawn(name).get(panel["title"]), panel.get("paper", panel["metric"])
        traces = figure.data if figure else ()
        drawn = {float(y) for trace in traces for y in trace.y}
        assert all(trace.name.endswith(", paper") for trace in traces)
        columns, where = content["paper"]["columns"], panel.get("rows", {})
        rows = [dict(zip(columns, row, strict=True)) for row in content["paper"]["rows"]]
        full = {one["label"] for one in content["series"] if one.get("full_rank")}
        own = [
            row for row in rows
            if all(row[key] == value or (key == "share" and row["series"] in full) for key, value in where.items())
        ]  # fmt: skip
        assert drawn == {float(row[column]) for row in own if row.get(column, "") != ""}
