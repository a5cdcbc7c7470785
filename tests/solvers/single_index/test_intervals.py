"""Intervals for the entries of a direction: their coverage, why there are none, and where they are shown."""

import json
from functools import partial
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import expit

import lrlab
from benchmarks.coverage import coverage
from lrlab import catalog, linalg
from lrlab.__main__ import main
from lrlab.engine.live import LiveRun
from lrlab.engine.solve import solve
from lrlab.figures import recovery
from lrlab.figures.runs import recoveries
from lrlab.linalg import unit
from lrlab.solvers.single_index.index_links import LogOdds
from lrlab.solvers.single_index.link_free import link_free_refinement
from lrlab.solvers.single_index.link_free_steps import Data, Direction, Step, angles, intervals
from tests.thorough import a_third

SOLVER = "link-free-refinement"


def line(steepness):
    """Return the log-odds steepness * z."""
    return LogOdds(1e9, steepness * np.linspace(-4.5, 4.5, 19), 2.0)


def ends(X, answers, b, link):
    """Return intervals for a unit vector b under a link, as if b were the best one under it."""
    data, at = Data(X, answers, X.shape[1]), Direction(b, X @ b, X @ b)
    return intervals(data, Step.of(data, at, link, b != 0)._replace(end=at))


def answered(n=4000, p=6, seed=0, mix=None):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ (np.eye(p) if mix is None else mix)
    b = unit(rng.standard_normal(p))
    return X, (rng.random(n) < expit(2.0 * X @ b)).astype(float), b


@pytest.mark.parametrize("correlated", [False, True])
def test_intervals_are_those_of_the_efficient_information(correlated):
    """With the true link: Cov = (P G^{-1} P) / (n E[h]), computed here from the population."""
    p = 6
    mix = (
        np.linalg.cholesky(0.6 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))).T if correlated else np.eye(p)
    )
    X, answers, b = answered(20_000, p, mix=mix)
    G = mix.T @ mix
    z = np.sqrt(b @ G @ b) * np.linspace(-8, 8, 4001)
    chance = expit(2.0 * z)
    density = np.exp(-((z**2) / (2.0 * (b @ G @ b))))
    h = np.average(4.0 * chance * (1.0 - chance), weights=density)
    P = np.eye(p) - np.outer(b, b)
    expected = np.sqrt(np.diag(P @ np.linalg.inv(G) @ P) / (len(X) * h))
    low, high, note = ends(X, answers, b, line(2.0))
    assert (high - low) / (2 * 1.959964) == pytest.approx(expected, rel=0.05) and not note


def test_an_angle_is_held_as_often_as_it_says():
    """Three entries, with an error of a third of the length of their vector."""
    rng, mu = np.random.default_rng(7), np.array([0.6, 0.8, 0.0])
    held = []
    for _ in range(1000):
        low, high, _ = angles(mu + rng.standard_normal(3) / 3.0, np.eye(3) / 9.0, np.inf, np.eye(3))
        held.append((low <= mu) & (mu <= high))
    assert np.mean(held, axis=0) == pytest.approx(0.95, abs=0.025)
    low, high, _ = angles(mu, 100.0 * np.eye(3), np.inf, np.eye(3))
    assert (low == -1.0).all() and (high == 1.0).all(), "nothing is known"


def test_intervals_say_why_there_are_none():
    X, answers, b = answered(p=8)
    sparse = unit(np.where(np.arange(8) < 3, b, 0.0))
    low, high, note = ends(X, answers, sparse, line(2.0))
    assert np.isfinite(low[:3]).any() and np.isnan(low[3:]).all() and (np.isnan(low) == np.isnan(high)).all()
    assert note == "Intervals: only for entries that are clearly not chosen at random."
    wide = np.ones((4, 501))
    signs = np.sign(X)
    rare = (X @ b > 3.5).astype(float)
    for rows, y, direction, link, words in (
        (X, answers, np.eye(8)[0], line(2.0), "a single entry is 1 or -1"),
        (wide, np.ones(4), unit(wide[0]), line(2.0), "at most 500 entries, this has 501"),
        (X[:90], answers[:90], b, line(2.0), "90 responses are too few"),
        (X, rare, b, line(2.0), f"only {rare.sum():.0f} responses belong to the rarer kind"),
        (X, answers, b, line(0.0), "the link is flat at all responses"),
        (X, (X @ b > 0).astype(float), b, line(2000.0), "responses determine the direction, too few"),
        (signs, answers, unit(sparse != 0), line(2.0), "the index has 4 values only"),
        (np.column_stack([X[:, :7], 2.0 * X[:, 0] + 1.0]), answers, b, line(2.0), "a combination of others"),
        (np.sinh(2.0 * X), answers, b, line(200.0), "columns are far from normal"),
    ):
        low, _, note = ends(rows, y, direction, link)
        assert words in note and note.startswith("No intervals: ") and np.isnan(low).all(), note


@pytest.mark.parametrize(
    ("model", "settings", "stated"),
    [
        ("custom-link", {"link": "erf(z^3/1.414)", "freedom": 3.5}, False),
        ("one-bit-sensing", {"freedom": 3.5}, False),
        ("custom-link", {"freedom": 3.5, "n": 2000, "p": 10}, False),
        ("flipped-logistic", {"freedom": 5.0}, True),
    ],
)
def test_heavy_tailed_columns_have_intervals_only_if_tails_are_moderate(model, settings, stated):
    """With a cubic probit link, intervals held .88 of the entries over 100 problems, with sin 2z .92 of them."""
    trace = solve(catalog.spec(model, design="student", **{"n": 1000, "p": 20} | settings), SOLVER)
    assert np.isfinite(trace.intervals.low).all() == stated
    assert ("columns are far from normal" in trace.intervals.note) != stated


