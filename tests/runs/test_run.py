"""Runs end in a trace, or in one sentence."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lrlab
from lrlab import catalog
from lrlab.engine.messages import Failure
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Stop
from lrlab.runs.job import make_job
from lrlab.runs.run import NumericalBreakdown, run_job
from lrlab.shell import solve as shell_solve

SINGLE_INDEX = [
    (model, entry.name)
    for model in ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval")
    for entry in catalog.solvers_for(model)
]
SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def jobs(draw):
    model, solver = draw(st.sampled_from(SINGLE_INDEX))
    p = draw(st.integers(2, 24))
    values = {"n": draw(st.integers(2, 400)), "p": p, "sparsity": draw(st.integers(0, p)), "seed": draw(SEEDS)}
    own = {
        "one-bit-sensing": {"noise": st.sampled_from([0.0, 1e-6, 0.1, 1.0, 10.0])},
        "flipped-logistic": {"flip": st.floats(0, 0.5), "intercept": st.floats(-10, 10)},
        "one-bit-phase-retrieval": {"threshold": st.floats(0.01, 5), "noise": st.sampled_from([0.0, 0.1, 3.0])},
    }[model]
    values |= {name: draw(value) for name, value in own.items()}
    return model, solver, values


def end(model, solver, values):
    """Run a job to its end; a refusal and a breakdown are sentences."""
    try:
        trace = lrlab.solve(catalog.spec(model, **values), solver, max_iter=30, max_seconds=20)
    except (InputError, NumericalBreakdown) as sentence:
        assert "\n" not in str(sentence) and str(sentence).endswith(".") or isinstance(sentence, InputError)
        return
    assert isinstance(trace.stop, Stop)
    json.dumps(trace.summary(), default=str)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(jobs())
def test_any_spec_ends_in_a_result_or_a_sentence(job):
    end(*job)


ERRORS = [np.linalg.LinAlgError("Singular matrix"), ZeroDivisionError("division by zero"), FloatingPointError()]


@pytest.fixture(params=ERRORS, ids=lambda error: type(error).__name__)
def broken(request, monkeypatch):
    def run(problem, *, rng):
        yield Iterate(np.ones(problem.shape[1]))
        raise request.param

    entry = replace(catalog.solver("pairwise-moment", "one-bit-sensing"), run=run)
    monkeypatch.setattr(catalog, "solver", lambda *arguments: entry)
    monkeypatch.setattr(catalog, "compatible", lambda *arguments: entry)
    return make_job(catalog.spec("one-bit-sensing"), "pairwise-moment")


def test_a_numerical_error_in_a_solver_is_one_sentence(broken):
    with pytest.raises(NumericalBreakdown, match="^pairwise-moment broke down numerically after 1 iterations") as info:
        run_job(broken)
    assert Failure.of(info.value).sentence == str(info.value)


def test_a_numerical_error_ends_the_shell_with_a_sentence_and_status_1(broken, monkeypatch, capsys):
    from lrlab.__main__ import main

    monkeypatch.setattr(shell_solve, "job_from", lambda *arguments: broken)
    assert main(["solve", "one-bit-sensing", "--solver", "pairwise-moment"]) == 1
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and "broke down numerically" in err
