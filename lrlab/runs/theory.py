"""What theory says of jobs at their own size: means and bands over draws, the best on average, limits of large sizes.

`known` is quick, for a page or a slider: limits, and means over as many draws as fit into its time. `refined` takes
seconds, and is remembered for the process; what is refined replaces what is quick.

Numbers, by name: `predicted_overlap`, `predicted_error`, mean over draws of problems of this size, and with `_median`,
`_low` and `_high` the values below which half, 10% and 90% of the draws lie; `best_...`, of the best on average over
signals; `limit_...`, for large n and p, and `limit_best_...` of all methods.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lrlab import catalog, metrics
from lrlab.arrays import Array
from lrlab.protocol import Spec
from lrlab.runs.job import Job

Numbers = Mapping[str, float]
QUICK_SECONDS, REFINED_SECONDS = 0.03, 5.0
"""About what draws may take: where a person moves a slider, and on a worker."""
FEWEST, MOST = 24, 200
"""Draws from which a mean and its band are given, and of which more change nothing that is seen."""
BAND = 0.1, 0.9
NOTHING = 1e-6
"""Bound of a score up to which there is nothing to have a share of."""
REMEMBERED = 4096
SHIPPED = Path(__file__).with_name("theory.json")

_refined: dict[object, Numbers] = {}
_quick: dict[object, Numbers] = {}


def described(overlaps: Array) -> dict[str, float]:
    """Return mean, median and band of squared overlaps (draws,), and of the errors that they are."""
    numbers = dict[str, float]()
    for measure, values in (("overlap", overlaps), ("error", metrics.errors_of(overlaps))):
        low, median, high = np.quantile(values, (BAND[0], 0.5, BAND[1]))
        numbers |= {
            f"predicted_{measure}": float(values.mean()),
            f"predicted_{measure}_median": float(median),
            f"predicted_{measure}_low": float(low),
            f"predicted_{measure}_high": float(high),
        }
    return numbers


def without_seed(item: Any) -> Any:
    """Return a spec or a job with the seed 0: what theory says is of all seeds."""
    if isinstance(item, Spec):
        return item.replace(seed=0) if item.seed else item
    return item.on(without_seed(item.spec))


def drawn(job: Job, seconds: float) -> dict[str, float]:
    """Return mean and band over the draws of a job's problem that take about so long; none where they are too few."""
    count = _draws(job, seconds)
    overlaps = job.entry.draw(job.spec, dict(job.options), count) if count >= FEWEST else None
    return {} if overlaps is None else described(overlaps)


def _draws(job: Job, seconds: float) -> int:
    return min(MOST, int(seconds / max(job.entry.draw_seconds(job.spec, dict(job.options)), 1e-9)))


def known(job: Job, draw: bool = True) -> Numbers:
    """Return what is known of a job without delay; nothing of a person's own data.

    draw: draw quickly what is not refined; not for tables of many grid points.
    """
    if not job.spec.drawn:
        return {}
    own = without_seed(job)
    here = remembered(own) or (_drawn_quickly(own) if draw else _limit(own))
    return {**here, **_limits(own.spec), **remembered(own.spec)}


