"""People's own data: tuning on a validation split, saved models, predictions, rows that travel with a job."""

import csv
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from lrlab import catalog, datasets
from lrlab.__main__ import main
from lrlab.datasets.dataset import Dataset
from lrlab.fits import label_results, metrics, search, tuning
from lrlab.fits.fitted_model import FittedModel, load_model, save_model
from lrlab.fits.fitting import fit, tune
from lrlab.fits.search import Result
from lrlab.fits.settings import Candidate, fit_settings
from lrlab.models.multilabel import Multilabel
from lrlab.models.own_rows import OwnProblem, OwnRows, folds, hide, packed, split
from lrlab.parameters import InputError
from tests.fits.streams import solver_stream
from tests.thorough import a_third

SOLVERS = ("leml-squared", "leml-logistic", "cplst", "binary-relevance")


@pytest.fixture(scope="module")
def rows():
    """Return a small data set, and rows to test on."""
    problem = Multilabel(n=150, d=9, labels=8, rank=2, per_row=2, density=0.4, seed=3).build()
    names = {"feature_names": [f"x{j}" for j in range(9)], "label_names": [f"y{j}" for j in range(8)]}
    names = {side: tuple(given) for side, given in names.items()}
    test = Dataset(X=problem.X_test, Y=problem.Y_test, observed=None, **names).rows(slice(0, 200))
    return Dataset(X=problem.X, Y=problem.Y, observed=None, **names), test


@pytest.fixture(scope="module")
def files(rows, tmp_path_factory):
    """Write them as two files, and return their paths."""
    folder = tmp_path_factory.mktemp("data")
    for part, data in zip(("train", "test"), rows, strict=True):
        datasets.save_npz(folder / f"{part}.npz", data)
    return folder / "train.npz", folder / "test.npz"


def small_task(solver="leml-squared", rank=0, metric="precision@3", iterations=None, scaling="auto", **options):
    return fit_settings(solver, options, rank=rank, iterations=iterations, metric=metric, scaling=scaling)


def test_a_split_is_drawn_with_the_seed_and_loses_no_row(rows):
    learnt, held = split(rows[0], 0.2, 5)
    assert (learnt.n, held.n) == (120, 30)
    together = np.vstack([learnt.X.toarray(), held.X.toarray()])
    assert sorted(map(tuple, together)) == sorted(map(tuple, rows[0].X.toarray()))
    again, other = split(rows[0], 0.2, 5)[1], split(rows[0], 0.2, 6)[1]
    assert (again.X != held.X).nnz == 0 < (other.X != held.X).nnz
    parts = [held.X.toarray() for _, held in folds(rows[0], 5, 5)]
    assert sorted(map(tuple, np.vstack(parts))) == sorted(map(tuple, rows[0].X.toarray()))
    assert [tuning.fold_count(n, 1) for n in (2, 8, 390, 800, 1500, 2500)] == [2, 5, 5, 4, 2, 1]
    for few in (lambda one: split(one, 0.2, 0), lambda one: list(folds(one, 5, 0))):
        with pytest.raises(InputError, match="rows must be at least 2"):
            few(rows[0].rows(slice(0, 1)))


def test_hidden_labels_count_on_neither_side_of_the_split(rows):
    learnt, held = split(hide(rows[0], 0.5, 0), 0.2, 0)
    problem = OwnProblem.between(learnt, held, 2)
    assert problem.mask is not None and problem.mask_test.nnz == held.observed.nnz < held.n * held.L
    candidate = Candidate(2, 1.0)
    found = tuning.evaluate([problem], small_task(metric="hamming", iterations=1), candidate)
    run = small_task().entry.run(problem, **small_task().options_with(candidate), rng=solver_stream(0))
    known, estimate = held.observed.toarray(), next(run).estimate
    wrong = (estimate.scores(held.X)(slice(None)) > 0.5) != held.Y.toarray()
    assert found.score == pytest.approx(wrong[known].mean(), abs=1e-12)


def test_the_best_iterate_of_a_run_is_chosen_and_of_equal_ones_the_first(rows):
    problem = OwnProblem.between(*split(rows[0], 0.2, 0), 3)
    for metric in metrics.METRICS:
        task = small_task(metric=metric, iterations=6)
        found = tuning.evaluate([problem], task, Candidate(3, 0.1))
        run = task.entry.run(problem, **task.options_with(Candidate(3, 0.1)), rng=solver_stream(0))
        better = metrics.METRICS[metric].better
        scores = [metrics.validation_score(problem, next(run).estimate, metrics.METRICS[metric]) for _ in range(6)]
        assert found.score == better * max(better * score for score in scores)
        assert found.iterations == min(k + 1 for k, score in enumerate(scores) if score == found.score)


