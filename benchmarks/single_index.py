"""Accuracy and time of every solver of single-index models, and what not knowing the link costs.

python benchmarks/single_index.py [--trials 20] [--cells TEXT] [--solvers NAME,NAME]

For each cell: median error and seconds, time as a multiple of link-free refinement's on the same data (median over
trials, the solvers taking turns), and the error of link-free refinement over that of the best solver that knows the
link, or stands for one that does: logistic and probit regression, approximate message passing.
"""

import argparse
import statistics
from collections.abc import Iterator
from typing import NamedTuple

from lrlab import catalog
from lrlab.models.flipped_logistic import FlippedLogistic
from lrlab.models.one_bit_phase_retrieval import OneBitPhaseRetrieval
from lrlab.models.one_bit_sensing import OneBitSensing
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.runs.job import make_job
from lrlab.runs.run import solve

LINK_FREE = "link-free-refinement"
INFORMED = ("logistic", "probit", "gamp")
MAX_SECONDS = 60.0

WIDE = {"n": 1000, "p": 1000, "sparsity": 10}
CELLS: tuple[SingleIndexSpec, ...] = (
    *(OneBitSensing(noise=noise) for noise in (0.0, 0.1, 0.316228, 1.0)),
    *(FlippedLogistic(flip=flip) for flip in (0.0, 0.1, 0.3)),
    FlippedLogistic(intercept=1.0),
    *(OneBitPhaseRetrieval(threshold=t, noise=noise) for noise in (0.0, 0.1) for t in (1.0, 0.3, 1.5)),
    *(OneBitSensing(noise=noise, **WIDE) for noise in (0.1, 0.316228)),
    OneBitPhaseRetrieval(p=200, sparsity=5),
)


class Outcome(NamedTuple):
    """Error and seconds of one run."""

    error: float
    seconds: float


def title(spec: SingleIndexSpec) -> str:
    """Return the model with its parameters that are not the default's, and its size."""
    own = [f"{name}={value:g}" for name, value in spec.values().items() if name in ("noise", "flip", "intercept")]
    own += [f"threshold={spec.values()['threshold']:g}"] if "threshold" in spec.values() else []
    size = f"n={spec.n} p={spec.p}" + (f" s={spec.sparsity}" if spec.sparsity else "")
    return f"{spec.model} {' '.join(own)} {size}"


def accepted(spec: SingleIndexSpec, wanted: list[str]) -> Iterator[str]:
    """Yield the solvers that take this spec; those for sparse signals only where it is sparse."""
    for entry in catalog.solvers_for(spec.model):
        made_for_sparse = entry.name.startswith("sparse-")
        if (wanted and entry.name not in wanted) or (made_for_sparse and not spec.sparsity):
            continue
        try:
            make_job(spec, entry.name)
        except InputError as refusal:
            print(f"  {entry.name}: {refusal}")
        else:
            yield entry.name


def measure(spec: SingleIndexSpec, names: list[str], trials: int) -> dict[str, list[Outcome]]:
    """Return the outcomes of each solver, on the same data in each trial."""
    results: dict[str, list[Outcome]] = {name: [] for name in names}
    for seed in range(trials):
        for name in names:
            trace = solve(spec.replace(seed=seed), name, max_seconds=MAX_SECONDS)
            if trace.rows:
                results[name].append(Outcome(trace.metrics["error"], trace.rows[-1]["seconds"]))
    return {name: outcomes for name, outcomes in results.items() if len(outcomes) == trials}


def report(results: dict[str, list[Outcome]]) -> None:
    """Print a row a solver, the most accurate first, and the price of not knowing the link."""
    errors = {name: statistics.median(o.error for o in outcomes) for name, outcomes in results.items()}
    for name in sorted(errors, key=lambda name: errors[name]):
        seconds = statistics.median(o.seconds for o in results[name])
        row = f"  {name:<24}{errors[name]:9.4f}{seconds:10.4f} s"
        if LINK_FREE in results:
            pairs = zip(results[name], results[LINK_FREE], strict=True)
            row += f"{statistics.median(o.seconds / own.seconds for o, own in pairs):9.3f} x"
        print(row)
    informed = [name for name in errors if name in INFORMED]
    if informed and LINK_FREE in errors:
        best = min(informed, key=lambda name: errors[name])
        print(f"  {LINK_FREE} / {best}: {errors[LINK_FREE] / errors[best]:.3f} of the median error")


def main() -> None:
    """Measure the cells asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--cells", default="", help="only cells whose title contains this")
    parser.add_argument("--solvers", default="", help="only these, separated by commas")
    given = parser.parse_args()
    wanted = [name for name in given.solvers.split(",") if name]
    print(f"Medians of {given.trials} trials: error, seconds, time as a multiple of {LINK_FREE}'s")
    for spec in CELLS:
        if given.cells in title(spec):
            print(title(spec))
            report(measure(spec, list(accepted(spec, wanted)), given.trials))


if __name__ == "__main__":
    main()