@pytest.mark.parametrize("noise", [0.4, 1.5])
def test_skewed_columns_have_no_intervals(noise):
    """They held .84 of the entries over 80 problems at noise .4, and .91 at 1.5."""
    rng = np.random.default_rng(11)
    X = rng.lognormal(0.0, 0.7, (1500, 6)) - np.exp(0.245)
    b = rng.standard_normal(6)
    y = np.where(X @ b / np.linalg.norm(b * X.std(axis=0)) + noise * rng.standard_normal(1500) > 0, 1, -1)
    found = lrlab.recover(y, X=X, model="one-bit-sensing", solver=SOLVER).intervals
    assert np.isnan(found.low).all() and "columns are far from normal" in found.note


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"p": 100, "sparsity": 5}, "the support may still change"), ({"p": 20}, "not the best one")],
)
def test_a_run_that_stops_too_early_states_no_intervals(settings, words):
    """Intervals of the first iterate held .82 of the entries and fewer."""
    for seed in range(4):
        spec = catalog.spec("one-bit-sensing", n=500, seed=seed, **settings)
        early, whole = (solve(spec, SOLVER, **options) for options in ({"max_iter": 1}, {}))
        assert np.isnan(early.intervals.low).all() and words in early.note and "coverage" not in early.metrics
        assert np.isfinite(whole.intervals.low).any()


SMALL = (
    "one-bit-sensing n=250 p=100", "one-bit-sensing n=300 p=20", "flipped-logistic n=150 p=3",
    "one-bit-sensing n=1000 p=20 design=student freedom=2.5", "one-bit-phase-retrieval n=300 p=20",
    "flipped-logistic n=3000 p=5 intercept=5", "one-bit-sensing n=1000 p=20 design=correlated correlation=0.95",
    "one-bit-sensing n=1000 p=20 design=rademacher sparsity=2",
)  # fmt: skip
"""A share of the experiment of `benchmarks/coverage.py`: small sizes of every kind of cell."""


@pytest.mark.slow
@pytest.mark.parametrize("cell", a_third(SMALL))
def test_intervals_hold_the_truth_as_often_as_they_say_or_say_why_not(cell):
    found = coverage(cell, range(20_000, 20_020))
    assert all(found.without), "no intervals, and no reason"
    assert len(found.held) + sum(found.without.values()) == found.problems
    if len(found.held) > 5:
        # The spread of few fractions is itself uncertain: use at least the spread of 120 independent entries.
        error = max(found.error, 0.02)
        assert 0.93 - 3.0 * error <= np.mean(found.held) <= 0.97 + 3.0 * error


def test_columns_with_large_means_are_centred():
    """Own data: columns whose mean is 5 standard deviations; the truth moves with the mean alone."""
    held = []
    for seed in range(20):
        X, _, b = answered(1000, 8, seed=seed)
        answers = np.random.default_rng(seed).random(1000) < expit(2.0 * X @ b)
        X, y = X + 5.0, 2.0 * answers - 1.0
        data = SimpleNamespace(X=X, y=y, shape=X.shape, sparsity=8, contrasts=None, blocks=lambda X=X, y=y: [(X, y)])
        *_, last = islice(link_free_refinement(data, rng=np.random.default_rng(0)), 15)
        truth = b if last.estimate @ b > 0 else -b
        low, high, _ = last.intervals()
        held += list((low <= truth) & (truth <= high))
    assert 0.9 <= np.mean(held) <= 0.99


def test_intervals_are_in_the_document_of_solve_and_in_its_rows(capsys):
    settings = ["--set", "n=800", "--set", "p=5", "--set", "seed=1", "--set", "max_iter=3"]
    assert main(["solve", "flipped-logistic", "--solver", SOLVER, *settings, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    trace = lrlab.solve(lrlab.spec("flipped-logistic", n=800, p=5, seed=1), SOLVER, max_iter=3)
    ends = np.array([[entry["low"], entry["estimate"], entry["high"]] for entry in document["intervals"]])
    assert ends[:, 1] == pytest.approx(trace.estimate)
    assert ends[:, 2] - ends[:, 0] == pytest.approx(trace.intervals.high - trace.intervals.low)
    assert document["metrics"]["width"] == pytest.approx(np.mean(ends[:, 2] - ends[:, 0]))
    # The first step is long.
    assert all({"coverage", "width"} <= set(row) for row in document["trace"][1:])
    assert main(["solve", "flipped-logistic", "--solver", "logistic", *settings, "--json"]) == 0
    assert "intervals" not in json.loads(capsys.readouterr().out)


def test_stems_have_bars_for_the_last_estimate_alone():
    trace = solve(catalog.spec("one-bit-sensing", n=500, p=8), SOLVER, max_iter=3)
    [run] = recoveries(trace.job.spec, [LiveRun(trace.job, trace)])
    truth = trace.problem.truth
    figure = recovery.recovery(truth, [run])
    bars = [scatter.error_y.array for scatter in figure.data if scatter.error_y is not None]
    estimate = linalg.align(trace.estimate, truth)
    ends = sorted([trace.intervals.high, -trace.intervals.low], key=lambda end: abs((end - estimate).sum()))[0]
    assert len(bars) == 1 and bars[0] == pytest.approx(ends - estimate, abs=1e-6)
    shown = [frame.data[0].error_y.visible for frame in recovery.frames(partial(recovery.recovery, truth), [run])]
    assert shown == [False, False, True]