def explored(task, score, most=8):
    """Try settings that have known scores; return the best one, and all."""
    tried = search.proposals(task, most, 1000)
    results = [Result(candidate, 1, score(candidate.rank, candidate.regularization)) for candidate in tried]
    return search.best_of(results, 1), tried


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_are_searched_by_the_same_rule(solver):
    task = small_task(solver)
    settings = search.proposals(task, 50, 1000)
    free = [name for name in ("fitted_rank", "regularization") if name in task.entry.options]
    # What a fit without tuning takes is among them: tuning never chooses what did worse on the rows held out.
    untuned = dict(task.options) | ({"fitted_rank": 25} if "fitted_rank" in free else {})
    [known] = [one for one in settings if task.options_with(one) == untuned]
    tried = [one for one in settings if one != known]
    assert len(tried) == search.SETTINGS[len(free)] and settings == search.proposals(task, 50, 1000)
    assert {one.scaling for one in tried} == set(search.SCALINGS)
    # Each share of an axis has a setting of its own.
    if "fitted_rank" in free:
        ranks = sorted(one.rank for one in tried)
        assert 10 <= ranks[0] <= 12 and 48 <= ranks[-1] <= 50 and np.diff(ranks).max() <= 2 * 40 / len(tried)
    if "regularization" in free:
        decades = sorted(np.log10([one.regularization for one in tried]))
        assert np.diff(decades).max() < 2 * 7 / len(tried) and decades[0] < -2 and decades[-1] > 3


@pytest.mark.parametrize("peak", [1e-3, 0.1, 30.0, 1e4])
def test_the_best_settings_are_near_the_best_that_there_are(peak):
    """The higher the rank, the better, and the more regularisation is best."""
    best, _ = explored(small_task(), lambda k, weight: k / 50 - abs(np.log10(weight / peak)), most=50)
    assert abs(np.log10(best.candidate.regularization / peak)) < 1
    alone, _ = explored(small_task(rank=2), lambda rank, weight: -abs(np.log10(weight / peak)))
    assert alone.candidate.rank == 2 and abs(np.log10(alone.candidate.regularization / peak)) < 1


def test_of_weights_that_are_alike_the_one_in_the_middle_is_taken():
    """Rankings may not change any more from some weight on: what runs away is not what is best."""
    best, _ = explored(small_task(rank=2), lambda rank, weight: min(np.log10(weight), 0.0))
    assert 3 < best.candidate.regularization < 1e3


def test_a_lead_that_is_not_taken_is_said():
    plain, rows = (Result(Candidate(3, 1.0, name), 2, score) for name, score in (("auto", 0.8), ("rows", 0.803)))
    assert search.best_of([plain, rows], 1) is plain
    table = [plain.row(), rows.row()]
    [sentence] = tuning.Tuned("auc", plain, table, "auc").notes
    assert sentence == "Rows of one length had 0.803: on few rows held out a lead of less than 0.5% is noise."
    assert not tuning.Tuned("auc", rows, table, "auc").notes


def test_given_settings_are_not_tuned():
    task = small_task(rank=4, scaling="rows", regularization=7.0)
    best, tried = explored(task, lambda rank, weight: 0.0)
    assert tried == [Candidate(4, 7.0, "rows")] and best.candidate == Candidate(4, 7.0, "rows")
    assert explored(small_task(fitted_rank=3), lambda rank, weight: 0.0)[0].candidate.rank == 3
    for given in (0, 3):
        assert explored(small_task("binary-relevance", rank=given), lambda rank, weight: 0.0)[0].candidate.rank == 0
    two = explored(small_task(rank=4, regularization=7.0), lambda rank, weight: 0.0)[1]
    assert two == [Candidate(4, 7.0, "auto"), Candidate(4, 7.0, "rows")]


def test_rate_and_margin_of_wsabie_are_tuned_unless_given():
    tried = explored(small_task("wsabie", rank=2), lambda *_: 0.0)[1]
    assert len({one.rate for one in tried}) == len({one.margin for one in tried}) == len(tried) == 1 + 20
    assert all(0.01 <= one.rate <= 1 and 0.1 <= one.margin <= 3 and one.regularization is None for one in tried)
    some = explored(small_task("wsabie", rank=2, rate=0.3), lambda *_: 0.0)[1]
    assert {one.rate for one in some} == {None} and len({one.margin for one in some}) == len(some)


