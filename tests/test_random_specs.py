"""Random specs, solvers, options and limits, ends of ranges included: each gives a result or one sentence.

The suite always runs the same EXAMPLES. `LRLAB_RANDOM_SPECS=2000 pytest tests/test_random_specs.py` (`make soak`) runs
that many new ones in some minutes.
"""

import json
import math
import os

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lrlab import catalog
from lrlab.parameters import InputError, declared
from lrlab.protocol import Stop, parts
from lrlab.runs.job import make_job
from lrlab.runs.run import run_job

EXAMPLES = 60
MORE = int(os.environ.get("LRLAB_RANDOM_SPECS", "0"))
CLAIMS = [(model, entry.name) for model in catalog.MODELS for entry in catalog.solvers_for(model)]
LARGEST = {
    "n": 300, "m": 300, "n1": 24, "n2": 24, "p": 16, "d": 8, "d1": 8, "d2": 8, "labels": 8, "rank": 3, "r": 3,
    "sparsity": 16, "per_row": 3, "seen_per_row": 5, "batches": 5, "side": 12,
}  # fmt: skip
"""Largest sizes; all other parameters come from their whole declared range."""
FORMULAS = ("sign(z)", "0", "1", "-1", "z > 0", "tanh(5*z)", "exp(-abs(z))", "max(-1, min(1, 1/z))", "z^2 < 1")
LIMITS = {
    "tol": st.sampled_from([0.0, 1e-8, 1e-3, 1.0]),
    "max_iter": st.sampled_from([1, 2, 8, 25]),
    "max_seconds": st.just(5.0),
}


def value_of(parameter):
    """Return the values of a parameter; half of them are the ends of its range or its default."""
    if parameter.name == "link":
        return st.sampled_from([parameter.default, *FORMULAS])
    if parameter.kind is bool:
        return st.booleans()
    if parameter.kind is str:
        return st.sampled_from(parameter.choices or (parameter.default,))
    low, high = parameter.low, min(parameter.high, LARGEST.get(parameter.name, math.inf))
    if parameter.kind is int:
        return st.one_of(st.sampled_from([int(low), int(high)]), st.integers(int(low), int(high)))
    inside = st.floats(low, high)
    if parameter.scale == "log" and low > 0:
        inside = st.floats(math.log(low), math.log(high)).map(lambda power: min(max(math.exp(power), low), high))
    return st.one_of(st.sampled_from([low, high, parameter.default]), inside)


@st.composite
def jobs(draw):
    """Return a model, its parameters, a solver made for it, and settings: sizes always, of all else some."""
    model, solver = draw(st.sampled_from(CLAIMS))
    own = {name: value_of(p) for name, p in declared(catalog.MODELS[model]).items()}
    sizes = {name: own.pop(name) for name in list(own) if name in LARGEST}
    parameters = draw(st.fixed_dictionaries(sizes, optional=own))
    if draw(st.integers(0, 9)):
        parameters |= consistent(parameters)
    options = {name: value_of(p) for name, p in catalog.solver(solver, model).options.items()}
    return model, parameters, solver, draw(st.fixed_dictionaries(LIMITS, optional=options))


def consistent(parameters):
    """Return the parameters that have to change so that the sizes do not contradict each other."""
    sides = [parameters[name] for name in ("p", "d", "d1", "d2", "labels", "n1", "n2", "side") if name in parameters]
    most = {"rank": min(sides), "r": min(sides), "sparsity": parameters.get("p", 0)}
    most |= {name: max(parameters.get("labels", 1) - 1, 0) for name in ("per_row", "seen_per_row")}
    most |= {f"d{k}": parameters.get(f"n{k}", math.inf) for k in (1, 2)}
    changed = {name: min(parameters[name], high) for name, high in most.items() if name in parameters}
    if "p" in parameters and parameters.get("truth", "random") != "random":
        changed |= {"p": 16} | ({"sparsity": 0} if "sparsity" in parameters else {})
    if parameters.get("seen_per_row"):
        changed["observed"] = 1.0
    return changed


# Jobs that once ended in another way.
@example(("one-bit-sensing", {"n": 16, "p": 4, "noise": 1e-310}, "pairwise-moment", {}))
@example(("polynomial-network", {"m": 1, "p": 3, "r": 2, "noise": 0.551, "condition": 181.8}, "scaled-gradient", {}))
@example(
    (
        "polynomial-network",
        {"seed": 55219641, "m": 300, "p": 4, "r": 1, "condition": 24000.0, "precision": "single"},
        "geco",
        {"replacement": "gradient", "max_iter": 2},
    )
)
@example(("flipped-logistic", {"n": 2, "p": 3, "design": "rademacher"}, "logistic", {}))
@example(("flipped-logistic", {"n": 2, "p": 12, "seed": 4294967295}, "link-free-refinement", {"kept": 1}))
@settings(max_examples=MORE or EXAMPLES)
@given(jobs())
def test_a_random_job_ends_in_a_result_or_in_one_sentence(drawn):
    model, parameters, solver, given_settings = drawn
    try:
        job = make_job(catalog.spec(model, **parameters), solver, **given_settings)
        trace = run_job(job)
    except InputError as refusal:
        # Some solvers see only in the data that they cannot work, for example if all responses agree.
        assert "\n" not in str(refusal) and "must be" in str(refusal)
        return
    assert isinstance(trace.stop, Stop)
    assert trace.rows or trace.stop in (Stop.NONFINITE, Stop.TIMEOUT)
    for row in trace.rows:
        assert not any(math.isinf(value) for value in row.values())
    if trace.rows:
        assert all(np.isfinite(part).all() for part in parts(trace.estimate))
    assert np.isfinite(job.entry.predict_iterations(job.spec, dict(job.options), 3)).all()
    json.dumps(trace.summary())
