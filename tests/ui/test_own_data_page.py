"""The page *own data*, on the real engine: uploads, runs beside the baseline, tuning, what is offered."""

import csv
import gc
import io
import re
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from streamlit.testing.v1 import AppTest

from lrlab import datasets
from lrlab.engine.engine import Engine, get_engine
from lrlab.fits.fitted_model import load_model
from lrlab.fits.fitting import tune
from lrlab.fits.own_files import count_auc_rows
from lrlab.fits.tuned_run import TunedRun
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.ui.own_data import comparison, fit_controls, predictions, results_view, row_source
from tests.ui import driving
from tests.ui.driving import drawn, errors

PAGE = str(Path(__file__).parents[2] / "pages" / "own_data.py")
finished = partial(driving.finished, page="own_data")
FAST = {"iterations": "3"}


# Pages find the engine of the session, warm.
pytestmark = pytest.mark.usefixtures("engine")


def arff(n=60, labels=4, seed=0, broken=0):
    """Return a file of rows; of the row number `broken`, counted from 1, a field is no number."""
    problem = Multilabel(n=n, d=6, labels=labels, rank=2, per_row=1, noise=0.2, seed=seed).build()
    head = [f"@attribute f{j} numeric" for j in range(6)] + [f"@attribute 'a label {j}' {{0,1}}" for j in range(labels)]
    values = np.hstack([problem.X, problem.Y.toarray()]).tolist()
    rows = [",".join(f"{x:g}" for x in row) for row in values]
    if broken:
        rows[broken - 1] = "x" + rows[broken - 1]
    return "\n".join(["@relation music", *head, "@data", *rows]).encode()


def opened(**address):
    at = AppTest.from_file(PAGE, default_timeout=60)
    for name, value in (FAST | address).items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def uploaded(at, part, name, content):
    at.file_uploader(key=f"own_data.{part}").set_value((name, content, "application/octet-stream"))
    return drawn(at.run())


def of_files(**address):
    at = opened(rows="upload", **address)
    at.text_input(key="own_data.labels").set_value("last:4").run()
    return uploaded(at, "train", "music.arff", arff())


@pytest.mark.slow
def test_a_sample_is_fitted_and_compared_with_the_baseline():
    at = finished(opened())
    runs = at.session_state["own_data:run"].runs
    assert [run.job.solver for run in runs] == ["leml-squared", "binary-relevance"]
    assert all(run.state == "done" and not run.trace.history and run.trace.estimate is not None for run in runs)
    table = at.dataframe[0].value
    last = runs[0].trace.rows[-1]
    assert list(table["precision_3"])[:2] == [run.trace.rows[-1]["precision_3"] for run in runs]
    rows = at.session_state["own_data:rows"][1]
    assert list(table["solver"])[2] == "Label frequencies" and table["auc"][2] == rows.facts.floor["auc"] < last["auc"]
    assert table["lead"][0] == pytest.approx(last["precision_3"] - table["precision_3"][1]) and table["lead"][1] == 0
    assert {"train_precision_3", "train_auc"} <= set(last)
    assert list(at.dataframe[1].value["label"])[0].startswith("label ")


def test_the_baseline_is_always_among_the_solvers():
    at = finished(opened(solvers="plst"))
    assert [run.job.solver for run in at.session_state["own_data:run"].runs] == ["plst", "binary-relevance"]


def test_the_uncertainty_of_an_auc_is_over_the_rows_that_have_one():
    at = finished(opened(show="auc"))
    runs, of = at.session_state["own_data:run"].runs, at.session_state["own_data:about"].rows
    test = of.test
    on = (np.arange(test.n) < 20)[:, np.newaxis] & (test.Y.toarray() > 0)
    few = replace(of, test=replace(test, Y=csr_array(on.astype(test.Y.dtype))))
    defined = (few.test.Y.sum(axis=1) > 0).sum()
    assert 0 < defined <= 20 < test.n
    wide, narrow = (comparison.comparison(runs, "auc", rows)["within"][0] for rows in (few, of))
    assert wide / narrow == pytest.approx((count_auc_rows(test) / defined) ** 0.5)
    none = replace(of, test=replace(test, Y=csr_array(test.Y.shape, dtype=test.Y.dtype)))
    assert not comparison.comparison(runs, "auc", none)[["lead", "within"]].notna().any(axis=None)