def test_of_equal_results_the_lower_rank_is_best():
    found = [Result(Candidate(rank, 1.0), 1, 0.5) for rank in (5, 2, 9)]
    assert search.best_of(found, 1) == found[1]
    assert search.best_of([*found, Result(Candidate(9, 1.0), 1, 0.4)], -1).score == 0.4


def test_hidden_labels_do_not_change_how_settings_compare():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((4000, 40))
    Y = csr_array(rng.random((4000, 40)) < 1 / (1 + np.exp(3 - 2 * scores)), dtype=float)
    data = Dataset(
        X=csr_array((4000, 1)), Y=Y, observed=None, feature_names=("x",), label_names=tuple(f"y{j}" for j in range(40))
    )
    hidden = hide(data, 0.2, 1)
    for name in ("precision@3", "precision@5"):
        metric = metrics.METRICS[name]
        every, some = (metric.value(scores, given.Y, given.observed, 0.5) for given in (data, hidden))
        # As many positives among the first as before, times the share that is known.
        assert some / every == pytest.approx(0.2, rel=0.06)


def test_runs_that_reach_nothing_are_never_chosen():
    best, tried = explored(small_task(), lambda rank, weight: np.nan if weight < 1 else -weight)
    assert best.candidate.regularization == min(one.regularization for one in tried if one.regularization >= 1)


@pytest.mark.slow
@pytest.mark.parametrize("solver", a_third(SOLVERS))
def test_tuned_settings_are_fitted_to_all_rows(files, solver):
    tuned = tune(files[0], solver=solver, iterations=4, metric="auc")
    found = fit(*files, solver=solver, iterations=4, tune_by="auc")
    assert found.tuned.chosen == tuned.chosen and found.tuned.table == tuned.table
    assert tuned.chosen.row() in tuned.table and len(found.rows) <= tuned.chosen.iterations <= 4
    chosen = {"iterations": tuned.chosen.iterations, "scaling": tuned.chosen.candidate.scaling}
    by_hand = fit(*files, solver=solver, **chosen, **found.options)
    assert by_hand.rows[-1]["auc"] == found.rows[-1]["auc"]


def test_tuning_from_the_shell(files, capsys):
    arguments = ["fit", str(files[0]), "--test", str(files[1]), "--iterations", "2", "--rank", "3", "--tune"]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    tuned = found["tuned"]
    assert tuned["metric"] == metrics.METRIC and tuned["rank"] == 3 == found["options"]["fitted_rank"]
    assert tuned["regularization"] == found["options"]["regularization"]
    assert found["iterations"] == tuned["iterations"]
    assert {"rank", "regularization", "scaling", "iterations", "score", "threshold"} == set(tuned["table"][0])
    assert main([*arguments, "hamming"]) == 0
    assert "Chosen by hamming" in capsys.readouterr().out
    assert main([*arguments, "hammingg"]) == 2
    assert 'did you mean "hamming"?' in capsys.readouterr().err


def same(one, two):
    return all(np.array_equal(one.arrays()[name], two.arrays()[name]) for name in one.arrays())


MODELS = [(entry.name, {}) for entry in catalog.solvers_for(Multilabel.model)]
MODELS += [("kernel-leml", {"loss": "logistic"}), ("binary-relevance", {"loss": "logistic"})]


@pytest.mark.parametrize(("solver", "settings"), MODELS)
def test_a_saved_model_is_the_model(files, rows, tmp_path, solver, settings):
    found = fit(*files, solver=solver, rank=3, iterations=2, **settings)
    save_model(tmp_path / "model.npz", found.model)
    loaded = load_model(tmp_path / "model.npz")
    assert same(loaded.estimate, found.estimate) and type(loaded.estimate) is type(found.estimate)
    assert loaded.predict(rows[1].X, 3) == found.model.predict(rows[1].X, 3)
    assert loaded.threshold == found.model.threshold
    assert (loaded.solver, loaded.options) == (solver, found.options)
    assert loaded.label_names == rows[0].label_names and loaded.columns.feature_names == rows[0].feature_names


