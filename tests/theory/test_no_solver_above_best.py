"""No solver is better, on average over signals and data, than what theory calls best: defaults, lessons, drawn specs.

The suite takes a few of them; `LRLAB_ABOVE_BEST=all` (`make soak`) takes all.
"""

import math
import os

import numpy as np
import pytest

import lrlab
from lrlab.lessons import lessons
from lrlab.lessons.figures import spec_at
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import Trial, run_trial
from lrlab.theory.finite_best import finite_best
from lrlab.theory.formula_link import READY

SOLVERS = (
    "gamp", "link-free-refinement", "spectral-optimal", "pairwise-moment", "sparse-pairwise-moment", "sir",
    "logistic", "probit",
)  # fmt: skip
SEEDS, FIRST, DRAWN = 40, 10, 50
FAR_BEHIND = -6.0
"""Standard errors behind the best with which the first seeds are enough."""
SMALLEST = 1e-9
MOST_NUMBERS = 60_000
"""Entries of X of drawn specs, so that all solvers take little time."""
FEW = (8, 12, 14)
"""Drawn specs that the suite tries."""
MOST_ERRORS = 3.0
"""Standard errors by which the mean of a solver may be better."""
MODELS = ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link")


def drawn(number):
    """Return a spec with p in 2..200, n/p in 1/2..200."""
    rng = np.random.default_rng([1808, number])
    model = str(rng.choice(MODELS))
    p = round(math.exp(rng.uniform(math.log(2), math.log(200))))
    n = max(2, min(5000, MOST_NUMBERS // p, round(p * math.exp(rng.uniform(math.log(0.5), math.log(200))))))
    noise = float(rng.choice([0.0, 0.1, round(math.exp(rng.uniform(-3.0, 1.5)), 3)]))
    settings = {"n": n, "p": p, "noise": noise, "seed": 1000 + number}
    if rng.random() < 0.4:
        settings["flip"] = round(rng.uniform(0.0, 0.4), 3)
    if rng.random() < 0.2:
        settings["sparsity"] = min(p, int(rng.integers(1, 4)))
    if model == "flipped-logistic":
        settings["intercept"] = round(rng.uniform(-2.0, 2.0), 2)
    elif model == "one-bit-phase-retrieval":
        settings["threshold"] = round(rng.uniform(0.0, 2.0), 2)
    elif model == "custom-link":
        settings["link"] = str(rng.choice(list(READY)))
    return lrlab.spec(model, **settings)


def of_lessons():
    """Return the specs of single-index models that the figures of lessons show."""
    figures = [step.figure for lesson in lessons().values() for step in lesson.steps if step.figure]
    at = [(figure, value) for figure in figures for value in figure.slider.values]
    specs = dict.fromkeys(spec_at(figure, value) for figure, value in at)
    return [spec for spec in specs if isinstance(spec, SingleIndexSpec)]


def selected():
    """Return the specs of this run."""
    if os.environ.get("LRLAB_ABOVE_BEST") == "all":
        return [*map(lrlab.spec, MODELS), *of_lessons(), *map(drawn, range(DRAWN))]
    return [*map(drawn, FEW)]


def scores_of(spec, solver, numbers):
    """Return overlap and error (seeds, 2) of a solver on trials of a spec; an estimate of zeros is orthogonal."""
    job = make_job(spec, solver, max_seconds=5.0)
    scores = [run_trial(Trial(job, number)).scores for number in numbers]
    return np.array([[score.get("overlap", 0.0), score.get("error", math.sqrt(2.0))] for score in scores])


def ahead(table, best):
    """Return the standard errors (2,) by which means of overlap and error (seeds, 2) are better than the best."""
    errors = table.std(axis=0, ddof=1) / math.sqrt(len(table))
    overlap = (table[:, 0].mean() - best.overlap) / max(math.hypot(errors[0], best.overlap_error), SMALLEST)
    error = (best.error - table[:, 1].mean()) / max(math.hypot(errors[1], best.error_error), SMALLEST)
    return np.array([overlap, error])


def compared(spec):
    """Return the standard errors (2,) by which each solver is ahead of the best; those far behind have FIRST seeds."""
    best, leads = finite_best(spec), {}
    for solver in SOLVERS if best else ():
        try:
            table = scores_of(spec, solver, range(FIRST))
        except InputError:
            continue
        if ahead(table, best).max() > FAR_BEHIND:
            table = np.concatenate([table, scores_of(spec, solver, range(FIRST, SEEDS))])
        leads[solver] = ahead(table, best)
    return leads


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("spec", selected(), ids=lambda spec: f"{spec.model}-n{spec.n}-p{spec.p}-{spec.seed}")
def test_no_mean_over_seeds_is_better_than_the_best(spec):
    leads = compared(spec)
    assert {solver: by for solver, by in leads.items() if by.max() > MOST_ERRORS} == {}
