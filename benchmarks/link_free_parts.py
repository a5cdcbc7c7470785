"""What each part of link-free refinement is worth: errors and processor time with one part left out at a time.

python benchmarks/link_free_parts.py [--problems 12] [--first-seed 1000] [--parts TEXT ...] [--cells TEXT ...]

A row for each cell: median error and processor time with all parts, then for each part the geometric mean over problems
of the error without it over the error with it, and, in brackets, the same of processor time.
"""

import argparse
import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from lrlab import catalog
from lrlab.arrays import Array
from lrlab.protocol import Iterate, Spec
from lrlab.runs.job import make_job
from lrlab.runs.run import drive
from lrlab.solvers.single_index import link_free, link_free_rounds, link_free_start
from lrlab.solvers.single_index.index_links import SMOOTH
from lrlab.solvers.single_index.link_free_rounds import Newton
from lrlab.solvers.single_index.moment_posterior import Posterior
from lrlab.theory.formula_link import READY

SOLVER = "link-free-refinement"
SIGN, LOGISTIC, PHASE, CUSTOM = "one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link"
Settings = dict[str, Any]


def cells() -> list[tuple[str, Settings]]:
    """Return models with their settings: the seven links, defaults, and cells of Yi et al. (2015), Figures 1 to 3."""
    links = [(CUSTOM, {"link": link, "n": n, "p": 20}) for n in (300, 3000) for link in READY]
    dense = [
        (LOGISTIC, {"n": 3000, "p": 20, "flip": 0.2}), (SIGN, {"n": 3000, "p": 20, "noise": 1.0}),
        (SIGN, {"n": 1000, "p": 20, "noise": 0.0}), (PHASE, {"n": 3000, "p": 20, "threshold": 0.3}),
        (PHASE, {"n": 3000, "p": 20, "threshold": 1.5}), (LOGISTIC, {"n": 10_000, "p": 40, "flip": 0.1}),
        (SIGN, {"n": 1000, "p": 40, "noise": 0.316}), (PHASE, {"n": 1000, "p": 40}),
        (PHASE, {"n": 300, "p": 20, "threshold": 0.3}), (SIGN, {"n": 250, "p": 100}),
    ]  # fmt: skip
    sparse = [
        (LOGISTIC, {"n": 10_000, "p": 100, "sparsity": 5, "flip": 0.1}),
        (SIGN, {"n": 1000, "p": 200, "sparsity": 5, "noise": 0.316}),
        (SIGN, {"n": 1000, "p": 1000, "sparsity": 10, "noise": 0.1}),
        (PHASE, {"n": 1000, "p": 200, "sparsity": 5}),
        (PHASE, {"n": 5000, "p": 400, "sparsity": 5}),
    ]
    return links + [(SIGN, {}), (LOGISTIC, {}), (PHASE, {})] + dense + sparse


def kinds(*left_out: str) -> Mapping[tuple[Any, str], Any]:
    """Return what is patched to leave out kinds of smooth links."""
    kept = tuple(link for link in SMOOTH if link.kind not in left_out)
    splines = tuple(link for link in kept if link.weight)[:1]
    return {(link_free, "SMOOTH"): kept, (link_free, "SPLINE"): splines}


def unchanged(data: Any, best: Any) -> Iterator[Any]:
    """Return the round that there is, and try nothing."""
    return best
    yield


def not_held_out(data: Any, at: Any, link: Any, support: Any, exact: bool = False, of: Any = Newton.of) -> Newton:
    """Return the Newton step with all answers for every answer."""
    newton = of(data, at, link, support, exact=exact)
    return newton._replace(without=data.X @ newton.step)


def likeliest(sums: Any, of: Any = Posterior.of) -> Posterior:
    """Return the direction of the likeliest hypothesis alone."""
    found = of(sums)
    return found._replace(b=found.likeliest.direction(sums))


PARTS: Mapping[str, Mapping[tuple[Any, str], Any]] = {
    "the parabola": kinds("a parabola"),
    "the spline": kinds("a spline (penalty 0.1)"),
    "the flexible spline": kinds("a flexible spline (penalty 0.001)"),
    "jumps": {(link_free, "jumping"): unchanged},
    "other starts": {(link_free, "turning"): unchanged},
    "holding out": {
        (Newton, "of"): staticmethod(not_held_out),
        (link_free_start, "held_out"): lambda X, answers, sums, moment, b: X @ b,
    },
    "exchanges": {(link_free_rounds, "exchanged"): lambda data, link, at, step, moved, reached, k: (moved, k // 2)},
    "the average over moments": {(Posterior, "of"): staticmethod(likeliest)},
    "the return to the start": {(link_free, "BY_REFINEMENT"): (-np.inf, -np.inf)},
}


@contextlib.contextmanager
def without(changes: Mapping[tuple[Any, str], Any]) -> Iterator[None]:
    """Leave a part out."""
    with contextlib.ExitStack() as stack:
        for (place, name), value in changes.items():
            stack.enter_context(patch.object(place, name, value))
        yield


def measured(spec: Spec) -> tuple[float, float]:
    """Return the error and the processor time of a problem."""
    job, problem, last = make_job(spec, SOLVER), spec.build(), list[Iterate]()
    problem.load(True)
    start = time.process_time()
    iterates = job.entry.run(problem, **dict(job.options), rng=np.random.default_rng(spec.streams().solver))
    drive(
        iterates, lambda iteration, seconds, iterate: last.__setitem__(slice(None), [iterate]), **job.limits._asdict()
    )
    return problem.score(last[0].estimate)["error"], time.process_time() - start


def errors(model: str, settings: Settings, seeds: Sequence[int]) -> Array:
    """Return errors and times (problems, 2)."""
    return np.array([measured(catalog.spec(model, seed=seed, **settings)) for seed in seeds])


def main() -> None:
    """Measure the cells, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=12)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--parts", nargs="*", default=[""], help="parts of names of parts")
    parser.add_argument("--cells", nargs="*", default=[""], help="parts of names of cells")
    given = parser.parse_args()
    parts = {name: changes for name, changes in PARTS.items() if any(text in name for text in given.parts)}
    print(f"| cell | error | ms | {' | '.join(parts)} |\n|---|---|---|{'---|' * len(parts)}")
    for model, settings in cells():
        name = " ".join([model, *(f"{key}={value}" for key, value in settings.items())])
        if not any(text in name for text in given.cells):
            continue
        seeds = range(given.first_seed, given.first_seed + given.problems)
        whole, texts = errors(model, settings, seeds), list[str]()
        for changes in parts.values():
            with without(changes):
                ratio = np.exp(np.mean(np.log(errors(model, settings, seeds) / whole), axis=0))
            texts.append(f"{ratio[0]:.2f} ({ratio[1]:.1f})")
        error, seconds = np.median(whole, axis=0)
        print(f"| {name} | {error:.3g} | {1000.0 * seconds:.0f} | {' | '.join(texts)} |", flush=True)


if __name__ == "__main__":
    main()
