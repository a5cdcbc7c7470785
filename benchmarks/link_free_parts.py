"""What each part of link-free refinement is worth: errors and processor time with one part left out at a time.

python benchmarks/link_free_parts.py [--trials 20] [--first-seed 1000] [--parts TEXT ...] [--cells TEXT ...]

A row for each part and cell: the geometric mean over problems of the error without the part over the error with it, the
ratio of the median errors, and the ratio of processor times. The first table has errors and times with all parts.
"""

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from unittest.mock import patch

import numpy as np

from lrlab import catalog
from lrlab.protocol import Spec, drive
from lrlab.runs.job import make_job
from lrlab.solvers.single_index import (
    cross_fitting,
    link_fit,
    link_free,
    link_free_levels,
    link_free_moves,
    link_free_start,
)
from lrlab.theory.formula_link import READY

SOLVER = "link-free-refinement"
SIGN, LOGISTIC, PHASE, CUSTOM = "one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link"
CELLS = (
    *(f"{CUSTOM} n={n} p=20 link={link}" for n in (300, 3000) for link in READY),
    SIGN,
    LOGISTIC,
    PHASE,
    f"{LOGISTIC} n=3000 p=20 flip=0.2",
    f"{SIGN} n=3000 p=20 noise=0.1",
    f"{SIGN} n=3000 p=20 noise=1",
    f"{SIGN} n=1000 p=20 noise=0",
    f"{PHASE} n=3000 p=20 threshold=0.3",
    f"{PHASE} n=3000 p=20 threshold=1.5",
    f"{LOGISTIC} n=10000 p=40 flip=0.1",
    f"{SIGN} n=1000 p=40 noise=0.316",
    f"{PHASE} n=1000 p=40",
    f"{PHASE} n=300 p=20 threshold=0.3",
    f"{SIGN} n=250 p=100",
    f"{LOGISTIC} n=10000 p=100 sparsity=5 flip=0.1",
    f"{SIGN} n=1000 p=200 sparsity=5 noise=0.316",
    f"{SIGN} n=1000 p=1000 sparsity=10 noise=0.1",
    f"{PHASE} n=1000 p=200 sparsity=5",
    f"{PHASE} n=5000 p=400 sparsity=5",
)
Changes = Mapping[tuple[object, str], object]


def without(name: str) -> Changes:
    """Return what is patched to leave out the smoothness of a name."""
    kept = tuple(smoothness for smoothness in link_fit.SMOOTHNESS if not smoothness.name.startswith(name))
    chosen = link_fit.chosen

    def least(fits: Sequence[link_fit.Fit], least: int = 0) -> int:
        return chosen(fits, least if fits[0].smoothness.name == "a straight line" else 0)

    return {(link_fit, "SMOOTHNESS"): kept, (link_free_start, "chosen"): least, (link_free, "chosen"): least}


PARTS: dict[str, Changes] = {
    "nothing": {},
    "a straight line": without("a straight line"),
    "a parabola": without("a parabola"),
    "the stiff spline": without("a stiff"),
    "the spline": without("a spline (penalty 0.1)"),
    "the flexible spline": without("a flexible"),
    "turns: other starts with splines": {(link_free, "doubtful"): lambda data, fit: False},
    "jumps": {(link_free, "attempts"): lambda *arguments: ()},
    "cross-fitting: the link on fitted indices": {(cross_fitting.CrossFit, "held_out"): lambda self, Z: Z[:, -1]},
    "eleven directions: three": {(cross_fitting, "FOLDS"): 2},
    "steps from one direction": {(link_free_moves, "FEWEST_ROWS"): 10**9},
    "the sharper link": {
        (link_free_moves, "sharpened"): lambda link, held_out, entries: link,
        (link_free_start, "sharpened"): lambda link, held_out, entries: link,
    },
    "exchanges of entries": {
        (link_free_moves, "exchanged"): lambda data, link, at, now, moved, exchanges, s: (moved, exchanges // 2)
    },
    "evidence: held-out answers choose": {(link_free_start, "chosen_by_evidence"): None},
    "the return to the start": {(link_free, "BY_REFINEMENT"): -np.inf},
    "levels of narrowing": {(link_free_levels, "PATIENCE"): -1},
}
del PARTS["evidence: held-out answers choose"]


@contextlib.contextmanager
def left_out(changes: Changes) -> Iterator[None]:
    """Patch what a part needs to be left out."""
    with contextlib.ExitStack() as stack:
        for (place, name), value in changes.items():
            stack.enter_context(patch.object(place, name, value))
        yield


def measured(spec: Spec) -> tuple[float, float]:
    """Return the error and the processor time of a problem."""
    job, problem = make_job(spec, SOLVER), spec.build()
    problem.load(True)
    last: list = []
    start = time.process_time()
    iterates = job.entry.run(problem, **dict(job.options), rng=np.random.default_rng(spec.streams().solver))
    drive(
        iterates, lambda iteration, seconds, iterate: last.__setitem__(slice(None), [iterate]), **job.limits._asdict()
    )
    return problem.score(last[0].estimate)["error"], time.process_time() - start


def cell(text: str, seeds: Sequence[int]) -> np.ndarray:
    """Return errors and times (seeds, 2)."""
    model, *settings = text.split(" ", 1)
    pairs = [] if not settings else settings[0].replace(" link=", "\tlink=").split("\t")
    given = dict(word.split("=", 1) for word in pairs[0].split(" ")) if pairs else {}
    given |= {"link": pairs[1].removeprefix("link=")} if len(pairs) > 1 else {}
    spec = catalog.spec(model, **given)
    return np.array([measured(spec.replace(seed=seed)) for seed in seeds])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--parts", nargs="*", default=[""])
    parser.add_argument("--cells", nargs="*", default=[""])
    parser.add_argument("--out", default="")
    given = parser.parse_args()
    seeds = range(given.first_seed, given.first_seed + given.trials)
    results = {}
    for part, changes in PARTS.items():
        if part != "nothing" and not any(text in part for text in given.parts):
            continue
        for text in CELLS:
            if any(name in text for name in given.cells):
                with left_out(changes):
                    results[part, text] = cell(text, seeds)
                error, cpu = results[part, text].T
                whole = results["nothing", text]
                ratio = np.exp(np.mean(np.log((error + 1e-12) / (whole[:, 0] + 1e-12))))
                print(
                    f"{part} | {text} | {np.median(error):.4f} | {ratio:.3f} | {np.median(error) / np.median(whole[:, 0]):.3f} | {1e3 * np.median(cpu):.1f} ms | {np.median(cpu / whole[:, 1]):.2f}",
                    flush=True,
                )
    if given.out:
        np.savez(given.out, **{f"{p}|{t}": v for (p, t), v in results.items()})


if __name__ == "__main__":
    main()
