"""Theory of low-rank matrices at finite size: lines on maps, and the Cramer-Rao bound."""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from lrlab.model_entry import Success
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory.bulk import nuclear_norm
from lrlab.theory.cramer_rao import least_error

BOUND_DRAWS = 3
"""Fewest draws in the mean of the bound."""
MOST_OF_A_BOUND = 2**22
"""Entries of the matrix to decompose per draw."""


def theory_lines(spec: Any, entry: SolverEntry, options: Options, rule: Success) -> dict[str, bool]:
    """Return whether measurements reach the degrees of freedom, and the sides of other lines.

    With ln 2 expected rows that have fewer entries than the rank, half of the matrices have such a row (Poisson). The
    statistical dimension holds for dense Gaussian matrices and exact measurements.
    """
    lines = {"degrees of freedom": spec.measurements >= spec.degrees_of_freedom}
    if spec.scarce_rows is not None:
        lines["k entries in every row"] = spec.scarce_rows <= math.log(2)
    if entry.name == "least-squares":
        lines["all entries"] = spec.measurements >= spec.entries
    if entry.name == "complete-then-regress":
        (n1, n2), k = spec.table, spec.true_rank
        lines["degrees of freedom of the table"] = spec.measurements >= k * (n1 + n2 - k)
    exact = not spec.outliers and not spec.values()["noise"]
    if entry.name == "nuclear-norm" and exact and spec.values().get("operator") == "dense":
        lines["statistical dimension"] = spec.measurements >= nuclear_norm(*spec.size, spec.true_rank)
    return lines


def noise_bound(spec: Any, work: float = 2e8, most: int = 60) -> dict[str, float]:
    """Return `bound_error`, the Cramer-Rao bound of the error over some draws of a spec (root mean square).

    work: multiplications for all draws, at most so many. Nothing without noise, or if it takes more than some seconds.
    """
    noise, numbers = float(spec.values()["noise"]), spec.degrees_of_freedom * spec.measurements
    if not noise or numbers > MOST_OF_A_BOUND:
        return {}
    # Near the degrees of freedom draws differ much.
    draws = min(most, max(BOUND_DRAWS, int(work / (numbers * spec.degrees_of_freedom))))
    problems = (spec.replace(seed=seed).build() for seed in range(draws))
    return mean_bound(least_error(problem.operator, problem.truth, noise) for problem in problems)


def mean_bound(errors: Iterable[float]) -> dict[str, float]:
    """Return `bound_error`, the root mean square of bounds; nothing if one of them is infinite."""
    known = math.sqrt(np.mean(np.square(list(errors))))
    return {"bound_error": known} if math.isfinite(known) else {}
