"""Shows a spectrum along an axis: progress, the figures of its moment, tables, and all eigenvalues at one place."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from lrlab.figures import spectrum as figures
from lrlab.models.axes import place
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, format_value
from lrlab.spectra import Row, histogram, moments, pairwise
from lrlab.ui.shared import live, progress
from lrlab.ui.shared.captions import describe_spec
from lrlab.ui.spectrum.plan import SpectrumPlan, is_pairwise
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.axis import Axis, fine

MOMENTS = {"auto": "the separating one", "M": "M", "M'": "M′"}
MATRICES = (
    r"The moment is the average of each measurement times its measurement matrix; its mean is the matrix $W$. Solvers "
    r"start from its $k$ leading singular vectors (eigenvectors for a network), which are close to those of $W$ "
    "only while their values stay above the rest. Dashed: the limit for Gaussian, independent noise of the moment, a "
    "good approximation for many measurements. Open symbols: the moment of answers clipped at twice their root mean "
    "square (`start=clipped`), which large answers do not rule."
)
PHASES = (
    r"The moment averages $a a^*$ with the weights of the optimal start, which favour large measurements. Its leading "
    "eigenvector overlaps with the signal once its eigenvalue leaves the bulk. Dashed: exact for large $m$ and $p$ "
    "(Lu & Li 2017)."
)
LARGEST = 20_000_000
"""Entries of the measurements up to which a draw is made while a person waits."""
BAND_POINTS, BAND_DRAWS = 24, 100
"""Where a band is drawn along the axis, and from how many draws."""
PAIRS = (
    "Dashed: the limit at this $n/p$ for large $n$ and $p$; for the second eigenvalue the mean of the largest one of "
    "noise at this $p$ (Tracy-Widom). Bands: where 90% of draws lie at this $n$ and $p$ (up to $p = 200$); where the "
    "dashed curves meet, the change is gradual at small $p$. Dotted: eigenvalues for infinite $n$. Shaded: recovery "
    "possible, since $n/p$ exceeds the threshold above which the squared overlap of the leading eigenvector with the "
    "signal (1 is exact) does not vanish as $n$ and $p$ grow."
)


def draw(chosen: SpectrumPlan | InputError | None, moment: str) -> None:
    """Draw the results of the followed batch, or, before the first one, the curves alone."""
    batch, plan = live.current("spectrum"), live.about("spectrum") or chosen
    # The last one that could be drawn stays where a setting is refused.
    plan = plan or st.session_state.get("spectrum:drawn")
    if not isinstance(plan, SpectrumPlan):
        return
    st.session_state["spectrum:drawn"] = plan
    stale = not isinstance(chosen, SpectrumPlan) or chosen[:3] != plan[:3]
    progress.show_batch_progress(batch, "spectrum.progress", changed=stale)
    rows = [row for drawn in progress.batch_results(batch).values() for row in drawn]
    st.caption(f"{describe_spec(plan.spec, without=[plan.along.decides])}; along {plan.along.title}")
    if is_pairwise(plan.spec.model):
        points = _draw_pairwise(plan, rows, moment)
        words, kind, each = PAIRS, "spectrum", "value and moment: mean and sd, predictions, relative deviations"
    else:
        points = _draw_moments(plan, rows)
        words = PHASES if isinstance(plan.spec, PhaseRetrieval) else MATRICES
        kind, each = "moment", "value of the axis: mean and sd over the trials"
    st.caption(f"{words} Dots: mean of the trials, bars: their standard deviation.")
    # Without rows, too: the histogram below them never moves.
    file = f"{plan.spec.model}-{kind}"
    tables.show(lambda: points, key="spectrum-table", file=file, note=f"One row per {each}.")
    note = "Every trial, with the seed that reproduces it. rank 1 is the largest value."
    file, title = f"{file}-trials", "All trials"
    tables.show(lambda: pd.DataFrame(rows), key="spectrum-trials", file=file, title=title, note=note)


def _draw_moments(plan: SpectrumPlan, rows: list[Row]) -> pd.DataFrame:
    """Draw the moment of a spectral start, for low-rank models and phase retrieval; return the measured points."""
    spec, along = plan.spec, plan.along
    curve = live.once("spectrum:curve", plan, lambda: moments.predictions(spec, along.name, fine(along)))
    points = pd.DataFrame(columns=figures.MOMENT_COLUMNS, dtype=float)
    if rows:
        points = moments.compare(pd.DataFrame(rows), moments.ranks(spec, along.name, along.values))
    _show((figures.moment_values, figures.moment_overlaps), points, curve, along)
    return points


def _draw_pairwise(plan: SpectrumPlan, rows: list[Row], moment: str) -> pd.DataFrame:
    """Draw the pairwise moments of a single-index model; return the measured points."""
    spec, along = plan.spec, plan.along

    def predicted(name: str, values: Sequence[float]) -> pd.DataFrame:
        return live.once(name, (spec, along), lambda: pairwise.predictions(spec, along.name, values))

    def of_moment(table: pd.DataFrame) -> pd.DataFrame:
        # "auto" takes M where phi > 0 and M' elsewhere, value by value.
        known = table["moment"] == moment
        return pairwise.informative(table) if moment == "auto" else table[known].reset_index(drop=True)

    points = pd.DataFrame(columns=figures.COLUMNS, dtype=float)
    if rows:
        points = of_moment(pairwise.compare(pd.DataFrame(rows), predicted("spectrum:exact", along.values)))
    curve = of_moment(predicted("spectrum:curve", fine(along)))
    grid = fine(along)
    coarse = [*grid[: -1 : max(1, len(grid) // BAND_POINTS)], grid[-1]]
    bands = live.once(
        "spectrum:bands", (spec, along, moment), lambda: pairwise.bands(spec, along.name, coarse, moment, BAND_DRAWS)
    )
    makers = [partial(make, bands=bands) for make in (figures.eigenvalues, figures.overlaps)]
    _show(makers, points, curve, along)
    return points


def _show(makers: Sequence[Any], points: pd.DataFrame, curve: pd.DataFrame, along: Axis) -> None:
    columns = st.columns([1.25, 1], gap="medium")
    for column, name, make in zip(columns, ("values", "overlap"), makers, strict=True):
        figure = make(points, curve, axis_title=along.title).update_xaxes(type=along.spacing)
        figure.update_layout(uirevision=f"{along.name} {along.spacing}")
        with column:
            plot.show(figure, key=f"spectrum.{name}", label=message(name, points, along))


def message(name: str, points: pd.DataFrame, along: Axis) -> str:
    """Return what a figure shows: what was measured at both ends of the axis."""
    column = next((one for one in points if one.startswith("mean_") and (name == "values" or "overlap" in one)), "")
    title = "largest eigenvalue" if name == "values" else "squared overlap"
    if points.empty or not column:
        return f"{title} along {along.title}, as predicted: nothing is run yet"
    ends = points.sort_values("at").iloc[[0, -1]]
    low, high = (f"{value:.2g} at {at:.4g}" for at, value in zip(ends["at"], ends[column], strict=True))
    return f"{title} along {along.title}: {low}, {high}; mean of {points['trials'].max()} trials"


def show_histogram(plan: SpectrumPlan, moment: str) -> None:
    """Show one draw at a place of the axis: all eigenvalues, the bulk, its edge, the spike, and what follows."""
    specs: dict[float, SingleIndexSpec] = {}
    for value in plan.along.values:
        one = place(plan.spec, plan.along.name, value)
        if isinstance(one, SingleIndexSpec) and one.theory_holds and one.n * one.p <= LARGEST:
            specs[value] = one
    if len(specs) < 2:
        return
    values = list(specs)

    @st.fragment
    def draw() -> None:
        st.header("All eigenvalues", anchor=False)
        at = st.select_slider(
            plan.along.title, values, values[len(values) // 2], format_func=format_value, key="spectrum.at"
        )
        spec = specs[at]
        own = moment if moment != "auto" else "M" if spec.link_function.moments.phi >= 0 else "M'"
        drawn, limit = histogram.eigenvalues(spec, own), histogram.prediction(spec, own)
        extent = histogram.extent(list(specs.values()), own)
        words = (
            f"Squared overlap {drawn.overlap:.2f}, for large n and p {limit.overlap:.2f}; a random guess has "
            f"1/p = {1 / spec.p:.3g}. n/p = {spec.n / spec.p:.3g}, threshold {limit.threshold:.3g}. Theory is for "
            f"large p: at p = {spec.p} the largest eigenvalue of the bulk fluctuates about its edge, and the change is "
            "gradual."
        )
        plot.show(histogram.figure(spec, own, extent), key="spectrum.histogram", label=words)
        st.caption(words)

    draw()
