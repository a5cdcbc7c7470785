"""Draws low-rank problems without noise, and the solvers that are to recover them, from all four models."""

from collections.abc import Iterator

import numpy as np

from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.runs.job import Job, make_job

PENALIZED = ("als", "soft-impute", "nuclear-norm")
"""Solvers whose minimum is that of another objective; they name the penalty."""


def side(rng: np.random.Generator, low: int, high: int) -> int:
    """Return a size, evenly in its logarithm."""
    return int(round(np.exp(rng.uniform(np.log(low), np.log(high)))))


def drawn(rng: np.random.Generator, scale: float = 1.0) -> Job | None:
    """Return a solver on a problem: 0.9 to 5 times the degrees of freedom, condition 1 to 1e6; None where it refuses.

    scale: of all sides, of 6 to 40.
    """
    model = str(rng.choice([name for name in catalog.MODELS if catalog.family(name).name == "low-rank"]))
    low, high = int(6 * scale), int(40 * scale)
    condition, seed = (10 ** rng.uniform(0, 6) if rng.random() < 0.7 else 1.0), int(31000 + rng.integers(2**20))
    a, b, c, d = (side(rng, low, high) for _ in range(4))
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


def drawn_jobs(count: int, seed: int, scale: float = 1.0) -> Iterator[Job]:
    """Yield so many jobs."""
    rng, number = np.random.default_rng(seed), 0
    while number < count:
        if (job := drawn(rng, scale)) is not None:
            number += 1
            yield job
