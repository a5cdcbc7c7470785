"""What people get back is in the units of what they gave, and what their data do not determine is named."""

import numpy as np
import pytest

import lrlab
from tests.data import cases

TABLE = "inductive-completion"
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
        assert "1 rows or columns have neither entries nor features: they stay nan" in trace.summary()["message"]


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


def test_magnitudes_that_fit_nothing_may_be_intensities():
    A, values, _ = cases.magnitudes(3)
    assert "set data=intensity" in lrlab.recover(values**2, A).summary()["message"]
    assert "set data=intensity" not in lrlab.recover(values, A).summary()["message"]


@pytest.mark.parametrize("model", ["flipped-logistic", "polynomial-network", "rank-one-sensing", TABLE])
def test_complex_numbers_are_refused_if_the_model_is_real(model):
    Z = X if model == "rank-one-sensing" else None
    given = X + 1j if model == TABLE else y
    with pytest.raises(lrlab.InputError, match="must be real, got complex numbers"):
        lrlab.recover(given, None if model == TABLE else X + 1j, Z, model=model)


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
    """The run converges, and its error is that of columns of one scale."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 20)) + 0.05 * rng.standard_normal((60, 20))
    table = np.where(rng.random(truth.shape) < 0.7, truth * scales, np.nan)
    trace = lrlab.recover(table)
    off = (trace.problem.completed(trace.estimate) / scales - truth)[np.isnan(table)]
    assert trace.stop is lrlab.Stop.CONVERGED and np.sqrt(np.mean(off**2)) < 0.15