def unknown(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs, without their seeds, of which `known` has to draw first."""
    own = dict.fromkeys(map(without_seed, jobs))
    return [job for job in own if _stored(job) is None and _key(job) not in _quick]


def quick(job: Job) -> Numbers:
    """Return what `known` draws of a job without a seed."""
    return {**_limit(job), **drawn(job, QUICK_SECONDS)}


def completed(job: Job) -> Numbers:
    """Return what is known of a job, its draws computed where they are not known: this may take seconds."""
    own = without_seed(job)
    if _stored(own) is None:
        remember(own, refined(own))
    return known(own)


def quotients(spec: Spec) -> dict[str, tuple[str, float]]:
    """Return the measures that are quotients: by name the score, and the bound of all methods that divides it.

    Where the bound at this size is not known (`refined`), or is 0, there are none.
    """
    measures = catalog.family(spec.model).measures
    wanted = {name: measure.quotient for name, measure in measures.items() if measure.quotient[0]}
    # Of most families there are none; this is asked for every trial of a table.
    bounds = remembered(spec) if wanted else {}
    return {name: (score, bounds[of]) for name, (score, of) in wanted.items() if bounds.get(of, 0.0) > NOTHING}


def missing(jobs: Sequence[Job]) -> list[Any]:
    """Return what is not refined of some jobs, as items for `refined`: specs, of all methods, and jobs."""
    return [*missing_bounds(job.spec for job in jobs), *missing_draws(jobs)]


def missing_draws(jobs: Iterable[Job]) -> list[Job]:
    """Return the jobs whose overlaps are to be drawn and are not, without their seeds, each once."""
    own = dict.fromkeys(map(without_seed, jobs))
    return [job for job in own if _stored(job) is None and _draws(job, REFINED_SECONDS) >= FEWEST]


def draw_seconds(jobs: Iterable[Job]) -> float:
    """Return about how long the draws of some jobs take."""
    expected = (job.entry.draw_seconds(job.spec, dict(job.options)) for job in jobs)
    return sum(min(REFINED_SECONDS, MOST * seconds) for seconds in expected)


def remembered(item: Any) -> Numbers:
    """Return what is refined of a job, or of all methods on a spec; nothing if that is not known: it draws nothing."""
    return _stored(without_seed(item)) or {}


def remembered_items() -> int:
    """Return how many refined results this process holds."""
    return len(_refined)


def missing_bounds(specs: Iterable[Spec]) -> list[Spec]:
    """Return the specs whose bound of all methods is not known, without their seeds, each once."""
    return [spec for spec in dict.fromkeys(map(without_seed, specs)) if _stored(spec) is None]


def refined(item: Any) -> Numbers:
    """Return what theory says of a job, or of all methods on a spec; for a worker, as it takes seconds."""
    if isinstance(item, Spec):
        return catalog.family(item.model).best(item)
    return {**_limit(item), **drawn(item, REFINED_SECONDS)}


def remember(item: Any, numbers: Numbers, exact: bool = True) -> None:
    """Hold the result of `refined`, or of `quick`, in memory, the newest so many."""
    memory = _refined if exact else _quick
    if len(memory) >= REMEMBERED:
        memory.pop(next(iter(memory)), None)
    memory[_key(item)] = numbers


def _key(item: Any) -> object:
    """Return what the numbers of an item depend on: limits of a run, for one, change none of them."""
    return item if isinstance(item, Spec) else (item.spec, item.solver, item.options)


def _stored(item: Any) -> Numbers | None:
    """Return what is remembered of an item, or shipped with the lab; None where there is nothing."""
    key = _key(item)
    return _refined[key] if key in _refined else _shipped(item)


@lru_cache(maxsize=REMEMBERED)
def _shipped(item: Any) -> Numbers | None:
    return shipped().get(text_of(item))


def text_of(item: Any) -> str:
    """Return an item as the key of a file."""
    if isinstance(item, Spec):
        return json.dumps([item.model, item.public_values()])
    return json.dumps([item.spec.model, item.spec.public_values(), item.solver, dict(item.options)])


@lru_cache(maxsize=1)
def shipped() -> Mapping[str, Numbers]:
    """Return what is refined of the defaults and the lessons, see `benchmarks.shipped_theory`."""
    known: Mapping[str, Numbers] = json.loads(SHIPPED.read_text()) if SHIPPED.exists() else {}
    return known


def _drawn_quickly(job: Job) -> Numbers:
    if (numbers := _quick.get(_key(job))) is None:
        numbers = quick(job)
        remember(job, numbers, exact=False)
    return numbers


@lru_cache(maxsize=REMEMBERED)
def _limit(job: Job) -> Numbers:
    return job.entry.predict(job.spec, dict(job.options))


@lru_cache(maxsize=REMEMBERED)
def _limits(spec: Spec) -> Numbers:
    return catalog.family(spec.model).asymptotics(spec)