@pytest.mark.parametrize(
    ("measure", "lead", "words"),
    [
        ("auc", 0.05, "A is better than binary relevance: +0.050 ± 0.020"),
        ("auc", 0.01, "Which is better is open: A against binary relevance, +0.010 ± 0.020"),
        ("auc", -0.05, "Binary relevance is better than each other solver; the nearest is A: -0.050 ± 0.020"),
        ("hamming", -0.05, "A is better than binary relevance: -0.050 ± 0.020"),
        ("auc", None, "No lead over binary relevance is known."),
    ],
)
def test_a_lead_is_said_where_it_is_larger_than_its_uncertainty(measure, lead, words):
    within = None if lead is None else 0.02
    rows = [("A", lead, within), ("Binary relevance", 0.0, None), ("Label frequencies", -0.4, 0.02)]
    table = pd.DataFrame(rows, columns=["solver", "lead", "within"])
    assert comparison.led(table, measure).startswith(words)


def test_files_are_read_shown_and_fitted():
    at = finished(of_files(observed="0.8", seed="3"))
    assert not errors(at)
    words = " ".join(caption.value for caption in at.caption)
    assert "music.arff: 42 training rows, 18 test rows; 6 features, 100% of them not zero; 4 labels, 1 per row" in words
    rows = at.session_state["own_data:about"].rows
    assert rows.names == tuple(f"a label {j}" for j in range(4))
    assert at.session_state["own_data:run"].runs[0].job.spec.kept == 0.8
    assert not list(rows.folder.path.glob("train/*"))
    new = uploaded(at, "test", "more.arff", arff(n=30, seed=1))
    assert any("music.arff: 60 training rows, 30 test rows" in caption.value for caption in new.caption)
    assert at.session_state["own_data:about"].rows is rows, "what was run is kept"


@pytest.mark.parametrize(("labels", "most"), [(4, 1), (6, 3), (10, 5), (24, 5), (None, 5)])
def test_measures_of_the_first_labels_are_offered_where_there_are_twice_as_many(labels, most):
    firsts = {name: int(name[-1]) for name in comparison.measures_of(labels) if name[-1].isdecimal()}
    assert max(firsts.values()) == most and {"hamming", "auc"} <= set(comparison.measures_of(labels))


def test_a_fit_without_scaling_says_that_features_differ_too_much():
    rows = [row.split(",") for row in arff().decode().split("@data\n")[1].split("\n")]
    wide = "\n".join(",".join([row[0], f"{float(row[1]) * 1e8:g}", *row[2:]]) for row in rows)
    at = opened(rows="upload", scaling="none")
    at.text_input(key="own_data.labels").set_value("last:4").run()
    at = finished(uploaded(at, "train", "wide.arff", arff().split(b"@data\n")[0] + b"@data\n" + wide.encode()))
    assert any("Features differ in size by a factor of" in caption.value for caption in at.caption)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("music.arff", arff(broken=7), "file must be ARFF with a number .*in line 19 of music.arff, got x"),
        ("music.csv", b"a,b,c\n1,2,0\n1,2\n", "file must be CSV with 3 fields in line 3 of music.csv, got 2 fields"),
        ("music.npz", b"PK, but no archive", "file must be a whole .npz of plain arrays"),
        ("../../music.csv", b"a,b\n1,x\n", "label.* in line 2 of music.csv"),
    ],
)
def test_the_error_of_a_broken_file_names_the_line_and_input_is_not_lost(name, content, sentence):
    at = finished(of_files())
    run, rows = at.session_state["own_data:run"], at.session_state["own_data:rows"]
    at.text_input(key="own_data.labels").set_value("last:1").run()
    at = uploaded(at, "train", name, content)
    [message] = errors(at)
    assert re.search(sentence, message), message
    assert at.session_state["own_data:run"] is run and len(at.dataframe[0].value) == 3
    assert at.button(key="own_data-run").disabled
    at.text_input(key="own_data.labels").set_value("last:4").run()
    at = uploaded(at, "train", "music.arff", arff())
    assert not errors(at) and not at.button(key="own_data-run").disabled
    assert at.session_state["own_data:rows"][1].columns.L == rows[1].columns.L


def test_what_is_typed_as_labels_is_never_a_path_of_the_server():
    at = of_files()
    at.text_input(key="own_data.labels").set_value("/etc/hostname").run()
    [message] = errors(drawn(at))
    assert "the name of a column of the data file" in message and "got /etc/hostname" in message
    at.text_input(key="own_data.labels").set_value("a label 1, a label 3").run()
    assert not errors(drawn(at)) and at.session_state["own_data:rows"][1].names == ("a label 1", "a label 3")
    at.text_input(key="own_data.labels").set_value("a label 1,,").run()
    assert "labels must be an XML file" in errors(drawn(at))[0]


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ({"rank": "30"}, "rank must be in 0..24, the smaller number of features and labels, got 30"),
        ({"observed": "0"}, "observed must be a number in 0.001..1"),
        ({"iterations": "0"}, "iterations must be a whole number in 1..1000"),
        ({"metric": "hammingg", "settings": "tuned"}, 'did you mean "hamming"?'),
        ({"solvers": "lemll"}, "solvers must be some of"),
    ],
)
def test_bad_settings_are_one_sentence(address, sentence):
    at = opened(**address)
    assert any(sentence in error for error in errors(at)), errors(at)