def test_predictions_are_the_labels_of_highest_score(files, rows, tmp_path, monkeypatch):
    found = fit(*files, rank=3, iterations=2)
    scores = found.estimate.scores(rows[1].X)(slice(None))
    monkeypatch.setattr("lrlab.ranking.blocks.BLOCK_ENTRIES", 50)
    predicted = found.model.predict(rows[1].X, 3)
    assert len(predicted) == 3 * rows[1].n
    for row in predicted:
        label = rows[0].label_names.index(row["label"])
        assert row["score"] == scores[row["row"] - 1, label] and row["predicted"] == (row["score"] > 0.5)
        assert (scores[row["row"] - 1] > row["score"]).sum() == row["place"] - 1
    assert len(found.model.predict(rows[1].X, 99)) == 8 * rows[1].n


def as_csv(path, data, labels):
    """Write rows as CSV, with or without their labels."""
    columns = [*data.feature_names, *(data.label_names if labels else ())]
    table = np.hstack([data.X.toarray(), data.Y.toarray()])[:, : len(columns)]
    path.write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in table.tolist())]))
    return path


def as_arff(path, data, labels):
    """Write rows as ARFF, with or without their labels."""
    columns = [f"@attribute {name} numeric" for name in data.feature_names]
    columns += [f"@attribute {name} {{0,1}}" for name in data.label_names] if labels else []
    values = np.hstack([data.X.toarray(), data.Y.toarray()])[:, : len(columns)]
    lines = [",".join(f"{x:.17g}" for x in row) for row in values.tolist()]
    path.write_text("\n".join(["@relation rows", *columns, "@data", *lines]))
    return path


@pytest.mark.parametrize("labels", [False, True], ids=["bare", "labelled"])
@pytest.mark.parametrize("form", [as_csv, as_arff])
def test_rows_to_predict_may_come_without_labels(files, rows, tmp_path, form, labels):
    found = fit(*files, rank=3, iterations=2)
    read = found.model.read(form(tmp_path / f"new.{form.__name__[3:]}", rows[1], labels))
    assert np.array_equal(read.X, rows[1].X.toarray())
    assert (read.observed is None) == labels and read.L == 8 and read.label_names == rows[1].label_names
    np.savez(tmp_path / "new.npz", X=rows[1].X.toarray())
    assert found.model.predict(found.model.read(tmp_path / "new.npz").X, 2) == found.model.predict(read.X, 2)


@pytest.mark.parametrize("head", ["", "2 4 3\n"], ids=["svmlight", "extreme"])
def test_numbered_rows_are_predicted_with_labels_or_without(tmp_path, head):
    train = "0,2 0:1 3:2\n1 1:1\n0 0:0.5 2:1\n2 3:1\n"
    (tmp_path / "train.txt").write_text((head.replace("2 4", "4 4")) + train)
    (tmp_path / "new.txt").write_text(head + "0:1 3:1\n1 2:0.25\n")
    found = fit(tmp_path / "train.txt", tmp_path / "train.txt", rank=2, iterations=2)
    save_model(tmp_path / "model.npz", found.model)
    model = load_model(tmp_path / "model.npz")
    read = model.read(tmp_path / "new.txt")
    assert read.X.toarray().tolist() == [[1, 0, 0, 1], [0, 0, 0.25, 0]] and model.label_names == ("0", "1", "2")
    assert [row["label"] for row in model.predict(read.X, 1)][0] in ("0", "2")


