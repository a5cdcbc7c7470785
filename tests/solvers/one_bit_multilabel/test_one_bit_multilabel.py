"""One-bit labels: what is drawn, the moment, power iteration, likelihood steps, and LEML on the same batches."""

from itertools import islice

import numpy as np
import pytest

import lrlab
from lrlab import solve
from lrlab.lowrank import LowRank
from lrlab.models import one_bit_multilabel
from lrlab.models.one_bit_multilabel import OneBitMultilabel, Samples
from lrlab.protocol import Stop
from lrlab.solvers.multilabel.labels import SQUARED_SIGNS
from lrlab.solvers.multilabel.leml import leml
from lrlab.solvers.one_bit_multilabel.one_bit_likelihood import one_bit_likelihood
from lrlab.solvers.one_bit_multilabel.one_bit_power import one_bit_power
from lrlab.solvers.one_bit_multilabel.one_bit_tables import one_bit_leml, one_bit_mean

SPEC = OneBitMultilabel(m=3000, d1=20, d2=10, rank=2, batches=6, seed=3)
FULL = SPEC.replace(observation="full", m=1500)
SOLVERS = (one_bit_power, one_bit_likelihood, one_bit_mean)


def run(solver, problem, iterations=6, **options):
    return [it.estimate for it in islice(solver(problem, rng=np.random.default_rng(0), **options), iterations)]


def test_what_is_drawn_is_the_model():
    spec = SPEC.replace(m=40_000, batches=1)
    W = spec.truth().dense()
    assert np.linalg.norm(W, axis=0) == pytest.approx(1) and np.linalg.matrix_rank(W) == spec.rank
    for flip, noise in ((0.0, 0.0), (0.1, 0.0), (0.0, 0.5)):
        (samples,) = spec.replace(flip=flip, noise=noise).build().blocks(0)
        margins = (samples.X @ W)[np.arange(spec.m), samples.labels]
        wrong = (np.sign(margins) != samples.y).mean()
        # sign(z + s e) differs from sign(z) with probability arctan(s) / pi.
        assert wrong == pytest.approx(flip + np.arctan(noise) / np.pi, abs=0.006 if flip or noise else 0)
        assert np.bincount(samples.labels, minlength=spec.d2) == pytest.approx(spec.m / spec.d2, rel=0.1)
    assert samples.X.var() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("spec", [SPEC, FULL])
def test_batches_can_be_read_in_any_order_and_are_the_same_when_drawn_anew(spec, monkeypatch):
    monkeypatch.setattr(one_bit_multilabel, "BLOCK", 20 * 700)
    first, again = spec.build(), spec.build()
    wanted = [list(first.blocks(t)) for t in (0, 2)]
    monkeypatch.setattr(one_bit_multilabel, "IN_MEMORY", 0)
    for t, blocks in ((2, wanted[1]), (0, wanted[0])):
        anew = list(again.blocks(t))
        assert len(anew) == len(blocks) > 2
        for a, b in zip(anew, blocks, strict=True):
            assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True) if x is not None)
            assert not a.X.flags.writeable and not a.y.flags.writeable
    assert not np.array_equal(wanted[0][0].X, wanted[1][0].X)
    longer = next(spec.replace(m=5000).build().blocks(0))
    assert np.array_equal(longer.X, wanted[0][0].X) and np.array_equal(longer.y, wanted[0][0].y)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("spec", [SPEC.replace(flip=0.05), FULL])
def test_blocks_do_not_matter(solver, spec, monkeypatch):
    problem, parts = spec.build(), spec.build()
    whole = parts.blocks

    def in_seven(batch):
        for samples in whole(batch):
            for rows in np.array_split(np.arange(len(samples.X)), 7):
                yield Samples(*(None if a is None else a[rows] for a in samples))

    monkeypatch.setattr(parts, "blocks", in_seven)
    for one, many in zip(run(solver, problem), run(solver, parts), strict=True):
        assert many.dense() == pytest.approx(one.dense(), abs=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_estimates_have_their_rank_and_columns_of_length_one(solver):
    for W in run(solver, SPEC.build(), fitted_rank=3):
        assert len(W.s) == 3 and np.linalg.norm(W.dense(), axis=0) == pytest.approx(1)
        assert W.U.T @ W.U == pytest.approx(np.eye(3), abs=1e-12) == W.V.T @ W.V
    assert len(run(one_bit_mean, SPEC.build())[-1].s) == SPEC.d2


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, one_bit_leml])
def test_labels_that_no_sample_has_do_no_harm(solver):
    spec = OneBitMultilabel(m=30, d1=8, d2=200, rank=2, batches=3)
    for W in run(solver, spec.build()):
        assert np.isfinite(W.dense()).all() and np.isfinite(list(spec.build().score(W).values())).all()


