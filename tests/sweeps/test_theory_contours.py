"""Contours at the sizes of cells: where predictions pass the level, and nowhere else."""

import numpy as np
import pytest

import lrlab
from lrlab.model_entry import Success
from lrlab.runs import theory
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.theory import contours, lines

NOISES, RATIOS = (0.2, 0.5, 1.0, 2.0), (2.0, 4.0, 8.0, 16.0, 32.0)


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(theory, "_exact", {})


def sweep(solvers=("marginal-mean",), above=0.7):
    spec, success = lrlab.spec("one-bit-sensing", p=20), Success("overlap", above=above)
    return Sweep(spec=spec, axes={"noise": NOISES, "ratio": RATIOS}, solvers=solvers, success=success)


def refine(one, but=()):
    for job in theory.missing_draws(one.jobs):
        if (job.spec.noise, job.spec.n / job.spec.p) not in but:
            theory.cache(job, theory.exact(job))


@pytest.mark.slow
def test_on_the_contour_draws_have_the_level():
    one = sweep(above=0.7)
    assert contours(one).empty and len(theory.missing_draws(one.jobs)) == len(NOISES) * len(RATIOS)
    refine(one)
    assert theory.missing_draws(one.jobs) == []
    for half, name in ((False, "predicted_overlap"), (True, "predicted_overlap_median")):
        line = contours(one, half=half).dropna()
        assert line["x"].nunique() > 3 and line["line"].nunique() == 1
        for noise, ratio in zip(line["x"], line["y"], strict=True):
            job = lrlab.runs.job.make_job(one.spec.replace(noise=noise, n=round(20 * ratio)), "marginal-mean")
            assert theory.exact(job)[name] == pytest.approx(0.7, abs=0.04)


def test_it_is_another_line_than_that_of_large_problems():
    one = sweep(above=0.5)
    refine(one)
    here, large = contours(one).dropna(), lines(one).dropna()
    assert set(large["line"]) == {"asymptotic overlap = 0.5"} and set(here["line"]) == {"predicted: overlap = 0.5"}
    asymptotic = np.exp(np.interp(here["x"], large["x"], np.log(large["y"])))
    apart = np.abs(np.log(here["y"] / asymptotic))
    assert 0.005 < apart.max() < 0.4


def test_lines_end_where_nothing_is_known():
    one = sweep(above=0.7)
    refine(one, but={(0.5, ratio) for ratio in RATIOS})
    points = contours(one)
    finite = points.dropna()
    # Between 0.2 and 1.0 predictions of 0.5 are needed, and there are none.
    assert not finite["x"].between(0.2001, 0.9999).any() and finite["x"].max() > 1.0


@pytest.mark.slow
def test_solvers_have_lines_of_their_own_and_what_is_never_drawn_has_none():
    two = sweep(("marginal-mean", "sir", "biht"), above=0.6)
    refine(two)
    names = {f"predicted: overlap = 0.6, {two.titles[solver]}" for solver in ("marginal-mean", "sir")}
    assert set(contours(two)["line"]) == names
    assert not any(job.solver == "biht" for job in theory.missing_draws(two.jobs))
    single = Sweep(spec=two.spec, axes={"ratio": RATIOS}, solvers=["sir"])
    assert contours(single).empty
