"""What theory says of jobs at their own size: means and bands over simulated problems, Bayes-optimal scores, limits.

`predictions` is fast enough for a page or a slider: limits, and means over as many replicates as fit into 30 ms.
`exact` takes seconds, and `cache` keeps its result for this process, which then replaces the fast one.

Numbers by name: `predicted_overlap` and `predicted_error`, means over replicates of this size; with `_median`, `_low`
and `_high` the values below which half, 10% and 90% of them lie; `best_...`, Bayes-optimal; `limit_...`, asymptotic;
`limit_best_...`, of all methods.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lrlab import catalog, linalg
from lrlab.arrays import Array
from lrlab.protocol import Spec
from lrlab.runs.job import Job

Numbers = Mapping[str, float]
QUICK_SECONDS, EXACT_SECONDS = 0.03, 5.0
"""Approximate time of replicates while a user moves a slider, and on a worker."""
FEWEST, MOST = 24, 200
"""Replicates that a mean and its band need, and beyond which no visible digit changes."""
BAND = 0.1, 0.9
NOTHING = 1e-6
"""Largest bound of a score that counts as zero; no score is a fraction of it."""
CACHED = 4096
SHIPPED = Path(__file__).with_name("theory.json")

_exact: dict[str, Numbers] = {}
_quick: dict[str, Numbers] = {}


def described(overlaps: Array) -> dict[str, float]:
    """Return mean, median and band of squared overlaps (replicates,), and of the errors that follow from them."""
    numbers = dict[str, float]()
    for metric, values in (("overlap", overlaps), ("error", linalg.errors_of(overlaps))):
        low, median, high = map(float, np.quantile(values, (BAND[0], 0.5, BAND[1])))
        several = {"": float(values.mean()), "_median": median, "_low": low, "_high": high}
        numbers |= {f"predicted_{metric}{end}": value for end, value in several.items()}
    return numbers


def without_seed(item: Any) -> Any:
    """Return a spec or a job with the seed 0: theory holds for all seeds."""
    if isinstance(item, Spec):
        return item.replace(seed=0) if item.seed else item
    return item.on(without_seed(item.spec))


@lru_cache(maxsize=CACHED)
def key_of(item: Any) -> str:
    """Return the values that determine the numbers of a job, or of all methods on a spec; limits of a run do not."""
    if isinstance(item, Spec):
        return json.dumps([item.model, {**item.public_values(), "seed": 0}])
    return json.dumps([item.spec.model, {**item.spec.public_values(), "seed": 0}, item.solver, dict(item.options)])


def replicates(job: Job, seconds: float) -> int:
    """Return how many replicates of a job's problem fit into so many seconds, 0 if they are too few for a mean."""
    count = min(MOST, int(seconds / max(job.entry.sample_seconds(job.spec, dict(job.options)), 1e-9)))
    return count if count >= FEWEST else 0


def _computed(job: Job, seconds: float) -> Numbers:
    count = replicates(job, seconds)
    overlaps = job.entry.sample(job.spec, dict(job.options), count) if count else None
    return {**_asymptotics(job), **({} if overlaps is None else described(overlaps))}


def quick(job: Job) -> Numbers:
    """Return what 30 ms suffice for."""
    return _computed(job, QUICK_SECONDS)


def exact(item: Any) -> Numbers:
    """Return what theory says of a job, or of all methods on a spec; for a worker, since it takes seconds."""
    if isinstance(item, Spec):
        return catalog.family(item.model).best(item)
    return _computed(item, EXACT_SECONDS)


def cache(item: Any, numbers: Numbers, exact: bool = True) -> None:
    """Keep the result of `exact`, or of `quick`, in memory, the newest so many."""
    memory = _exact if exact else _quick
    if len(memory) >= CACHED:
        memory.pop(next(iter(memory)), None)
    memory[key_of(item)] = numbers


def cached(item: Any) -> Numbers | None:
    """Return the `exact` numbers of a job or a spec that are in memory or shipped; it computes nothing."""
    key = key_of(item)
    return _exact.get(key, shipped().get(key))


def predictions(job: Job, sampled: bool = True) -> Numbers:
    """Return what theory says of a job without delay; nothing about your own data.

    sampled: whether to compute uncached numbers quickly; not for tables of many grid points.
    """
    if not job.spec.synthetic:
        return {}
    own, here = without_seed(job), cached(job)
    if not here and sampled:
        if key_of(own) not in _quick:
            cache(own, quick(own), exact=False)
        here = _quick[key_of(own)]
    return {**(here or _asymptotics(own)), **_asymptotics(own.spec), **(cached(own.spec) or {})}


def exact_predictions(job: Job) -> Numbers:
    """Return the predictions of a job, from exact numbers: this may take seconds."""
    if cached(job) is None:
        cache(job, exact(without_seed(job)))
    return predictions(job)


def fractions(spec: Spec) -> dict[str, tuple[str, float]]:
    """Return the metrics that are fractions of a bound: by name the score, and the bound at this size.

    Metrics whose bound is not cached, or is 0, are left out.
    """
    known = {
        name: metric.quotient for name, metric in catalog.family(spec.model).measures.items() if metric.quotient[0]
    }
    # Most families have none, and every trial of a table asks.
    bounds = (cached(spec) or {}) if known else {}
    return {name: (score, bounds[of]) for name, (score, of) in known.items() if bounds.get(of, 0.0) > NOTHING}


def not_cached(items: Iterable[Any], quickly: bool = False) -> list[Any]:
    """Return the jobs or specs without exact numbers, and if `quickly` without quick ones, each once, with seed 0."""
    own = dict.fromkeys(map(without_seed, items))
    return [item for item in own if cached(item) is None and not (quickly and key_of(item) in _quick)]


def missing_draws(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs whose exact numbers are not cached and can be computed, each once, with seed 0."""
    return [job for job in not_cached(jobs) if replicates(job, EXACT_SECONDS)]


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, Numbers]:
    """Return the exact numbers of the defaults and the lessons by `key_of`, see `benchmarks.shipped_theory`."""
    known: Mapping[str, Numbers] = json.loads(SHIPPED.read_text()) if SHIPPED.exists() else {}
    return known


@lru_cache(maxsize=CACHED)
def _asymptotics(item: Any) -> Numbers:
    if isinstance(item, Spec):
        return catalog.family(item.model).asymptotics(item)
    return item.entry.predict(item.spec, dict(item.options))  # type: ignore[no-any-return]
