"""Coverage of the 95% intervals of link-free refinement: share of entries whose interval holds the truth.

python benchmarks/coverage.py [--runs 500] [--first-seed 2000] [--set n=3000 ...]

For each model: mean coverage over all entries and runs with its standard error, mean width, the root mean square
error and what the standard errors say of it.
"""

import argparse

import numpy as np

from lrlab import catalog
from lrlab.runs.run import solve

MODELS = ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval")
SOLVER = "link-free-refinement"


def main() -> None:
    """Measure the models."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--first-seed", type=int, default=2000)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    for model in given.models.split(","):
        spec = catalog.spec(model, **dict(text.split("=", 1) for text in given.set))
        traces = [solve(spec.replace(seed=given.first_seed + k), SOLVER) for k in range(given.runs)]
        coverage, width, error = (
            np.array([t.metrics[name] for t in traces]) for name in ("coverage", "width", "error")
        )
        expected = [float(np.square(trace.standard_errors).sum()) for trace in traces]
        print(
            f"{model}: coverage {coverage.mean():.4f} +- {coverage.std() / np.sqrt(given.runs):.4f},"
            f" mean width {width.mean():.4g}, error {np.sqrt(np.mean(error**2)):.4g} (root mean square),"
            f" by the standard errors {np.sqrt(np.mean(expected)):.4g}",
            flush=True,
        )


if __name__ == "__main__":
    main()
