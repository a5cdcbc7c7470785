"""The moment that spectral starts decompose, along an axis: its spectrum, its gap, its overlap with the truth."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from lrlab.models.axes import place
from lrlab.models.phase_retrieval import PhaseRetrieval, PhaseRetrievalProblem
from lrlab.operators.krylov import nearest
from lrlab.protocol import Spec
from lrlab.spectra import Draw, Row, draws, statistics, table
from lrlab.theory import phase, spiked

MOST_SPLIT, MOST_BULK = 0.1, 0.5
"""Largest split of equal values, and edge of the bulk, over the gap, for predictions of the gap within 10%."""
COLUMNS = ("largest", "smallest", "edge", "overlap", "true_largest", "true_smallest")
SURE = 0.85
"""Least predicted overlap that is within .05 of simulations; smaller ones are too large by up to .26."""


def moment_spectrum(draw: Draw) -> list[Row]:
    """Return the k + 1 largest singular values (eigenvalues by size, of a symmetric moment) of a sample, one row each.

    Low-rank models: the moment scale A*(b), debiased for symmetric measurements, with mean W. Phase retrieval: (1/m)
    sum T(s_i) a_i a_i^* with the weights T of the "optimal" initialization, k = 1. A row: axis, at, trial, seed, k
    (rank of the truth), rank (1 is the largest), value; and overlap, the mean squared cosine of the k leading vectors
    with the truth, ||U^* U_true||_F^2 / k.
    """
    problem, place = draw.spec.build(), draw.place | {"k": draw.spec.true_rank}
    if isinstance(problem, PhaseRetrievalProblem):
        s = problem.intensity / problem.intensity.mean()
        weighted = problem.A * phase.weigh("optimal", s, 0.0)[:, None]
        values, vectors = np.linalg.eigh(problem.A.conj().T @ weighted / len(s))
        overlap = abs(np.vdot(vectors[:, -1], problem.truth)) ** 2 / float(np.vdot(problem.truth, problem.truth).real)
        values = values[-2:][::-1]
    else:
        k, rng = problem.rank, np.random.default_rng(draw.spec.streams().solver)
        leading = nearest(problem.operator.moment(problem.b), min(k + 1, *problem.operator.shape), rng)
        values = np.sort(np.abs(leading.s))[::-1]
        overlap = float(((leading.U[:, :k].T @ problem.truth.U) ** 2).sum()) / k
    columns = {"rank": range(1, 1 + len(values)), "value": values, "overlap": overlap}
    return pd.DataFrame({**place, **columns}).to_dict("records")


moment_draws, moments = partial(draws, "gauss-newton"), partial(table, moment_spectrum, "gauss-newton")


def predictions(spec: Spec, axis: str, values: Sequence[float]) -> pd.DataFrame:
    """Return the predicted spectrum of the moment for independent Gaussian noise of the same variances.

    Columns: at; largest and smallest, limits of the first and the k-th value; edge, of the (k + 1)-th, the end of the
    bulk; overlap, mean over the k left vectors; true_largest and true_smallest, the limits for infinite data. An
    approximation: entries of the moment are dependent and heavy-tailed, and equal values split. So values and edge are
    nan unless the k-th value is far above the bulk and the noise that splits it (then the gap is within 10%), and the
    overlap is nan below SURE. For phase retrieval the limits are exact for large m and p.
    """
    rows = [{"at": float(value), **_prediction(place(spec, axis, value))} for value in values]
    return pd.DataFrame(rows, columns=["at", *COLUMNS], dtype=float)


def _prediction(spec: Any) -> Row:
    if isinstance(spec, PhaseRetrieval):
        spike = phase.spike(spec.field, "optimal", spec.noise, spec.data)
        largest, edge = spike.eigenvalues(spec.m / spec.p)
        endless = float(spike.Z @ spike.energy)
        limits = largest, largest, edge, spike.overlap(spec.m / spec.p), endless, endless
        return dict(zip(COLUMNS, limits, strict=True))
    if spec.outliers:
        # Gross errors are not Gaussian noise.
        return {}
    (rows, columns), noise, sizes = spec.size, spec.moment_noise, np.abs(spec.singular_values)
    known = {"true_largest": float(sizes.max()), "true_smallest": float(sizes.min())}
    if noise is None:
        return known
    spikes = [spiked.spike(float(s), noise, j, rows, columns) for j, s in enumerate(sizes)]
    edge = spiked.edge(noise.rest, rows, columns)
    values = [one.value for one in spikes]
    overlap = float(np.mean([one.left for one in spikes]))
    # Independent noise of this variance between the u and the v lowers the least of k equal values by up to `split`.
    split = float(np.sqrt(2.0 * (len(sizes) - 1) * np.max(noise.right + 2.0 * (noise.left - noise.rest))))
    gap = min(values) - edge
    if split <= MOST_SPLIT * gap and edge <= MOST_BULK * gap:
        known |= {"largest": max(values), "smallest": min(values), "edge": edge}
    return known | ({"overlap": overlap} if overlap >= SURE else {})


def compare(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per value of the axis: mean and spread of the first, k-th and (k + 1)-th value, and the gap.

    Columns: at, trials, mean_ and sd_ of largest, smallest, next, gap (k-th minus next) and overlap. If the matrix has
    no (k + 1)-th value, next is 0.
    """
    ranks = {"largest": 1, "smallest": rows["k"], "next": rows["k"] + 1}
    of = {name: rows[rows["rank"] == rank].set_index(["at", "trial"]) for name, rank in ranks.items()}
    values = pd.DataFrame({name: own["value"] for name, own in of.items()}).fillna({"next": 0.0})
    values = values.assign(gap=values["smallest"] - values["next"], overlap=of["largest"]["overlap"])
    return statistics(values, ["at"])
