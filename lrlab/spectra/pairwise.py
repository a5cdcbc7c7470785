"""Spectra of the pairwise moments: along an axis, simulated and predicted; and all eigenvalues of one sample."""

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from lrlab.arrays import Array
from lrlab.figures import spectrum as drawing
from lrlab.figures.build import Figure
from lrlab.linalg import top_eigenpairs
from lrlab.models.axes import place
from lrlab.models.single_index import SingleIndexSpec
from lrlab.protocol import Spec
from lrlab.solvers.single_index.class_moments import pair_moments
from lrlab.spectra import Draw, Row, draws, statistics, table
from lrlab.theory import spiked
from lrlab.theory.bulk import density, support, upper_edge
from lrlab.theory.spiked import DRAWS, finite_moment

MOMENTS = ("M", "M'")
LARGEST_BAND = 200
"""Largest p with bands: they narrow, and take longer, as p grows."""
OUTER = 0.05
"""Fraction of the samples below, and above, a band."""


def pairwise_spectrum(draw: Draw) -> list[Row]:
    """Return the two largest eigenvalues of M/4 and M'/4 (consecutive pairs) of one draw, one row each.

    A row: axis, at, trial, seed, moment ("M" or "M'"), rank (1 is the largest), value, and overlap, the squared cosine
    of the eigenvector and the truth.
    """
    rows, problem = list[Row](), draw.spec.build()
    for moment, M in zip(MOMENTS, pair_moments(problem, "consecutive"), strict=True):
        values, vectors = top_eigenpairs(M, 2)
        for rank, (value, vector) in enumerate(zip(values, vectors.T, strict=True), start=1):
            overlap = float(vector @ problem.truth) ** 2
            rows.append({**draw.place, "moment": moment, "rank": rank, "value": float(value), "overlap": overlap})
    return rows


spectrum_draws, spectrum = partial(draws, "pairwise-moment"), partial(table, pairwise_spectrum, "pairwise-moment")


def predictions(spec: Spec, axis: str, values: Sequence[float]) -> pd.DataFrame:
    """Return the theory of both moments at each value: axis, at, phi and the fields of `spiked.Prediction`.

    top and overlap hold at this n/p in the limit of large p; second is the mean of the largest eigenvalue of noise at
    this p, the edge of the bulk plus the mean of its Tracy-Widom fluctuation. Without a visible signal, top is that
    mean and second the mean of the second largest eigenvalue. population_top and population_rest are the eigenvalues of
    E[M]/4, the limit of infinite data. n/p must exceed `threshold` for an overlap. All are nan for non-Gaussian
    designs.
    """
    rows = []
    for value in values:
        cell: Any = place(spec, axis, value)
        phi = cell.link_function.moments.phi
        for moment in MOMENTS:
            limit = prediction(cell, moment)
            # M/4 without a signal: this fraction of the pairs counts.
            share = limit.population_rest / 2.0
            noise = upper_edge([2.0 / (cell.n // 2)], [cell.n // 2 * share], cell.p)
            limits = limit._asdict() | {"second": noise.mean}
            if not limit.overlap > 0:
                limits |= {"top": noise.mean, "second": noise.second}
            if not cell.theory_holds:
                limits = dict.fromkeys(limits, np.nan) | {"moment": moment}
            rows.append({"axis": axis, "at": float(value), "phi": phi, "ratio": cell.n / cell.p, **limits})
    return pd.DataFrame(rows)


def bands(spec: Spec, axis: str, values: Sequence[float], moment: str = "auto", draws: int = DRAWS) -> pd.DataFrame:
    """Return what finite p does at each value, by draws from the exact law (`theory.spiked`).

    moment: "M", "M'", or the informative one ("auto"). Columns: at, moment; for top, second and overlap `low_` and
    `high_`, between which 90% of the draws lie, and `mean_`. Empty for other designs than Gaussian and for p above
    LARGEST_BAND.
    """
    rows = []
    for value in values:
        cell: Any = place(spec, axis, value)
        if not cell.theory_holds or cell.p > LARGEST_BAND:
            continue
        own = prediction(cell, moment).moment
        row: Row = {"at": float(value), "moment": own}
        for name, drawn in finite_moment(cell.link_function, cell.n, cell.p, own, draws)._asdict().items():
            low, high = np.quantile(drawn, [OUTER, 1.0 - OUTER])
            row |= {f"low_{name}": float(low), f"high_{name}": float(high), f"mean_{name}": float(drawn.mean())}
        rows.append(row)
    return pd.DataFrame(rows)


def compare(rows: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return one row per value and moment: predictions, and mean and spread over trials.

    Adds to the columns of `predictions`: trials, mean_ and sd_ of top, second and overlap, and the relative deviations
    top_deviation, second_deviation (from the prediction at this n/p), population_top_deviation,
    population_second_deviation (from the limit of infinite data).
    """
    place = ["at", "moment", "trial"]
    largest, second = (rows[rows["rank"] == rank].set_index(place) for rank in (1, 2))
    values = pd.DataFrame({"top": largest["value"], "second": second["value"], "overlap": largest["overlap"]})
    joined = predicted.merge(statistics(values, place[:2]), on=place[:2])
    for name, limit in (("top", "population_top"), ("second", "population_rest")):
        joined[f"{name}_deviation"] = joined[f"mean_{name}"] / joined[name] - 1.0
        joined[f"population_{name}_deviation"] = joined[f"mean_{name}"] / joined[limit] - 1.0
    return joined


def of_moment(rows: pd.DataFrame, moment: str = "auto") -> pd.DataFrame:
    """Return the rows of a moment; "auto": at each value the one with a positive population gap, M for phi >= 0."""
    chosen = np.where(rows["phi"] >= 0, "M", "M'") if moment == "auto" else moment
    return rows[rows["moment"] == chosen].reset_index(drop=True)


@lru_cache(maxsize=256)
def eigenvalues(spec: SingleIndexSpec, moment: str) -> tuple[Array, float]:
    """Return all eigenvalues of one sample, ascending, and the squared overlap of the leading vector with the truth."""
    problem: Any = spec.build()
    values, vectors = np.linalg.eigh(pair_moments(problem, "consecutive")[MOMENTS.index(moment)])
    return values, float(vectors[:, -1] @ problem.truth) ** 2


def prediction(spec: SingleIndexSpec, moment: str) -> spiked.Prediction:
    """Return the theory of a moment of a spec; "auto" is the informative one."""
    return spiked.predict(spec.link_function.moments, spec.n / spec.p, moment)


def histogram(spec: SingleIndexSpec, moment: str, compared: Sequence[SingleIndexSpec]) -> Figure:
    """Return the histogram of a sample, on an axis that holds the predicted spectra of all compared specs."""
    limit, limits = prediction(spec, moment), [prediction(one, moment) for one in compared]
    extent = 0.0, 1.15 * max(max(one.top, one.second) for one in limits)
    # M/4 has the bulk of 2 pi G^T G / (N pi): N pi pairs count among N = n/2.
    scale = limit.population_rest
    ratio = 2.0 * spec.p / (spec.n * scale / 2.0)
    x = np.linspace(*support(ratio, scale), 300)
    spike = limit.top if limit.overlap > 0 else None
    title = f"eigenvalues of {moment.replace(chr(39), '′')}/4"
    law = x, density(x, ratio, scale)
    return drawing.histogram(eigenvalues(spec, moment)[0], law, limit.second, spike, extent, title)