def test_without_a_file_the_page_requests_one():
    at = opened(rows="upload")
    assert "Upload a file of training rows" in at.info[0].value and at.button(key="own_data-run").disabled
    assert not errors(at)


def test_a_file_whose_labels_nobody_has_said_leaves_the_old_result_with_a_note():
    at = finished(opened())
    at.button_group(key="own_data.rows").set_value("upload").run()
    at = uploaded(at, "train", "mine.csv", b"a,b,c\n" + b"1,2,0\n2,1,1\n" * 20)
    assert [info.value.split("?")[0] for info in at.info] == ["Which columns of mine.csv are labels"]
    assert "**The rows or settings have changed since this run: press Run.**" in [one.value for one in at.caption]


def test_a_remark_is_bold_where_it_should_be_and_a_title_is_text():
    entry = SimpleNamespace(title="LEML_*, squared loss")
    runs = [SimpleNamespace(job=SimpleNamespace(solver="own", entry=entry), trace=SimpleNamespace(rows=[{"auc": 0.5}]))]
    [remark] = comparison.remarks(runs, {"auc": 0.8})
    assert remark.startswith(r"**LEML\_\*, squared loss**: The AUC, 0.500, is below")


@pytest.mark.slow
def test_solvers_are_tuned_alike_and_then_fitted():
    at = finished(opened(settings="tuned", metric="auc", solvers="leml-squared"))
    running, rows = at.session_state["own_data:run"], at.session_state["own_data:rows"][1]
    assert isinstance(running, TunedRun) and [run.state for run in running.runs] == ["done", "done"]
    for one, run in zip(running.tunings, running.runs, strict=True):
        expected = tune(rows.train_file, solver=one.job.solver, iterations=3, metric="auc")
        assert one.best == expected.chosen and [result.row() for result in one.table] == expected.table
        chosen = dict(run.job.options)
        assert chosen["regularization"] == one.best.candidate.regularization
        assert len(run.trace.rows) <= one.best.iterations
    at.session_state["own_data-tried"] = True
    table = next(frame.value for frame in drawn(at.run()).dataframe if "score" in frame.value)
    assert len(table) == sum(len(one.table) for one in running.tunings)


@pytest.mark.slow
def test_tuning_can_be_cancelled_and_begun_again():
    at = opened(settings="tuned", solvers="leml-logistic", iterations="1000", rank="3")
    drawn(at.button(key="own_data-run").click().run())
    drawn(at.button(key="own_data-cancel").click().run())
    assert not at.session_state["own_data:run"].alive and not at.session_state["own_data:run"].runs
    assert any("Cancelled during tuning" in caption.value for caption in at.caption)
    at.number_input(key="own_data.iterations").set_value(2).run()
    assert len(finished(at).session_state["own_data:run"].runs) == 2


def test_a_solver_that_fails_in_tuning_shows_its_error_and_the_others_continue():
    rows = row_source.sample()
    spec = rows.spec(rank=3, share=1.0, seed=0)
    jobs = fit_controls.planned(rows, spec, [], {"max_iter": 2}, "auc", 0).jobs
    spoilt = jobs[0].on(spec.replace(train="nowhere.npz"))
    task = fit_controls.tuning_task_of(jobs[0], "auc", 0)
    running = TunedRun(get_engine(), [spoilt, jobs[0]], [task, task])
    deadline = time.monotonic() + 60
    while running.alive:
        assert time.monotonic() < deadline
        running.refresh()
        time.sleep(0.02)
    assert "file must be readable" in running.tunings[0].error
    assert [run.state for run in running.runs] == ["done"]


def test_rows_travel_with_the_jobs_where_files_are_not_shared(monkeypatch):
    rows = row_source.sample()
    plan = fit_controls.planned(rows, rows.spec(rank=3, share=1.0, seed=0), [], {"max_iter": 2}, "", 0)
    monkeypatch.setattr(Engine, "local", False)
    following = fit_controls.begin(get_engine(), plan)
    rows.train_file.unlink()
    assert following.wait(60) and following.runs[0].state == "done", following.runs[0].error


def test_the_code_of_the_page_gives_the_numbers_of_the_page(monkeypatch, tmp_path, capsys):
    at = finished(opened(observed="0.5", seed="2", rank="3"))
    at.session_state["code"] = True
    python, shell = (block.value for block in drawn(at.run()).code)
    rows = at.session_state["own_data:rows"][1]
    for path in (rows.train_file, rows.test_file):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(python, names)
    last = at.session_state["own_data:run"].runs[1].trace.rows[-1]
    assert names["result"].solver == "binary-relevance" and names["result"].rows[-1]["auc"] == last["auc"]
    assert load_model("leml-squared.npz").solver == "leml-squared"
    assert "--solver leml-squared --rank 3 --iterations 3 --observed 0.5 --seed 2 --save leml-squared.npz" in shell
    capsys.readouterr()


