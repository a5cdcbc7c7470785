"""Answers that are all the same: every solver ends with one sentence, none with a direction of chance."""

import pytest

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.solvers.single_index.family import ONE_KIND, SAME_ANSWERS
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


def test_a_moment_without_pairs_has_no_direction():
    spec = catalog.spec("one-bit-sensing", n=4, p=2, seed=3)
    problem = spec.build()
    changed = problem.y[1::2] != problem.y[::2]
    assert not changed.any() and 0 < (problem.y > 0).sum() < 4
    trace = lrlab.solve(spec, "pairwise-moment", moment="M")
    assert trace.stop is Stop.FINISHED and not trace.estimate.any() and trace.note.endswith(NO_PAIRS)