def test_predict_from_the_shell(files, rows, tmp_path, capsys):
    model, new = tmp_path / "model.npz", as_csv(tmp_path / "new.csv", rows[1], labels=False)
    assert main(["fit", *map(str, (files[0], "--test", files[1], "--save", model)), "--rank", "2", "--json"]) == 0
    capsys.readouterr()
    out = tmp_path / "out.csv"
    assert main(["predict", str(model), str(new), "--top", "2", "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    written = list(csv.DictReader(out.read_text().splitlines()))
    assert [row["label"] for row in written] == [row["label"] for row in document["predictions"]]
    assert len(written) == 2 * rows[1].n and document["threshold"] == 0.5
    assert main(["predict", str(model), str(new), "--top", "1"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == rows[1].n
    assert main(["predict", str(model), str(new), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}\n"


def test_a_format_is_named_where_the_suffix_does_not_say_it(files, rows, tmp_path, capsys):
    train, test, new = tmp_path / "train.dat", tmp_path / "test.dat", tmp_path / "new.dat"
    as_csv(new, rows[1], labels=False)
    for path, file in ((train, files[0]), (test, files[1])):
        path.write_bytes(file.read_bytes())
    named, model = ["--format", files[0].suffix[1:]], str(tmp_path / "model.npz")
    command = ["fit", str(train), "--test", str(test), "--rank", "2", "--iterations", "1", "--save", model]
    assert main([*command, *named]) == main(["predict", model, str(new), "--format", "csv"]) == 0
    capsys.readouterr()
    for refused in (command, ["predict", model, str(new)]):
        assert main(refused) == 2 and "--format" in capsys.readouterr().err
    assert main(["fit", str(new), "--ratings", "--format", "csv"]) == 2
    assert "--format must be left out of ratings" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["predict", "MODEL", "NEW", "--top", "0"], "top must be a whole number above 0, got 0"),
        (["predict", "MODEL", "NEW", "--out", "nowhere/x.csv"], "--out must be a .csv file in a folder that exists"),
        (["predict", "MODEL", "NEW", "--user", "Ada"], "--user must be left out where labels are predicted, got Ada"),
        (["predict", "MODEL", "NEW", "--items", "x"], "--items must be left out where labels are predicted, got x"),
        (["predict", "NEW", "NEW"], "file must be a whole .npz of plain arrays"),
        (["predict", "MODEL", "MODEL"], "file must be an .npz with arrays X and Y, got no X"),
        (["predict", "TRAIN", "NEW"], "model must be a file that `fit --save` has written, got train.npz"),
        (["fit", "TRAIN", "--test", "TRAIN", "--save", "m.pkl"], "--save must be a .npz file in a folder that exists"),
    ],
)
def test_the_shell_refuses_in_one_sentence(files, rows, tmp_path, capsys, arguments, sentence):
    save_model(tmp_path / "model.npz", fit(*files, rank=2, iterations=1).model)
    names = {"MODEL": tmp_path / "model.npz", "NEW": as_csv(tmp_path / "new.csv", rows[1], True), "TRAIN": files[0]}
    assert main([str(names.get(word, word)) for word in arguments]) == 2
    message = capsys.readouterr().err
    assert sentence in message and message.count("\n") == 1


def saved(files, **changes):
    """Return the bytes of a model with some of its arrays changed, or left out where None."""
    buffer = io.BytesIO()
    save_model(buffer, fit(*files, rank=2, iterations=1).model)
    arrays = {**np.load(io.BytesIO(buffer.getvalue()), allow_pickle=False), **changes}
    changed = io.BytesIO()
    np.savez(changed, **{name: value for name, value in arrays.items() if value is not None})
    return changed.getvalue()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lrlab_model": np.array(4)}, "model must be a file of version 3, got version 4: update lrlab"),
        ({"lrlab_model": np.array("1")}, "model must be a file that `fit --save` has written"),
        ({"kind": np.array("Evil")}, "model must be a whole file .*Evil"),
        ({"estimate_V": np.ones((3, 2))}, "model must be a whole file"),
        ({"estimate_s": np.array([np.nan, 1])}, "an estimate of other than finite numbers"),
        ({"estimate_s": None}, "model must be a whole file"),
        ({"estimate_extra": np.ones(2)}, "model must be a whole file"),
        ({"sizes": np.array([10**15, 8, 0, 0, 0])}, "model must be a whole file"),
        ({"sizes": np.array([9, 7, 0, 0, 0])}, "label_names must be 7 names|model must be a whole file"),
        ({"options": np.array("[1")}, "model must be a whole file"),
        ({"label_names": np.arange(8)}, "an .npz whose label_names is a li"),
    ],
)
def test_a_foreign_newer_or_damaged_model_is_refused_in_one_sentence(files, tmp_path, changes, sentence):
    path = tmp_path / "model.npz"
    path.write_bytes(saved(files, **changes))
    with pytest.raises(InputError, match=sentence) as caught:
        load_model(path)
    assert "\n" not in str(caught.value)


def test_nothing_in_a_model_is_unpickled_or_larger_than_it_says(files, tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, lrlab_model=np.array(1), estimate_U=np.array([print], dtype=object))
    with pytest.raises(InputError, match="estimate_U: object is no type of numbers"):
        load_model(path)
    np.savez_compressed(path, lrlab_model=np.array(1), estimate_U=np.zeros(10**6))
    with pytest.raises(InputError, match="file must be of a size that fits the limit"):
        load_model(path, limit_bytes=10**6)
    with zipfile.ZipFile(path, "w") as archive:
        header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 9), }"
        archive.writestr("estimate_U.npy", header.ljust(127) + b"\n")
    with pytest.raises(InputError, match="do not fit"):
        load_model(path)


