"""Random low-rank problems without noise, of all four models: what converges has all directions."""

import numpy as np

from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.protocol import Stop
from lrlab.runs.job import Job, make_job
from lrlab.runs.run import Newest, run_job

PENALIZED = ("als", "soft-impute", "nuclear-norm")
"""Solvers whose minimum is that of another objective; they name the penalty."""
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
        missing = job.spec.true_rank - trace.metrics.get("recovered_directions", 0)
        assert trace.stop is not Stop.CONVERGED or not missing, (job.spec, job.solver)
