"""Spectra of the pairwise moments along an axis: simulation, exact prediction, and the limit of infinite data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lrlab.linalg import top_eigenpairs
from lrlab.models.axes import place
from lrlab.protocol import Spec
from lrlab.solvers.single_index.pairwise import pair_moments
from lrlab.spectra import Draw, Row, Spectrum
from lrlab.theory import spiked
from lrlab.theory.bulk import upper_edge
from lrlab.theory.spiked import DRAWS, finite_moment

LARGEST_BAND = 200
"""Largest p with bands: they narrow, and take longer, as p grows."""
OUTER = 0.05
"""Fraction of the samples below, and above, a band."""


def pairwise_spectrum(draw: Draw) -> list[Row]:
    """Return the two largest eigenvalues of M/4 and M'/4 (consecutive pairs) of one draw, one row each.

    A row: axis, at, trial, seed, moment ("M" or "M'"), rank (1 is the largest), value, and overlap, the squared cosine
    of the eigenvector and the truth.
    """
    problem = draw.spec.build()
    rows = []
    for moment, M in zip(("M", "M'"), pair_moments(problem, "consecutive"), strict=True):
        values, vectors = top_eigenpairs(M, 2)
        for rank, (value, vector) in enumerate(zip(values, vectors.T, strict=True), start=1):
            overlap = float(vector @ problem.truth) ** 2
            rows.append({**draw.place, "moment": moment, "rank": rank, "value": float(value), "overlap": overlap})
    return rows


_SPECTRUM = Spectrum(pairwise_spectrum, "pairwise-moment")
spectrum_draws, spectrum = _SPECTRUM.draws, _SPECTRUM.table


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
        moments = cell.link_function.moments
        for moment in ("M", "M'"):
            limit = spiked.predict(moments, cell.n / cell.p, moment)
            # M/4 without a signal: this fraction of the pairs counts.
            share = limit.population_rest / 2.0
            noise = upper_edge([2.0 / (cell.n // 2)], [cell.n // 2 * share], cell.p)
            seen = {"top": limit.top, "second": noise.mean}
            limits = limit._asdict() | (seen if limit.overlap > 0 else {"top": noise.mean, "second": noise.second})
            if not cell.theory_holds:
                limits = dict.fromkeys(limits, np.nan) | {"moment": moment}
            rows.append({"axis": axis, "at": float(value), "phi": moments.phi, "ratio": cell.n / cell.p, **limits})
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
        link = cell.link_function
        if not cell.theory_holds or cell.p > LARGEST_BAND:
            continue
        own = moment if moment != "auto" else "M" if link.moments.phi >= 0 else "M'"
        row: Row = {"at": float(value), "moment": own}
        for name, drawn in finite_moment(link, cell.n, cell.p, own, draws)._asdict().items():
            low, high = np.quantile(drawn, [OUTER, 1.0 - OUTER])
            row |= {f"low_{name}": float(low), f"high_{name}": float(high), f"mean_{name}": float(drawn.mean())}
        rows.append(row)
    return pd.DataFrame(rows)


def compare(table: pd.DataFrame, predicted: pd.DataFrame) -> pd.DataFrame:
    """Return one row per value and moment: predictions, and mean and spread over trials.

    Adds to the columns of `predictions`: trials, mean_top, sd_top, mean_second, sd_second, mean_overlap and the
    relative deviations top_deviation, second_deviation (from the prediction at this n/p), population_top_deviation,
    population_second_deviation (from the limit of infinite data).
    """
    largest = table[table["rank"] <= 2].assign(name=lambda t: np.where(t["rank"] == 1, "top", "second"))
    statistics = largest.groupby(["at", "moment", "name"])["value"].agg(["mean", "std", "count"]).unstack("name")
    overlap = table[table["rank"] == 1].groupby(["at", "moment"])["overlap"].mean()
    columns = {"trials": statistics["count"]["top"], "mean_overlap": overlap}
    for name in ("top", "second"):
        columns |= {f"mean_{name}": statistics["mean"][name], f"sd_{name}": statistics["std"][name]}
    joined = predicted.merge(pd.DataFrame(columns).reset_index(), on=["at", "moment"])
    for name, limit in (("top", "population_top"), ("second", "population_rest")):
        joined[f"{name}_deviation"] = joined[f"mean_{name}"] / joined[name] - 1.0
        joined[f"population_{name}_deviation"] = joined[f"mean_{name}"] / joined[limit] - 1.0
    return joined


def informative(rows: pd.DataFrame) -> pd.DataFrame:
    """Return of `predictions` or `compare` the rows of that moment whose population gap is positive: M for phi >= 0."""
    chosen = np.where(rows["phi"] >= 0, "M", "M'")
    return rows[rows["moment"] == chosen].reset_index(drop=True)
