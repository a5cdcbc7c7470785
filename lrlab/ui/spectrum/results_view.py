"""Shows a spectrum along an axis: progress, the figures of its moment, and tables."""

from collections.abc import Sequence
from functools import lru_cache, partial
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from lrlab.figures import spectrum as figures
from lrlab.figures.numbers import rounded
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError
from lrlab.protocol import Spec
from lrlab.spectra import Row, moments, pairwise
from lrlab.ui.live.stream import Parts
from lrlab.ui.live.tabs import View
from lrlab.ui.shared import live, problem_controls, progress
from lrlab.ui.shared.code import describe_spec
from lrlab.ui.spectrum import histogram_view
from lrlab.ui.spectrum.plan import SpectrumPlan, is_pairwise
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.axis import Axis, fine
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

NAMES = ("values", "overlap")
MOMENTS = {"auto": "the separating one", "M": "M", "M'": "M′"}
MATRICES = (
    r"The moment is the average of each measurement times its measurement matrix; its mean is the matrix $W$. Solvers "
    r"start from its $k$ leading singular vectors (eigenvectors for a network), which are close to the ones of $W$ "
    "only while their values stay above the rest. Dashed: the limit for large matrices and independent normal noise, "
    "shown if there are so many measurements that it predicts the gap within 10% and the overlap within 0.05. With "
    "fewer, equal singular values split, and large responses widen the bulk. Open symbols: "
    "the moment of responses truncated at twice their root mean square (`start=clipped`)."
)
PHASES = (
    r"The moment averages $a a^*$ with the weights of the optimal initialization, which favor large measurements. Its "
    "leading eigenvector overlaps with the signal once its eigenvalue leaves the bulk. Dashed: exact for large $m$ and "
    "$p$ (Lu & Li 2017)."
)
BAND_POINTS, BAND_DRAWS = 24, 100
"""Points of a band along the axis, and simulations per point."""
PAIRS = (
    "Dashed: the limit at this $n/p$ as $n$ and $p$ grow; of eigenvalues of noise the mean at this $p$ "
    "(Tracy-Widom). Bands: the range of 90% of simulations at this $n$ and $p$ (up to $p = 200$); where the "
    "dashed curves meet, the change is gradual at small $p$. Dotted: eigenvalues for infinite $n$. Shaded: recovery "
    "possible, since $n/p$ exceeds the threshold above which the squared overlap of the leading eigenvector with the "
    "signal (1 is exact) does not vanish as $n$ and $p$ grow."
)
PAIRS_ALONE = (
    "Eigenvalues of $M/4$ or $M'/4$, and the squared overlap of the leading eigenvector with the signal (1 is exact). "
    "Theory is known only for uncorrelated Gaussian rows: none is shown."
)


class Shown(NamedTuple):
    """The live parts of a spectrum, and its measured points."""

    parts: Parts
    points: pd.DataFrame


def shown(plan: SpectrumPlan, moment: str, rows: Sequence[Row], *, bands: bool = True) -> Shown:
    """Return the page's view of a plan, from the rows so far. bands: of draws at this n and p, which take .4 s."""
    spec, along = plan.spec, plan.along
    if is_pairwise(spec.model):
        points, curve, makers = _pairwise(plan, rows, moment, bands)
    else:
        points = pd.DataFrame(columns=figures.MOMENT_COLUMNS, dtype=float)
        if rows:
            points = moments.compare(pd.DataFrame(rows), moments.ranks(spec, along.name, along.values))
        curve, makers = (
            _start_curve(spec, along.name, tuple(fine(along))),
            (figures.moment_values, figures.moment_overlaps),
        )
    parts = dict[str, Any]()
    for name, make in zip(NAMES, makers, strict=True):
        figure = make(points, curve, axis_title=along.title).update_xaxes(type=along.spacing)
        parts[f"spectrum.{name}"] = figure.update_layout(uirevision=f"{along.name} {along.spacing}")
    known = curve if isinstance(spec, SingleIndexSpec | PhaseRetrieval) else pd.DataFrame()
    parts["spectrum.sentence"] = f"<strong>{escape(sentence(points, known, along))}</strong>"
    return Shown(parts, points)


