"""lrlab.recover: own measurements of each kind are recovered in their units, by every solver of the family."""

import pickle

import numpy as np
import pytest
from scipy.sparse import coo_array

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


MODELS = recover.data_models()
PAIRS = [(model, entry.name) for model in MODELS for entry in catalog.solvers_for(model)]


@pytest.mark.parametrize(("model", "solver"), PAIRS)
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
    """Return the share of the entries of so many drawn directions that is in the intervals."""
    drawn = [cases.answers(start + k, n, p, kind) for k in range(sets)]
    return float(np.mean([covered(lrlab.recover(y, X), X, b) for X, y, b in drawn]))


@pytest.mark.parametrize("kind", a_third(["normal", "correlated", "mixed"]))
def test_intervals_of_own_answers_cover_the_direction(kind):
    # Of 60 sets of 6 entries: two standard errors around 95%.
    assert 0.92 <= coverage(kind, 60, SEED) <= 0.98


def test_sparse_directions_stay_in_the_units_of_columns():
    X, y, _ = cases.answers(SEED)
    assert lrlab.recover(y, X).job.spec.scaling == "whitened"
    for options in ({"sparsity": 2}, {"kept": 2}, {"solver": "logistic"}, {"scaling": "columns"}):
        assert lrlab.recover(y, X, **options).job.spec.scaling == "columns"


def test_words_and_units_do_not_change_a_direction():
    X, y, b = cases.answers(SEED, n=4000)
    trace = lrlab.recover(y, X)
    assert abs(trace.recovered @ b) / np.linalg.norm(b) > 0.99 and np.mean(covered(trace, X, b)) >= 0.5
    assert np.array_equal(lrlab.recover(np.where(y, "yes", "no"), X).estimate, trace.estimate)
    back = lrlab.recover(y, X * np.arange(1, 7) - 50.0).estimate * np.arange(1, 7)
    assert np.allclose(back / np.linalg.norm(back), trace.estimate, atol=1e-6)


def test_the_link_is_a_curve_within_its_band_and_compared_with_others():
    X, y, _ = cases.answers(SEED, n=3000)
    trace = lrlab.recover(y, X)
    table, problem = trace.link.table, trace.problem
    assert list(table) == ["index", "chance", "low", "high"]
    assert (table["low"] <= table["chance"]).all() and (table["chance"] <= table["high"]).all()
    compared = trace.link.compared(problem.rows_held, problem.y_held)
    assert set(compared) == {"logistic", "probit", "link-free"}
    assert compared["link-free"] == pytest.approx(trace.rows[-1]["held_out_log_loss"])
    assert compared["link-free"] < compared["logistic"] + 0.02
    drawn = lrlab.solve(lrlab.spec("one-bit-phase-retrieval", n=4000, p=4, threshold=0.7), "link-free-refinement")
    chance = drawn.link.table["chance"].to_numpy()
    assert chance[50] < chance[5] and chance[50] < chance[95]


@pytest.mark.parametrize("options", [{"rank": 2}, {}])
def test_a_bilinear_form_is_recovered_in_the_units_of_its_columns(options):
    X, Z, y, W = cases.bilinear(SEED + 2)
    trace = lrlab.recover(y, X, Z, **options)
    assert trace.stop is lrlab.Stop.CONVERGED and len(trace.recovered.s) == 2
    assert np.linalg.norm(trace.recovered.dense() - W) < 1e-8 * np.linalg.norm(W)
    assert np.allclose(trace.problem.predict(trace.estimate, X, Z), y)


def test_a_constant_makes_linear_terms_part_of_the_form():
    rng = np.random.default_rng(SEED)
    X, y, L = cases.quadratic(SEED + 3)
    trace = lrlab.recover(y, X, model="polynomial-network")
    assert np.linalg.norm(trace.recovered.dense() - L) < 1e-8 * np.linalg.norm(L)
    linear = y + X @ rng.standard_normal(8) - 4.0
    with_linear = lrlab.recover(linear, X, model="polynomial-network", constant=True, r=4)
    assert np.allclose(with_linear.problem.predict(with_linear.estimate, X), linear)


def test_dependent_and_zero_columns_change_nothing_that_is_measured():
    X, y, _ = cases.quadratic(SEED + 4)
    wide = np.column_stack([X, X[:, :2] @ [1.0, -1.0], np.zeros(len(X))])
    trace = lrlab.recover(y, wide, model="polynomial-network", r=2)
    assert np.allclose(trace.problem.predict(trace.estimate, wide), y)


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


def test_too_few_entries_of_a_row_are_not_unique():
    given, _ = cases.gaps(SEED, share=0.7)
    given[3, 1:] = np.nan
    given[3, 0] = 1.0
    trace = lrlab.recover(given, rank=2, solver="gauss-newton", held_out=0)
    assert trace.stop is lrlab.Stop.NOT_UNIQUE
    assert "1 given entries, fewer than the rank" in trace.summary()["message"]
    assert "truth" not in trace.summary()["message"]


def test_magnitudes_give_the_signal_up_to_a_phase():
    A, y, x = cases.magnitudes(SEED)
    for data, values in (("magnitude", y), ("intensity", y**2)):
        found = lrlab.recover(values, A, data=data).recovered
        phase = np.vdot(found, x) / abs(np.vdot(found, x))
        assert np.linalg.norm(phase * found - x) < 1e-6 * np.linalg.norm(x)


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


def test_a_trace_of_own_data_is_drawn_without_a_truth():
    X, y, _ = cases.answers(SEED)
    trace = lrlab.recover(y, X)
    assert "held-out" in trace._repr_mimebundle_()["text/plain"] and trace.figure() is not None
    assert set(trace.summary()["spec"]) >= {"n", "p", "held_out", "scaling"} and "file" not in trace.summary()["spec"]