def test_code_of_a_tuned_run_tunes():
    at = opened(settings="tuned", rows="sample", **{"leml-squared.regularization": "3.0"})
    at.session_state["code"] = True
    python, shell = (block.value for block in drawn(at.run()).code)
    assert "tune_by='ndcg@5'" in python and "--tune ndcg@5 --set regularization=3.0" in shell
    assert "rank" not in python


def test_predictions_and_models_are_offered_as_files(tmp_path):
    at = finished(of_files())
    assert len(at.get("download_button")) == 6
    at.text_input(key="own_data.chosen").set_value("2, 5-6").run()
    frame = drawn(at).dataframe[-1].value
    assert list(frame["row"]) == [2, 5, 6]
    rows = at.session_state["own_data:about"].rows
    run = at.session_state["own_data:run"].runs[0]
    model = results_view.FittedModel(run.job.solver, dict(run.job.options), run.trace.estimate, rows.columns)
    (tmp_path / "model.npz").write_bytes(predictions.as_npz(model))
    loaded = load_model(tmp_path / "model.npz")
    table = list(csv.DictReader(io.StringIO(predictions.as_csv(model, rows.test, 2).decode())))
    assert [row["label"] for row in table] == [row["label"] for row in loaded.predict(rows.test.X, 2)]
    assert frame["1."][0].partition("*")[0].startswith(table[2]["label"])
    assert frame["labels that are on"][0] == rows.names[rows.test.Y[[1]].indices[0]]
    at.text_input(key="own_data.chosen").set_value("0-3").run()
    assert "rows must be rows in 1..18, at most 200 of them, got 0-3" in errors(drawn(at))[0]


def test_other_rows_are_predicted_with_or_without_labels():
    at = finished(of_files())
    at.text_input(key="own_data.chosen").set_value("1, 30").run()
    assert "rows must be rows in 1..18" in errors(drawn(at))[0]
    new = arff(n=30, seed=1)
    at = uploaded(at, "others", "more.arff", new)
    assert not errors(at)
    table = at.dataframe[-1].value
    assert list(table["row"]) == [1, 30] and "labels that are on" in table
    # The same rows, of which nothing but the features is there.
    lines = [line for line in new.decode().split("\n") if "label" not in line]
    bare = [line if line.startswith("@") else ",".join(line.split(",")[:6]) for line in lines]
    at = uploaded(at, "others", "bare.arff", "\n".join(bare).encode())
    assert not errors(at)
    again = at.dataframe[-1].value
    assert "labels that are on" not in again and list(again["1."]) == list(table["1."])
    at = uploaded(at, "others", "narrow.csv", b"f0,f1\n1,2\n")
    assert "file must be of 6 features, like the other file, got 2" in errors(at)[0]


@pytest.mark.parametrize("text", ["", "x", "1-", "5-2", "1,,2", "1-300", "1-150, 1-51", "301"])
def test_rows_that_are_none_are_refused(text):
    with pytest.raises(InputError, match=r"rows must be rows in 1\.\.300"):
        predictions.rows_of(text, 300)


def test_the_files_of_a_session_are_removed_with_it():
    rows = row_source.sample()
    path = rows.folder.path
    assert datasets.read(rows.train_file).n == rows.facts.n
    del rows
    gc.collect()
    assert not path.exists()


def test_a_model_too_large_for_a_page_is_refused():
    rows, wide = row_source.sample(), datasets.Dataset(csr_array((0, 10**6)), csr_array((0, 1000)))
    rows = replace(rows, facts=replace(rows.facts, columns=wide))
    with pytest.raises(InputError, match="features x labels must be such that .* fit them from the shell"):
        fit_controls.specified(
            replace(rows, facts=replace(rows.facts, columns=wide)), {"rank": 0, "observed": 1, "seed": 0}
        )


def test_a_label_is_explained():
    at = finished(opened(solvers="binary-relevance"))
    at.selectbox(key="own_data.label").set_value("label 3")
    at = drawn(at.number_input(key="own_data.row").set_value(7).run())
    words = " ".join(caption.value for caption in at.caption)
    assert "**Strongest features** of label 3" in words and "**Why** row 7 scores" in words
    assert "Nearest to label 3 (cosine): label" in words and "mean imbalance ratio" in words
    assert "Mean distance from the diagonal: 0." in words
    again = drawn(at.number_input(key="own_data.row").set_value(99_999).run())
    assert any("row must be in 1..1000, got 99999" in sentence for sentence in errors(again))
