"""Figures of misprints that take a computation: solvers on small problems, concentration, printed tables compared."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from lrlab import catalog, presets
from lrlab.arrays import Array
from lrlab.engine.solve import solve
from lrlab.figures import theme
from lrlab.figures.build import Figure
from lrlab.presets.misprints import Shown
from lrlab.presets.misprints.formulas import PRINTED, RIGHT, lines


def trace_sign() -> Shown:
    """Algorithm 1 of Soltani & Hegde with either sign of the trace term, on one network."""
    spec = catalog.spec("polynomial-network", p=20, r=2, m=3000, signs="positive", weights="gaussian")
    traces = {
        name: solve(spec, "ep-rom", step_rule="fixed", trace_sign=sign, max_iter=25, tol=0.0).table["error"]
        for name, sign in ((PRINTED, "printed"), (RIGHT, "corrected"))
    }
    number = np.arange(1.0, 1 + max(map(len, traces.values())))
    curves = {name: error.to_numpy() for name, error in traces.items()}
    figure = lines(number, curves, "iteration", "relative error  ‖L̂ − L‖ / ‖L‖", log_y=True)
    last = float(traces[PRINTED].iloc[-1]), float(traces[RIGHT].iloc[-1])
    steps = len(traces[PRINTED])
    words = f"20 inputs, 2 units, 3,000 samples: as printed {last[0]:.2g} after {steps} steps, right {last[1]:.2g}."
    return Shown(figure, words, last)


def rank_factor() -> Shown:
    """Lemma 7 of Jain & Dhillon: the deviation that Theorem 1 allows, and that of the moment, for ranks 1 to 8.

    m is the bound, without and with the factor k^3, with the least constant with which the latter suffices; entries are
    drawn independently, as the proof takes them, so that the moment of any m needs only their counts. W has k columns
    of length 1, the worst case of the proof's bound, which is the same for all ranks.
    """
    ranks = np.array([1, 2, 3, 4, 6, 8])
    printed, right = (np.array([_deviation(int(k), power) for k in ranks]) for power in (0, 3))
    allowed = (right * ranks**1.5).max() * ranks**-1.5
    curves = {"m as printed": printed, "m right, k³ times": right, "allowed, δ ~ k^(−3/2)": allowed}
    figure = lines(ranks, curves, "rank k", "‖S − W‖ / ‖W‖", log_y=True)
    ratios = float(printed[-1] / allowed[-1]), float(right[-1] / allowed[-1])
    words = (
        f"At rank 8 the moment of as many samples as printed deviates by {ratios[0]:.2g} times what is allowed, that "
        f"of k³ times as many by {ratios[1]:.2g} times. 20 features, 20 labels, 400 points."
    )
    return Shown(figure, words, ratios)


def _deviation(k: int, power: int) -> float:
    """Return the median of ||S - W|| / ||W|| at m = 400,000 k^power."""
    n, d, labels, deviations = 400, 20, 20, list[float]()
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = np.linalg.qr(rng.standard_normal((n, d)))[0]
        W = np.linalg.qr(rng.standard_normal((d, k)))[0] @ np.eye(k, labels)
        m = 400_000 * k**power
        counts = rng.multinomial(m, np.full(n * labels, 1 / (n * labels))).reshape(n, labels)
        deviations.append(float(np.linalg.norm(n * labels / m * X.T @ (counts * (X @ W)) - W, 2)))
    return float(np.median(deviations))


def two_tables() -> Shown:
    """Table 5 of Yu et al. against the same cells of Tables 12, 14 and 15."""
    scales = {"precision@3": 100, "hamming": 1, "auc": 1}
    names = {name: f"{name}, squared" for name in ("LEML", "binary relevance")}
    short, long = (_printed(name) for name in ("yu2014-table5", "yu2014-tables11-15"))
    same = long[(long["share"] == 0.4) & (long["observed"] == 0.2)]
    both = short.replace({"series": names}).merge(same, on=["data", "series"], suffixes=("", " later"))
    values = np.stack([abs(both[f"{one} later"] - both[one]) / scale for one, scale in scales.items()], axis=1).ravel()
    cells = [f"{row.data}, {row.series}: {one}" for row in both.itertuples() for one in scales]
    figure = Figure()
    figure.add_bar(
        x=np.arange(1, len(values) + 1),
        y=values,
        marker={"color": theme.PALETTE[1]},
        customdata=cells,
        hovertemplate="%{customdata}<br>differs by %{y:.4f}<extra></extra>",
    )
    differ = np.flatnonzero(values > 5e-5)
    first = differ[0]
    words = (
        f"{len(values) - len(differ)} of {len(values)} numbers agree; {cells[first]} differs by {values[first]:.4f}."
    )
    place = theme.style(figure, "cell of Table 5", "difference from Tables 12, 14 and 15", height=360)
    return Shown(place, words, (float(values.max()), float(np.sort(values)[-2])))


def _printed(name: str) -> pd.DataFrame:
    paper: Any = presets.load(name).content["paper"]
    return pd.DataFrame(paper["rows"], columns=paper["columns"])


def noise_scale() -> Shown:
    """Equation (2) of Qiu et al.: prediction errors with xi beside the scaled margin, and beside one of variance 1."""
    sizes, d2 = np.array([0.0, 0.15, 0.3]), 50
    scales: Mapping[str, float] = {PRINTED: math.sqrt(d2), RIGHT: 1.0}
    errors = {name: np.array([_wrong_signs(xi / scale, d2) for xi in sizes]) for name, scale in scales.items()}
    curves: dict[str, Array] = {"ξ as printed": errors[PRINTED], "ξ beside a margin of variance 1": errors[RIGHT]}
    figure = lines(sizes, curves, "ξ", "fraction of signs predicted wrongly")
    growth = float(errors[PRINTED][-1] / errors[PRINTED][0]), float(errors[RIGHT][-1] / errors[RIGHT][0])
    words = (
        f"25 features, 50 labels, rank 2, eight batches of 6,000: ξ = 0.3 as printed raises the error to "
        f"{growth[0]:.3g} times that without noise, beside a margin of variance 1 to {growth[1]:.3g} times."
    )
    return Shown(figure, words, growth)


def _wrong_signs(noise: float, d2: int) -> float:
    spec = catalog.spec("one-bit-multilabel", d1=25, d2=d2, rank=2, m=6_000, noise=noise)
    return float(solve(spec, "one-bit-power", max_iter=8).table["hamming"].iloc[-1])


FIGURES: Mapping[str, Callable[[], Shown]] = {
    function.__name__: function for function in (trace_sign, rank_factor, two_tables, noise_scale)
}
