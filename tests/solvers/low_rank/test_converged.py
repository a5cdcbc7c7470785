"""CONVERGED is a claim: the true gradient on the tangent space is zero, for any solver, noise and shape."""

import numpy as np
import pytest

import lrlab
from lrlab import catalog, lowrank
from lrlab.operators.tangent import rounding_error
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Newest, run_job
from tests.thorough import a_third

SPECS = {
    "gaussian": lrlab.spec("rank-one-sensing", m=250, d1=12, d2=9, rank=3, condition=10),
    "network": lrlab.spec("polynomial-network", m=200, p=12, r=3, condition=30),
    "features": lrlab.spec("inductive-completion", n1=70, n2=60, d1=8, d2=7, rank=2, observed=0.1),
    "plain": lrlab.spec("inductive-completion", n1=24, n2=20, rank=2, observed=0.5, features="canonical"),
    "regression": lrlab.spec("multilabel-regression", n=90, d=6, labels=10, rank=2, observed=0.4),
    "few": lrlab.spec("rank-one-sensing", m=40, d1=12, d2=9, rank=3),
    "few samples": lrlab.spec("polynomial-network", m=40, p=12, r=3),
}
CLAIMS = [(name, entry.name) for name, spec in SPECS.items() for entry in catalog.solvers_for(spec.model)]


def cosine(problem, W, penalty=0.0):
    """Return the cosine between the misfit and the image of the steepest direction on the tangent space at W.

    With a penalty ||W||_*, the gradient of the sum on the tangent space, relative to that of the misfit.
    """
    rest = problem.operator(W) - problem.b
    kept = np.abs(W.s) > 0
    U, V = W.U[:, kept], W.V[:, kept]
    pulled = problem.operator.adjoint(rest)
    G = pulled + penalty * (U * np.sign(W.s[kept])) @ V.T
    T = U @ (U.T @ G) + (G @ V) @ V.T - U @ (U.T @ G @ V) @ V.T
    if penalty:
        return float(np.linalg.norm(T) / np.linalg.norm(pulled))
    image = problem.operator(lowrank.from_dense(T))
    size = float(np.linalg.norm(rest) * np.linalg.norm(image))
    solved = np.linalg.norm(rest) <= 2 * rounding_error(problem.b)
    return 0.0 if solved or not size else float((T * T).sum()) / size


def penalty_of(name, problem, options):
    """Return the weight of the nuclear norm in a solver's objective."""
    pulled = problem.operator.adjoint(problem.b)
    if name == "nuclear-norm":
        return options["mu_share"] * np.linalg.norm(pulled, 2)
    if name == "soft-impute":
        return options["shrinkage"] * np.linalg.norm(pulled, 2)
    return options["ridge"] if name == "als" else 0.0


@pytest.mark.parametrize("noise", [0.0, 0.3])
@pytest.mark.parametrize(("case", "name"), a_third(CLAIMS))
def test_every_converged_run_is_stationary(case, name, noise):
    try:
        # Only the end counts here, so the test leaves out the scores of earlier iterates, a fifth of the time.
        trace = run_job(make_job(SPECS[case].replace(noise=noise, seed=1003), name, max_iter=600), newest=Newest())
    except InputError as refusal:
        pytest.skip(f"refused: {refusal}")
    if trace.stop is Stop.CONVERGED:
        penalty = penalty_of(name, trace.problem, dict(trace.job.options))
        assert cosine(trace.problem, trace.estimate, penalty) < 1e-6
    if noise and name in ("ep-rom", "ap-rom", "gfm", "geco"):
        assert trace.stop is not Stop.CONVERGED, "its fixed points are not stationary"


@pytest.mark.parametrize("name", ["tangent-descent", "scaled-gradient", "gauss-newton"])
@pytest.mark.parametrize(("signs", "condition"), [("mixed", 10), ("mixed", 1000), ("positive", 100)])
def test_networks_whose_units_differ_are_recovered(name, signs, condition):
    """All of these ended at points of the wrong signs, which some called converged."""
    spec = lrlab.spec("polynomial-network", p=40, r=4, m=480, signs=signs, condition=condition, seed=1001)
    trace = lrlab.solve(spec, name)
    assert trace.stop is Stop.CONVERGED and trace.metrics["error"] < 1e-10


# Random problems without noise


PENALIZED = ("als", "soft-impute", "nuclear-norm")
"""Solvers that minimize another objective; they name the penalty."""
MODELS = [name for name in catalog.MODELS if catalog.family(name).name == "low-rank"]
JOBS, SEED = 16, 31000


def drawn(rng: np.random.Generator) -> Job | None:
    """Return a solver on a problem: 0.9 to 5 times the degrees of freedom, condition 1 to 1e6; None if it refuses."""
    model = str(rng.choice(MODELS))
    condition, seed = (10 ** rng.uniform(0, 6) if rng.random() < 0.7 else 1.0), int(31000 + rng.integers(2**20))
    a, b, c, d = (int(round(np.exp(rng.uniform(np.log(6), np.log(40))))) for _ in range(4))
    sizes = {
        "rank-one-sensing": {"d1": a, "d2": b},
        "polynomial-network": {"p": a, "signs": str(rng.choice(["mixed", "positive"]))},
        "inductive-completion": {
            "n1": max(a, c), "n2": max(b, d), "d1": min(a, c), "d2": min(b, d),
            "features": str(rng.choice(["orthonormal", "correlated", "canonical"])),
        },
        "multilabel-regression": {"n": max(a, c), "d": min(a, c), "labels": b},
    }[model]  # fmt: skip
    rank = "r" if model == "polynomial-network" else "rank"
    try:
        spec = catalog.spec(model, seed=seed, condition=condition, **sizes, **{rank: int(rng.integers(1, 6))})
        m = max(1, round(np.exp(rng.uniform(np.log(0.9), np.log(5))) * spec.degrees_of_freedom))
        n1, n2 = spec.table
        spec = spec.replace(observed=min(1.0, m / (n1 * n2))) if n1 else spec.replace(m=m)
        entry = rng.choice([one.name for one in catalog.solvers_for(model) if one.name not in PENALIZED])
        return make_job(spec, str(entry), max_seconds=5.0)
    except InputError:
        return None


def test_what_converges_on_exact_data_misses_no_direction():
    rng, count = np.random.default_rng(SEED), 0
    while count < JOBS:
        if (job := drawn(rng)) is None:
            continue
        # Only the end counts here, so earlier iterates get no scores.
        count, trace = count + 1, run_job(job, newest=Newest())
        missed = trace.metrics.get("weakest_error", 1.0) >= 0.1
        assert trace.stop is not Stop.CONVERGED or not missed, (job.spec, job.solver)