@pytest.mark.slow
def test_under_noise_power_iteration_stays_at_the_error_of_one_batch_and_likelihood_steps_do_not():
    spec = SPEC.replace(noise=0.5, batches=32)
    power, likelihood = (solve(spec, name).table["error"] for name in ("one-bit-power", "one-bit-likelihood"))
    assert power[24:].mean() > 0.8 * power[4:8].mean()
    # The root of four times as many samples.
    assert likelihood[31] < 0.65 * likelihood[7]


@pytest.mark.slow
def test_a_table_without_noise_is_fitted_without_error_and_ends_the_run():
    trace = solve(FULL, "one-bit-power", max_iter=500)
    (samples,) = FULL.build().blocks(0)
    assert trace.stop is Stop.CONVERGED and len(trace.rows) > 5
    assert (np.sign(samples.X @ trace.estimate.dense()) == samples.y).all()


@pytest.mark.slow
def test_samples_that_are_not_fresh_take_a_shorter_step():
    spec = OneBitMultilabel(observation="full", m=600, d1=60, d2=20)
    half, whole = (solve(spec, "one-bit-power", max_iter=60, step=step).table["error"] for step in (0.5, 1.0))
    assert half.iloc[-1] < 1.1 * half.min() and whole.iloc[-1] > max(1.2 * whole.min(), 1.5 * half.iloc[-1])
    assert half.equals(solve(spec, "one-bit-power", max_iter=60).table["error"])


@pytest.mark.slow
def test_likelihood_steps_stay_near_the_best_on_a_table_with_flips():
    errors = solve(FULL.replace(flip=0.1), "one-bit-likelihood", max_iter=60).table["error"]
    assert errors.iloc[-1] < 1.5 * errors.min() and errors.iloc[-1] < 0.1


def test_leml_reads_one_batch_per_iteration_or_one_table_repeatedly():
    problem = SPEC.build()
    first, second = (it for it in islice(one_bit_leml(problem, rng=np.random.default_rng(0)), 2))
    alone = leml(
        problem.table(1), rng=np.random.default_rng(5), coding=SQUARED_SIGNS, start=first.estimate
    )  # fmt: skip
    assert second.estimate.dense() == pytest.approx(next(alone).estimate.dense())
    assert len(list(one_bit_leml(problem, rng=np.random.default_rng(0)))) == SPEC.batches
    whole = run(one_bit_leml, FULL.build(), iterations=8)
    plain = run(leml, FULL.build().table(0), iterations=8, coding=SQUARED_SIGNS)
    assert whole[-1].dense() == pytest.approx(plain[-1].dense())


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["trace-norm-squared", "trace-norm-logistic", "svm"])
def test_rivals_fit_a_table_of_all_labels(solver):
    trace = solve(FULL.replace(m=300, noise=0.2), solver, regularization=20.0, max_iter=40)
    assert trace.metrics["auc"] > 0.9 and trace.estimate.threshold == 0


def test_the_truth_scores_best_and_lengths_of_columns_do_not_count():
    problem = SPEC.build()
    W = problem.truth
    longer = LowRank(W.U, W.s, W.V * np.linspace(1, 5, SPEC.d2)[:, None])
    for estimate in (W, longer):
        score = problem.score(estimate)
        assert score["error"] == pytest.approx(0, abs=1e-12) and score["hamming"] == 0 and score["label_auc"] == 1
    assert problem.score(W)["auc"] == 1


@pytest.mark.slow
def test_batches_drawn_from_a_table_end_at_the_error_of_one_batch():
    # As the paper does: a fifth of the signs for each iteration. The whole table at half step predicts nearly all.
    spec = lrlab.spec("one-bit-multilabel", m=1500, d1=30, d2=20, rank=2, observation="full", seed=1007)
    whole, drawn = (lrlab.solve(spec, "one-bit-power", max_iter=30, batch_share=share) for share in (0.0, 0.2))
    assert whole.metrics["hamming"] < 0.5 * drawn.metrics["hamming"]
    assert 0.005 < drawn.metrics["hamming"] < 0.05
    assert drawn.table["hamming"].iloc[0] > 1.5 * drawn.metrics["hamming"]
    stream = spec.replace(observation="stream", m=3000)
    fresh, same = (lrlab.solve(stream, "one-bit-power", max_iter=5, batch_share=share) for share in (0.0, 0.2))
    assert fresh.metrics["hamming"] == same.metrics["hamming"]


@pytest.mark.slow
def test_labels_that_can_be_separated_leave_no_minimum_without_a_penalty():
    spec = lrlab.spec("one-bit-multilabel", m=15, d1=20, d2=6, rank=2, observation="full")
    for weight, stop in ((0, "NO_MINIMUM"), (1, "CONVERGED")):
        assert lrlab.solve(spec, "trace-norm-logistic", regularization=weight).stop.name == stop