@settings(max_examples=20, deadline=None)
@drawn(place=st.integers(0, 4000), byte=st.integers(0, 255), length=st.integers(0, 4000))
def test_damaged_bytes_never_raise_anything_else(files, tmp_path_factory, place, byte, length):
    whole = bytearray(saved_once(files))
    whole[place % len(whole)] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(bytes(whole[: len(whole) - length % len(whole)]))
    try:
        assert isinstance(load_model(path), FittedModel)
    except InputError as error:
        assert "\n" not in str(error)


_kept = {}


def saved_once(files):
    return _kept.setdefault(files, saved(files))


@pytest.mark.parametrize("whole", [False, True], ids=["path", "file itself"])
def test_own_rows_are_read_where_the_job_runs(files, rows, whole):
    places = [packed(path) if whole else str(path) for path in files]
    spec = OwnRows(
        train=places[0], test=places[1], n=150, d=9, labels=8, rank=3, density=0.4, kept=0.5, observed=0.5,
        test_rows=200,
    )  # fmt: skip
    problem = spec.build()
    assert (problem.X != rows[0].X).nnz == 0 and problem.rank == 3 and problem.Y_test.shape == (200, 8)
    assert (problem.mask != hide(rows[0], 0.5, 0).observed).nnz == 0
    held, *others = spec.held_out(5)
    assert held.Y.shape == (120, 8) and held.Y_test.shape == (30, 8) and held.mask_test is not None
    assert all((held.X != one.X).nnz > 0 for one in others)
    trial = tuning.CandidateTrial(spec, small_task(iterations=2), Candidate(2, 1.0))
    found = tuning.evaluate([held, *others], small_task(iterations=2), Candidate(2, 1.0))
    assert tuning.run_candidate(trial) == found


def test_scores_on_training_rows_stand_beside_those_on_test_rows(files, rows):
    spec = OwnRows(train=str(files[0]), test=str(files[1]), n=150, d=9, labels=8, rank=3)
    problem = spec.build()
    task = small_task()
    estimate = next(task.entry.run(problem, **task.options_with(Candidate(3, 1.0)), rng=solver_stream(0)))
    scores = problem.score(estimate.estimate)
    on_training = OwnProblem.between(rows[0], rows[0], 3).score(estimate.estimate)
    assert {name.removeprefix("train_"): value for name, value in scores.items() if "train" in name} == on_training
    assert len(scores) == 2 * len(on_training)


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_results_of_each_label_are_those_of_scikit_learn(files, rows, share, monkeypatch):
    monkeypatch.setattr("lrlab.ranking.blocks.BLOCK_ENTRIES", 500)
    model, test = fit(*files, solver="leml-logistic", rank=3, iterations=2).model, hide(rows[1], share, 0)
    table = label_results.metrics_by_label(model, test)
    scores, truth = model.estimate.scores(test.X)(slice(None)), test.Y.toarray()
    observed = np.ones(truth.shape, dtype=bool) if share == 1 else test.observed.toarray()
    for j, row in enumerate(table.itertuples()):
        y, score = truth[observed[:, j], j], scores[observed[:, j], j]
        assert (row.label, row.known, row.on, row.predicted) == (f"y{j}", len(y), y.sum(), (score > 0).sum())
        assert row.precision == pytest.approx(precision_score(y, score > 0, zero_division=np.nan), nan_ok=True)
        assert row.recall == pytest.approx(recall_score(y, score > 0), abs=1e-12)
        assert row.auc == pytest.approx(roc_auc_score(y, score), abs=1e-12)


def test_correlations_of_labels_are_those_of_their_columns(rows):
    found = label_results.label_correlations(rows[0], most=5)
    counts = label_results.label_counts(rows[0])
    assert list(counts) == list(rows[0].Y.sum(axis=0)) and list(counts[found.places]) == sorted(counts)[::-1][:5]
    assert found.phi == pytest.approx(np.corrcoef(rows[0].Y.toarray()[:, found.places].T), abs=1e-12)
    some = hide(rows[0], 0.5, 1)
    a, b = label_results.label_correlations(some, most=5).places[:2]
    both = some.observed.toarray()[:, [a, b]].all(axis=1)
    expected = np.corrcoef(some.Y.toarray()[both][:, [a, b]].T)[0, 1]
    assert label_results.label_correlations(some, most=5).phi[0, 1] == pytest.approx(expected, abs=1e-12)
