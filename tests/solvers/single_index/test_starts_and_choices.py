"""Choices that are right and starts that see: M or M', starts of refinements, nearly separable answers."""

from types import SimpleNamespace

import numpy as np
import pytest

import lrlab
from lrlab.models.index_family import FlippedLogistic, OneBitPhaseRetrieval, OneBitSensing
from lrlab.solvers.single_index.class_moments import choose, class_moments
from lrlab.solvers.single_index.sparse_pairwise import sparse_choice


def choices(spec, seeds):
    return [choose(class_moments(spec.replace(seed=seed).build())) for seed in seeds]


def wrong_choices(spec, seeds):
    right = "M" if spec.link_function.moments.phi > 0 else "M'"
    return float(np.mean([choice.moment != right for choice in choices(spec, seeds)]))


@pytest.mark.parametrize("p", [2, 5])
@pytest.mark.parametrize(
    ("spec", "most"),
    [
        (OneBitSensing(noise=0.1), 0.06),
        (OneBitSensing(noise=1.0), 0.06),
        (FlippedLogistic(), 0.2),
        (OneBitPhaseRetrieval(threshold=0.3), 0.2),
        (OneBitPhaseRetrieval(threshold=1.0), 0.1),
        (OneBitPhaseRetrieval(threshold=2.0), 0.12),
    ],
    ids=("sign", "noisy sign", "logistic", "t=.3", "t=1", "t=2"),
)
def test_the_right_moment_is_chosen_of_few_unknowns(spec, most, p):
    """The larger top eigenvalue of M and M' alone chose wrongly in half of these at p = 2, and in .4 at p = 5."""
    assert wrong_choices(spec.replace(n=10 * p, p=p), range(20_000, 20_100)) <= most
    assert wrong_choices(spec.replace(n=100 * p, p=p), range(20_000, 20_020)) == 0.0


def test_a_doubtful_choice_is_called_uncertain_and_a_clear_one_is_right():
    spec, wrong = FlippedLogistic(n=60, p=3), {True: [], False: []}
    for choice in choices(spec, range(3000, 3300)):
        wrong["uncertain" in choice.note].append(choice.moment != "M")
    assert min(map(len, wrong.values())) > 30
    assert np.mean(wrong[False]) <= 0.02 < np.mean(wrong[True])


def noise_moments(n, p, rate, seeds):
    """Yield class moments of responses that do not depend on x, a fraction `rate` of them 1."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((n, p)), np.where(rng.random(n) < rate, 1.0, -1.0)
        yield class_moments(SimpleNamespace(shape=(n, p), blocks=lambda X=X, y=y: [(X, y)]))


@pytest.mark.parametrize(("n", "p", "rate"), [(200, 200, 0.3), (200, 200, 0.8), (400, 20, 0.3)])
def test_the_dense_choice_is_uncertain_for_responses_without_a_signal(n, p, rate):
    """At n = p and a rate of .3, noise stood out in M by 5 standard deviations, in 20 of 24 cases as a sure choice."""
    chosen = [choose(moments) for moments in noise_moments(n, p, rate, 24)]
    for heights in ([one.differ for one in chosen], [one.agree for one in chosen]):
        assert abs(np.mean(heights)) < 0.8
    assert sum("uncertain" in one.note for one in chosen) >= 20


@pytest.mark.parametrize("spec", [OneBitSensing(noise=0.5), OneBitPhaseRetrieval(threshold=0.3)])
def test_the_sparse_choice_is_right(spec):
    spec = spec.replace(n=600, p=60, sparsity=3)
    sparse = [sparse_choice(class_moments(spec.replace(seed=seed).build()), 3) for seed in range(20)]
    assert {choice.moment for choice in sparse} == {"M" if spec.link_function.moments.phi > 0 else "M'"}
    assert not any("uncertain" in choice.note for choice in sparse)


@pytest.mark.parametrize(
    ("n", "p", "s", "rate"), [(1000, 100, 5, 0.5), (1000, 100, 90, 0.3), (1000, 100, 50, 0.3), (200, 200, 5, 0.3)]
)
def test_the_sparse_choice_is_uncertain_for_responses_without_a_signal(n, p, s, rate):
    """It called 16 of 20 sure, "30 standard deviations above pure noise"."""
    notes = [sparse_choice(moments, s).note for moments in noise_moments(n, p, rate, 20)]
    assert sum("uncertain" in note for note in notes) >= 14
    assert all("standard deviations of such an entry" in note and "above pure noise" not in note for note in notes)


@pytest.mark.parametrize(
    "spec",
    [OneBitPhaseRetrieval(n=20_000, p=5, threshold=0.1, seed=1), OneBitPhaseRetrieval(threshold=0.1, seed=5020)],
    ids=("n=20000", "seed 5020"),
)
def test_nearly_separable_answers_are_fitted(spec):
    trace = lrlab.solve(spec, "link-free-refinement", max_iter=30)
    assert trace.metrics["overlap"] > 0.999


@pytest.mark.slow
def test_a_narrow_band_is_found_with_and_without_its_link():
    spec = OneBitPhaseRetrieval(n=800, p=100, threshold=0.3)
    for solver, least in (("gamp", 8), ("link-free-refinement", 6)):
        overlaps = [lrlab.solve(spec.replace(seed=seed), solver).metrics["overlap"] for seed in range(8)]
        assert sum(overlap >= 0.98 for overlap in overlaps) >= least, (solver, overlaps)
