"""Answers that are all the same: every solver ends with one sentence, none with a direction of chance."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Stop
from lrlab.runs import theory
from lrlab.runs.job import make_job
from lrlab.solver_entry import entries
from lrlab.solvers.single_index.family import ONE_KIND, SAME_ANSWERS, index_solver, needs_samples
from lrlab.solvers.single_index.pairwise import NO_PAIRS

CELLS = [
    ("one-bit-phase-retrieval", {"n": 60, "threshold": 5.0, "p": 5}),
    ("one-bit-phase-retrieval", {"n": 12, "threshold": 0.01, "p": 2, "sparsity": 1}),
    ("flipped-logistic", {"n": 20, "intercept": 5.0, "p": 4, "seed": 1000}),
    ("one-bit-sensing", {"n": 4, "p": 2, "noise": 0.0, "seed": 1000}),
    ("custom-link", {"n": 30, "p": 3, "link": "max(-1, min(1, z + 7))"}),
]
WITHOUT_INTERCEPT = {"marginal-mean", "biht", "plan-vershynin-ball", "plan-vershynin-lp"}


@pytest.mark.parametrize(("model", "values"), CELLS, ids=[model for model, _ in CELLS])
def test_equal_answers_end_in_the_same_sentence_for_all_solvers(model, values):
    spec, ended = catalog.spec(model, **values), set()
    assert abs(spec.build().y.sum()) == spec.n
    for entry in catalog.solvers_for(model):
        try:
            trace = lrlab.solve(spec, entry.name)
        except InputError:
            continue
        if entry.name == "gamp":
            continue
        ended.add(entry.name)
        if entry.name in WITHOUT_INTERCEPT:
            assert trace.note.endswith(SAME_ANSWERS)
        else:
            assert trace.stop is Stop.FINISHED and trace.note == ONE_KIND and not trace.estimate.any()
            assert trace.metrics["overlap"] == 0.0
    assert ended


def test_a_refusal_by_keyword_joins_those_of_the_family():
    """It was overwritten without a word."""

    def refuse(spec, options):
        raise InputError("n", "another one", spec.n, "none")

    def run(problem, *, rng):
        yield Iterate(np.zeros(problem.shape[1]))

    [entry] = entries(index_solver(needs_samples, refuse=refuse)(run))
    with pytest.raises(InputError, match="at least 2p"):
        entry.refuse(catalog.spec("one-bit-sensing", n=4, p=3), {})
    with pytest.raises(InputError, match="another one"):
        entry.refuse(catalog.spec("one-bit-sensing", n=40, p=3), {})


def test_a_moment_without_pairs_has_no_direction():
    spec = catalog.spec("one-bit-sensing", n=4, p=2, seed=3)
    problem = spec.build()
    changed = problem.y[1::2] != problem.y[::2]
    assert not changed.any() and 0 < (problem.y > 0).sum() < 4
    trace = lrlab.solve(spec, "pairwise-moment", moment="M")
    assert trace.stop is Stop.FINISHED and not trace.estimate.any() and trace.note.endswith(NO_PAIRS)


def test_a_prediction_counts_the_problems_whose_answers_are_equal():
    spec = catalog.spec("one-bit-phase-retrieval", n=8, p=2, threshold=1.5)
    problems = [spec.replace(seed=5000 + k) for k in range(150)]
    equal = sum(abs(one.build().y.sum()) == one.n for one in problems)
    overlaps = [lrlab.solve(one, "phd").metrics["overlap"] for one in problems]
    assert equal > 5 and overlaps.count(0.0) == equal
    predicted = theory.exact(make_job(spec, "phd"))["predicted_overlap"]
    assert abs(np.mean(overlaps) - predicted) < 4 * np.std(overlaps) / np.sqrt(len(overlaps))
