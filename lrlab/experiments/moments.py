"""The moment that spectral starts decompose, along an axis: its spectrum, its gap, its overlap with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog
from lrlab.experiments.axes import place
from lrlab.experiments.budget import require_memory
from lrlab.experiments.trials import Progress, Run, in_process, silent, trial_spec
from lrlab.models.low_rank import LowRankSpec
from lrlab.protocol import Spec
from lrlab.solvers.starts import leading_part
from lrlab.theory import spiked_noise

Row = dict[str, Any]


@dataclass(frozen=True)
class MomentTrial:
    """One draw: the spec with the trial's own seed, and where it lies on the axis."""

    spec: Spec
    axis: str = ""
    at: float = float("nan")
    trial: int = 0


def moment_trial(task: MomentTrial) -> list[Row]:
    """Return the k + 1 largest singular values (eigenvalues by size, of a symmetric moment) of one draw, one row each.

    The moment is scale A*(b), debiased where the measurements are symmetric: its mean is W. A row: axis, at, trial,
    seed, rank (1 is the largest), value, its size; and overlap, the mean squared cosine ||U^T U_true||_F^2 / k of the
    k leading left vectors with the truth.
    """
    problem = task.spec.build()
    k, rng = problem.rank, np.random.default_rng(task.spec.streams().solver)
    found = leading_part(problem.operator, problem.b, min(k + 1, *problem.operator.shape), rng)
    overlap = float(((found.U[:, :k].T @ problem.truth.U) ** 2).sum()) / k
    place_of = {"axis": task.axis, "at": task.at, "trial": task.trial, "seed": task.spec.seed}
    sizes = np.sort(np.abs(found.s))[::-1]
    return [{**place_of, "rank": j, "value": float(s), "overlap": overlap} for j, s in enumerate(sizes, start=1)]


def moment_trials(spec: Spec, axis: str, values: Sequence[float], trials: int = 10) -> list[MomentTrial]:
    """Return the trials of all cells; InputError where a value is out of bounds or memory would not suffice."""
    entry, tasks = catalog.solver("tangent-descent"), []
    for value in values:
        cell = place(spec, axis, value)
        require_memory(cell, entry, {})
        tasks += [MomentTrial(trial_spec(cell, trial), axis, float(value), trial) for trial in range(trials)]
    return tasks


def moments(
    spec: Spec,
    axis: str,
    values: Sequence[float],
    trials: int = 10,
    run: Run = in_process,
    progress: Progress = silent,
) -> pd.DataFrame:
    """Return the rows of `moment_trial` for `trials` draws at each value of the axis, as a tidy table."""
    results = run(moment_trial, moment_trials(spec, axis, values, trials), progress)
    return pd.DataFrame([row for rows in results for row in rows])


def predictions(spec: Spec, axis: str, values: Sequence[float]) -> pd.DataFrame:
    """Return what the moment would show if its noise were independent and Gaussian, of the same variance.

    Columns: at; largest and smallest, limits of the first and the k-th value; edge, of the (k + 1)-th, the end of the
    bulk; overlap, mean over the k left vectors; true_largest and true_smallest, the limits of endless measurements.
    An approximation: measurements of one matrix are neither independent over entries nor light in their tails.
    """
    return pd.DataFrame([{"at": float(value), **_prediction(place(spec, axis, value))} for value in values])


def _prediction(spec: LowRankSpec) -> Row:
    (rows, columns), v = spec.size, spec.moment_variance
    sizes = np.abs(spec.singular_values)
    if spec.model == "polynomial-network":
        spikes = [spiked_noise.symmetric_spike(float(s), v, rows) for s in sizes]
        edge = spiked_noise.symmetric_edge(v, rows)
    else:
        spikes = [spiked_noise.spike(float(s), v, rows, columns) for s in sizes]
        edge = spiked_noise.edge(v, rows, columns)
    return {
        "largest": spikes[0].value,
        "smallest": spikes[-1].value,
        "edge": edge,
        "overlap": float(np.mean([spike.left for spike in spikes])),
        "true_largest": float(sizes.max()),
        "true_smallest": float(sizes.min()),
    }


def compare(table: pd.DataFrame, rank_of: dict[float, int]) -> pd.DataFrame:
    """Return one row for each value of the axis: mean and spread of the first, k-th and (k + 1)-th value, the gap.

    rank_of: k at each value of the axis. Columns: at, trials, mean_ and sd_ of largest, smallest, next, gap (k-th minus
    next) and overlap. Where the matrix has no (k + 1)-th value, next is 0.
    """
    rows = []
    for at, group in table.groupby("at"):
        k = rank_of[float(at)]
        values = group.pivot(index="trial", columns="rank", values="value")
        following = values[k + 1] if k + 1 in values else 0.0 * values[k]
        seen = {
            "largest": values[1],
            "smallest": values[k],
            "next": following,
            "gap": values[k] - following,
            "overlap": group[group["rank"] == 1]["overlap"],
        }
        statistics = {f"mean_{name}": float(v.mean()) for name, v in seen.items()}
        statistics |= {f"sd_{name}": float(v.std(ddof=1)) for name, v in seen.items()}
        rows.append({"at": float(at), "trials": len(values), **statistics})
    return pd.DataFrame(rows)


def ranks(spec: Spec, axis: str, values: Sequence[float]) -> dict[float, int]:
    """Return the rank of the truth at each value of the axis."""
    return {float(value): place(spec, axis, value).true_rank for value in values}
