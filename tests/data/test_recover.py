"""lrlab.recover: own measurements of each kind are recovered in their units, by every solver of the family."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import lrlab
from lrlab import catalog
from lrlab.data import recover
from lrlab.models.multilabel import Multilabel
from tests.data import cases
from tests.thorough import a_third

SEED = 20_026
TRUTHS = {"error", "overlap", "spectral_error", "weakest_error", "coverage", "width", "limit_overlap", "best_overlap"}


def given_of(model: str):
    """Return the arguments of `recover` for a model."""
    kind = recover.kind_of(model).kind.__name__
    if kind == "ResponsesSpec":
        X, y, _ = cases.answers(SEED)
        return y, X
    if model == "rank-one-sensing":
        X, Z, y, _ = cases.bilinear(SEED)
        return y, X, Z
    if model == "polynomial-network":
        X, y, _ = cases.quadratic(SEED)
        return y, X
    if kind == "MatrixSpec":
        return (cases.gaps(SEED)[0],)
    if kind == "LabelsSpec":
        drawn = Multilabel(n=60, d=6, labels=5, rank=2, per_row=2).build()
        return drawn.Y, drawn.X
    A, y, _ = cases.magnitudes(SEED)
    return y, A


PAIRS = [(model, entry.name) for model in recover.data_models() for entry in catalog.solvers_for(model)]


@pytest.mark.parametrize(("model", "solver"), a_third(PAIRS))
def test_every_solver_of_the_family_runs_on_own_data_or_refuses_with_a_sentence(model, solver):
    ranks = {"rank-one-sensing": {"rank": 2}, "inductive-completion": {"rank": 2}, "polynomial-network": {"r": 2}}
    more = {"threshold": 0.5} if model == "one-bit-phase-retrieval" else {}
    try:
        trace = lrlab.recover(*given_of(model), model=model, solver=solver, max_iter=3, **ranks.get(model, {}), **more)
    except lrlab.InputError as refusal:
        assert str(refusal).count("\n") == 0
        return
    assert trace.rows and not TRUTHS & {*trace.metrics}
    assert model == "multilabel" or any(name.startswith("held_out") for name in trace.rows[-1])
    assert trace.estimate is not None
    assert pickle.loads(pickle.dumps(trace.job)) == trace.job


def covered(trace, X, b):
    """Return which entries of b, in columns of deviation 1 and with an index of deviation 1, are in their intervals."""
    low, high, _ = trace.intervals
    given = X[~trace.problem.spec.held]
    standard = b * given.std(axis=0) / (given @ b).std()
    standard *= np.sign(standard @ trace.problem.standardized(trace.estimate))
    return (low <= standard) & (standard <= high)


def coverage(kind: str, sets: int, start: int, n: int = 800, p: int = 6) -> float:
    """Return the fraction of the intervals of so many simulated directions that contain their entry."""
    simulated = [cases.answers(start + k, n, p, kind) for k in range(sets)]
    traces = [lrlab.recover(y, X) for X, y, _ in simulated]
    known = np.isfinite([trace.intervals.low for trace in traces])
    assert known.mean() > 0.75
    inside = [covered(trace, X, b) for trace, (X, _, b) in zip(traces, simulated, strict=True)]
    return float(np.mean(np.array(inside)[known]))


@pytest.mark.slow
@pytest.mark.parametrize("kind", a_third(["normal", "correlated", "mixed"]))
def test_intervals_of_own_answers_cover_the_direction(kind):
    # Of 60 sets of 6 entries: two standard errors around 95%.
    assert 0.92 <= coverage(kind, 60, SEED) <= 0.98


def test_sparse_directions_stay_in_the_units_of_columns():
    X, y, _ = cases.answers(SEED)
    assert lrlab.recover(y, X).job.spec.scaling == "whitened"
    for options in ({"sparsity": 2}, {"kept": 2}, {"solver": "logistic"}, {"scaling": "columns"}):
        assert lrlab.recover(y, X, **options).job.spec.scaling == "columns"


def test_the_link_is_a_curve_within_its_band_and_predicts_responses():
    X, y, _ = cases.answers(SEED, n=3000)
    trace = lrlab.recover(y, X)
    table, problem = trace.link.table, trace.problem
    assert list(table) == ["index", "probability", "low", "high"]
    assert (table["low"] <= table["probability"]).all() and (table["probability"] <= table["high"]).all()
    losses = np.logaddexp(0.0, -problem.y_held * trace.link.log_odds(problem.rows_held))
    assert losses.mean() == pytest.approx(trace.rows[-1]["held_out_log_loss"])
    line = LogisticRegression(C=np.inf).fit((problem.given @ trace.link.b)[:, None], problem.y)
    with_line = log_loss(problem.y_held, line.predict_proba((problem.rows_held @ trace.link.b)[:, None])[:, 1])
    assert losses.mean() < with_line + 0.02
    drawn = lrlab.solve(lrlab.spec("one-bit-phase-retrieval", n=4000, p=4, threshold=0.7), "link-free-refinement")
    probability = drawn.link.table["probability"].to_numpy()
    assert probability[50] < probability[5] and probability[50] < probability[95]


def test_a_constant_makes_linear_terms_part_of_the_form():
    rng = np.random.default_rng(SEED)
    X, y, L = cases.quadratic(SEED + 3)
    trace = lrlab.recover(y, X, model="polynomial-network")
    assert np.linalg.norm(trace.recovered.dense() - L) < 1e-8 * np.linalg.norm(L)
    linear = y + X @ rng.standard_normal(8) - 4.0
    with_linear = lrlab.recover(linear, X, model="polynomial-network", constant=True, r=4)
    assert np.allclose(with_linear.problem.predict(with_linear.estimate, X), linear)
    # A line has rank 2.
    line = lrlab.recover(3.0 + X[:, 0], X[:, :1], model="polynomial-network", constant=True)
    assert np.allclose(line.problem.predict(line.estimate, X[:, :1]), 3.0 + X[:, 0])
    assert lrlab.recover(np.full(len(X), 3.0), X, model="polynomial-network", r=1).metrics["misfit"] < 1


def test_dependent_and_zero_columns_change_nothing_that_is_measured():
    X, y, _ = cases.quadratic(SEED + 4)
    wide = np.column_stack([X, X[:, :2] @ [1.0, -1.0], np.zeros(len(X))])
    trace = lrlab.recover(y, wide, model="polynomial-network", r=2)
    assert np.allclose(trace.problem.predict(trace.estimate, wide), y)
    few = lrlab.recover(y[:6], wide[:6], model="polynomial-network", r=1, held_out=0).ending
    assert few.startswith("Not unique: 6 measurements for 10 columns.")


def test_a_table_of_rank_two_is_exact_at_rank_two_in_each_form():
    given, T = cases.gaps(SEED)
    rows, columns = np.nonzero(~np.isnan(given))
    values = given[rows, columns]
    forms = [given, np.ma.masked_invalid(given), coo_array((values, (rows, columns)), shape=T.shape)]
    for form in (*forms, (rows[::-1], columns[::-1], values[::-1])):
        trace = lrlab.recover(form, rank=2, solver="matrix-irls")
        assert np.allclose(trace.problem.completed(trace.estimate), T)
    assert np.allclose(trace.recovered.dense(), T)


@pytest.mark.parametrize(("sides", "solver"), [("XZ", ""), ("X", ""), ("Z", ""), ("XZ", "gauss-newton")])
def test_features_complete_a_table_and_rows_without_entries(sides, solver):
    given, X, Z, W = cases.featured(SEED)
    given[7] = given[7] if "X" not in sides else np.nan
    features = {name: side for name, side in (("X", X), ("Z", Z)) if name in sides}
    trace = lrlab.recover(given, **features, solver=solver, **({"rank": 2} if solver else {}))
    assert trace.job.solver == (solver or "altmin")
    assert np.allclose(trace.problem.completed(trace.estimate), X @ W @ Z.T)
    with pytest.raises(lrlab.InputError, match="X and Z must be left out .*: leave them out, or take altmin"):
        lrlab.recover(given, **features, solver="als")


def test_biases_are_taken_out_of_a_table():
    rng = np.random.default_rng(SEED)
    T = 50.0 + 3 * rng.standard_normal((60, 1)) + 3 * rng.standard_normal(40)
    T += rng.standard_normal((60, 1)) @ rng.standard_normal((1, 40))
    given = np.where(rng.random(T.shape) < 0.5, T, np.nan)
    trace = lrlab.recover(given, biases=True, rank=1)
    off = trace.problem.completed(trace.estimate) - T
    assert np.sqrt(np.mean(off**2)) < 0.2 * np.std(T)


@pytest.mark.parametrize("options", [{"rank": 2}, {}], ids=["rank 2", "chosen rank"])
def test_too_few_entries_of_a_row_are_not_unique(options):
    given, _ = cases.gaps(SEED, share=0.7)
    given[3, 1:] = np.nan
    given[3, 0] = 1.0
    trace = lrlab.recover(pd.DataFrame(given).convert_dtypes(), **options, solver="gauss-newton", held_out=0)
    assert trace.stop is lrlab.Stop.NOT_UNIQUE
    assert "1 of the given entries, fewer than the rank" in trace.summary()["message"]
    assert "truth" not in trace.summary()["message"]


def test_magnitudes_give_the_signal_up_to_a_phase_and_those_that_fit_nothing_may_be_intensities():
    A, y, x = cases.magnitudes(SEED)
    for data, values in (("magnitude", y), ("intensity", y**2)):
        trace = lrlab.recover(values, A, data=data)
        phase = np.vdot(trace.recovered, x) / abs(np.vdot(trace.recovered, x))
        assert np.linalg.norm(phase * trace.recovered - x) < 1e-6 * np.linalg.norm(x)
        assert "set data=intensity" not in trace.summary()["message"]
    assert "set data=intensity" in lrlab.recover(y**2, A).summary()["message"]


def test_responses_with_more_columns_than_rows_have_a_default_solver_too():
    X = np.random.default_rng(SEED).standard_normal((60, 100))
    refinement = "link-free-refinement"
    for columns, options, solver in ((100, {}, "marginal-mean"), (24, {}, refinement), (100, {"kept": 3}, refinement)):
        assert lrlab.recover(tuple(X[:, 0] > 0), X[:, :columns], **options).job.solver == solver


def test_patterns_of_a_large_image_need_no_matrix():
    # The matrix would take 6 GB.
    values, masks, image = cases.patterns(SEED, 90, 100)
    found = lrlab.recover(values, masks).recovered
    phase = np.vdot(found, image) / abs(np.vdot(found, image))
    assert np.linalg.norm(phase * found - image) < 1e-6 * np.linalg.norm(image)


def test_held_out_measurements_are_not_given():
    X, Z, y, _ = cases.bilinear(SEED)
    spoiled = y.copy()
    trace = lrlab.recover(y, X, Z, rank=2)
    out = trace.job.spec.held
    assert out.sum() == 80
    spoiled[out] = 1e6
    again = lrlab.recover(spoiled, X, Z, rank=2)
    assert np.array_equal(again.estimate.U, trace.estimate.U) and again.rows[-1]["held_out_misfit"] > 0.9
    whole = lrlab.recover(y, X, Z, rank=2, held_out=0)
    assert "held_out_misfit" not in whole.rows[-1]


@pytest.mark.parametrize("model", ["flipped-logistic", "inductive-completion", "phase-retrieval", "multilabel"])
def test_a_spec_of_own_data_needs_the_data(model):
    with pytest.raises(lrlab.InputError, match="file must be data that lrlab has read, got nothing"):
        recover.kind_of(model)()


def test_a_trace_of_own_data_is_drawn_without_a_truth():
    X, y, _ = cases.answers(SEED)
    trace = lrlab.recover(y, X)
    assert repr(trace.job.spec).startswith("<your data: 'flipped-logistic', n=")
    assert "held-out" in trace._repr_mimebundle_()["text/plain"] and trace.figure() is not None
    assert set(trace.summary()["spec"]) >= {"n", "p", "held_out", "scaling"} and "file" not in trace.summary()["spec"]


rng = np.random.default_rng(3)
X = rng.normal(size=(300, 4))
y = (X @ [1, -1, 0.5, 0] + rng.logistic(size=300) * 0.5 > 0).astype(int)


@pytest.mark.parametrize("solver", ["logistic", "link-free-refinement", "save", ""])
@pytest.mark.parametrize("scale", [1.0, 10.0 ** np.linspace(-6, 6, 20)], ids=["one size", "many sizes"])
def test_a_direction_is_in_the_coordinates_of_the_given_columns(solver, scale):
    rng = np.random.default_rng(4)
    rows, b = rng.normal(size=(3000, 20)), rng.normal(size=20)
    index = rows @ b / np.linalg.norm(b) + 0.1 * rng.normal(size=3000)
    responses = np.where((np.abs(index) - 0.67 if solver == "save" else index) > 0, 1, -1)
    e = scale * lrlab.recover(responses, rows * scale, model="one-bit-sensing", solver=solver).estimate
    assert (e @ b) ** 2 / (e @ e) / (b @ b) > (0.9 if solver == "save" else 0.998)


@pytest.mark.parametrize(("axis", "other"), [(0, 3), (1, 2), (None, 0)])
def test_known_entries_stay_and_what_has_no_entry_stays_unknown(axis, other):
    table, _ = cases.gaps(3)
    table += 0.1 * np.random.default_rng(3).normal(size=table.shape)
    if axis is not None:
        np.moveaxis(table, axis, 0)[other] = np.nan
    trace = lrlab.recover(table, rank=1)
    completed, known = trace.problem.completed(trace.estimate), ~np.isnan(table)
    assert np.array_equal(completed[known], table[known])
    nothing = np.isnan(completed)
    if axis is None:
        assert not nothing.any()
    else:
        assert np.isnan(np.moveaxis(completed, axis, 0)[other]).all() and nothing.sum() == table.shape[1 - axis]
        assert "Rows or columns that have neither entries nor features stay nan: 1." in trace.summary()["message"]


@pytest.mark.parametrize(
    ("options", "transform"),
    [
        ({}, np.fft.fft2),
        ({"norm": "ortho"}, lambda x: np.fft.fft2(x, norm="ortho")),
        ({"centered": True}, lambda x: np.fft.fftshift(np.fft.fft2(x), axes=(1, 2))),
    ],
)
@pytest.mark.parametrize("masked", [False, True])
def test_patterns_give_the_image_in_its_own_size_by_a_stated_convention(options, transform, masked):
    image = np.zeros((16, 15))
    image[4:12, 5:10] = 1
    masks = rng.choice([1, -1, 1j, -1j], size=(6, 16, 15))
    patterns = np.abs(transform(masks * image))
    if masked:
        patterns[np.random.default_rng(1).random(patterns.shape) < 0.1] = np.nan
    trace = lrlab.recover(np.ma.masked_invalid(patterns) if masked else patterns, masks, **options)
    phase = np.vdot(trace.estimate, image) / abs(np.vdot(trace.estimate, image))
    assert np.allclose(phase * trace.estimate, image, atol=1e-5)
    assert f"norm {options.get('norm', 'backward')}" in trace.summary()["message"]


@pytest.mark.parametrize(
    ("rows", "without"),
    [
        (np.c_[X, X[:, 0] + X[:, 1]], [0, 1, 4]),
        (np.c_[X, 3.0 - 2.0 * X[:, 3]], [3, 4]),
        (np.c_[X, np.ones(300)], [4]),
        (X, []),
    ],
    ids=["sum", "affine", "constant", "none"],
)
def test_columns_that_are_combinations_of_others_have_no_interval_and_are_named(rows, without):
    trace = lrlab.recover(y, rows)
    assert list(np.flatnonzero(np.isnan(trace.intervals.low))) == without
    assert len(without) < 2 or f"columns {', '.join(str(k + 1) for k in without)}: they" in trace.note


@pytest.mark.parametrize("kind", ["separated", "separated in part", "a shifted hyperplane"])
def test_separated_responses_have_no_intervals(kind):
    rows, responses = X.copy(), y.copy()
    if kind == "separated in part":
        rows[:, 0] = rows[:, 0] > 0.8
        responses[rows[:, 0] == 1] = 1
    else:
        responses = (rows[:, 0] - rows[:, 1] > (0.5 if kind == "a shifted hyperplane" else 0)).astype(int)
    trace = lrlab.recover(responses, rows)
    assert np.isnan(trace.intervals.low).all() and "a hyperplane separates the responses" in trace.note
    assert np.isfinite(lrlab.recover(y, X).intervals.low).all()


@pytest.mark.parametrize("scales", [np.ones(20), 10.0 ** np.linspace(-6, 6, 20), 10.0 ** np.linspace(3, 5, 20)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_small_matrix_is_completed_by_default_whatever_scales_its_columns_have(scales, seed):
    """The run converges, and its error is as small as with columns of one scale."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 20)) + 0.05 * rng.standard_normal((60, 20))
    table = np.where(rng.random(truth.shape) < 0.7, truth * scales, np.nan)
    trace = lrlab.recover(table)
    off = (trace.problem.completed(trace.estimate) / scales - truth)[np.isnan(table)]
    assert trace.stop is lrlab.Stop.CONVERGED and np.sqrt(np.mean(off**2)) < 0.15