def _pairwise(plan: SpectrumPlan, rows: Sequence[Row], moment: str, bands: bool) -> tuple[Any, Any, Sequence[Any]]:
    """Return points, curve and makers of figures of the pairwise moments of a single-index model."""
    spec, along = plan.spec, plan.along

    def of_moment(table: pd.DataFrame) -> pd.DataFrame:
        # "auto" takes M for phi > 0 and M' otherwise, value by value.
        known = table["moment"] == moment
        return pairwise.informative(table) if moment == "auto" else table[known].reset_index(drop=True)

    points = pd.DataFrame(columns=figures.COLUMNS, dtype=float)
    if rows:
        points = of_moment(pairwise.compare(pd.DataFrame(rows), _predicted(spec, along.name, along.values)))
    grid = tuple(fine(along))
    coarse = (*grid[: -1 : max(1, len(grid) // BAND_POINTS)], grid[-1])
    drawn = _bands(spec, along.name, coarse, moment) if bands else None
    makers = [partial(make, bands=drawn) for make in (figures.eigenvalues, figures.overlaps)]
    return points, of_moment(_predicted(spec, along.name, grid)), makers


@lru_cache(maxsize=64)
def _predicted(spec: Spec, axis: str, values: tuple[float, ...]) -> pd.DataFrame:
    return pairwise.predictions(spec, axis, values)


@lru_cache(maxsize=64)
def _bands(spec: Spec, axis: str, values: tuple[float, ...], moment: str) -> pd.DataFrame:
    return pairwise.bands(spec, axis, values, moment, BAND_DRAWS)


@lru_cache(maxsize=64)
def _start_curve(spec: Spec, axis: str, values: tuple[float, ...]) -> pd.DataFrame:
    return moments.predictions(spec, axis, values)


def view(moment: str) -> View | None:
    """Return the view of the draws that are followed, for their live channel."""
    batch, plan = live.current("spectrum"), live.about("spectrum")

    def parts() -> Parts:
        return {**shown(plan, moment, progress.rows(batch)).parts, **progress.batch_parts(batch, "spectrum")}

    return parts if batch is not None else None


def follow_sliders(link: Permalink, plan: SpectrumPlan, moment: str) -> None:
    """Have the sliders of the problem show theory and all eigenvalues of one sample while they are dragged."""
    at = histogram_view.chosen_place(plan) if is_pairwise(plan.spec.model) else None

    def dragged(spec: Spec) -> Parts:
        curves = shown(plan._replace(spec=spec), moment, (), bands=False).parts
        return {**curves, **histogram_view.dragged(plan, moment, at, spec)}

    problem_controls.follow_sliders(link, plan.spec, dragged)


def draw(chosen: SpectrumPlan | InputError | None, moment: str) -> None:
    """Draw the results of the followed batch, or, before the first one, only the curves."""
    batch, plan = live.current("spectrum"), live.about("spectrum") or chosen
    # The last valid one stays if a setting is invalid.
    plan = plan or st.session_state.get("spectrum:drawn")
    if not isinstance(plan, SpectrumPlan):
        return
    st.session_state["spectrum:drawn"] = plan
    stale = not isinstance(chosen, SpectrumPlan) or chosen[:3] != plan[:3]
    progress.show_batch_progress(batch, "spectrum.progress", changed=stale)
    progress.batch_results(batch, "spectrum")
    rows = progress.rows(batch)
    ends = [f"{end:g}{histogram_view.sigma(plan, end)}" for end in (plan.along.values[0], plan.along.values[-1])]
    along = f"{plan.along.title}" + (f" (from {' to '.join(ends)})" if "σ" in ends[0] else "")
    parts, points = shown(plan, moment, rows)
    with st.container(key="spectrum-verdict"):
        plot.words(parts["spectrum.sentence"], key="spectrum.sentence")
    columns = st.columns([1.25, 1], gap="medium")
    for column, name in zip(columns, NAMES, strict=True):
        with column:
            plot.show(parts[f"spectrum.{name}"], key=f"spectrum.{name}", label=message(name, points, plan.along))
    st.caption(f"{plain(describe_spec(plan.spec, without=[plan.along.decides]))}; along {along}")
    if isinstance(plan.spec, SingleIndexSpec):
        words = PAIRS if plan.spec.theory_holds else PAIRS_ALONE
        kind, each = "spectrum", "value and moment: mean and sd, predictions, relative deviations"
    else:
        words = PHASES if isinstance(plan.spec, PhaseRetrieval) else MATRICES
        kind, each = "moment", "value of the axis: mean and sd over the trials"
    st.caption(f"{words} Dots: mean of the trials, bars: their standard deviation.")
    # Without rows, too: the histogram below them never moves.
    file = f"{plan.spec.model}-{kind}"
    tables.show(lambda: points, key="spectrum-table", file=file, note=f"One row per {each}.")
    note = "Every trial, with the seed that reproduces it. rank 1 is the largest value."
    file, title = f"{file}-trials", "All trials"
    tables.show(lambda: pd.DataFrame(rows), key="spectrum-trials", file=file, title=title, note=note)


def message(name: str, points: pd.DataFrame, along: Axis) -> str:
    """Return the message of a figure: the values measured at both ends of the axis."""
    title = "largest eigenvalue" if name == "values" else "squared overlap"
    if not (ends := _ends(name, points)):
        return f"{title} along {along.title}, as predicted: nothing is run yet"
    return f"{title} along {along.title}: {ends}; mean of {points['trials'].max()} trials"


def sentence(points: pd.DataFrame, curve: pd.DataFrame, along: Axis) -> str:
    """Return the range with an asymptotic overlap, if theory knows it, and the overlap measured at both ends."""
    ends = _ends("overlap", points)
    words = [_where(curve, along), f"Measured squared overlap: {ends}." if ends else "Press Run to measure."]
    return " ".join(filter(None, words))


def _ends(name: str, points: pd.DataFrame) -> str:
    column = next((one for one in points if one.startswith("mean_") and (name == "values" or "overlap" in one)), "")
    if points.empty or not column:
        return ""
    ends = points.sort_values("at").iloc[[0, -1]]
    return ", ".join(f"{value:.2g} at {at:.4g}" for at, value in zip(ends["at"], ends[column], strict=True))


def _where(curve: pd.DataFrame, along: Axis) -> str:
    if "overlap" not in curve or curve["overlap"].isna().any():
        return ""
    ordered = curve.sort_values("at")
    at, above = ordered["at"].to_numpy(), ordered["overlap"].to_numpy() > 0
    whose = "the leading eigenvector of a large problem points to the signal"
    if above.all() or not above.any():
        return f"{'Everywhere' if above.all() else 'Nowhere'} here {whose}."
    changes = np.flatnonzero(np.diff(above))
    if len(changes) > 1:
        return f"On parts of this axis {whose}."
    side = "from" if above[-1] else "up to"
    # The curve has points a few per cent apart.
    return f"{whose.capitalize()} {side} about {along.title} = {rounded(at[changes[0] + int(above[-1])])}."
