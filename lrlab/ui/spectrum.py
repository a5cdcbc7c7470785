"""Eigengaps: draws along an axis, all eigenvalues of one sample, progress, the figures of the moment, and tables.

A plan comes from the controls of the page or from a button of a preset.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from html import escape
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from lrlab import catalog, presets
from lrlab.engine.engine import on_workers
from lrlab.figures import spectrum as figures
from lrlab.figures.numbers import rounded
from lrlab.models.axes import place
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, counted, format_value
from lrlab.protocol import Spec
from lrlab.spectra import Draw, Row, moments, pairwise
from lrlab.spectra.moments import moment_draws, moment_spectrum
from lrlab.spectra.pairwise import pairwise_spectrum, spectrum_draws
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import code, live, opening, problem_controls, progress
from lrlab.ui.shared.code import describe_spec
from lrlab.ui.widgets import controls, permalink, plot, tables
from lrlab.ui.widgets.controls import Axis, fine
from lrlab.ui.widgets.permalink import Permalink
from lrlab.ui.widgets.text import plain

Address = Mapping[str, str]
FIGURES = {"values": figures.eigenvalues, "overlap": figures.overlaps}
"""What makes each figure, by the name of its live part."""
MOMENTS = {"auto": "automatic", "M": "M", "M'": "M′"}
MATRICES = (
    r"The moment is the average of each measurement times its measurement matrix; its mean is the matrix $W$. Solvers "
    r"start from its $k$ leading singular vectors (eigenvectors for a network), which are close to the ones of $W$ "
    "only while their values stay above the rest. Dashed: the asymptotic limit for independent normal noise, "
    "shown if there are so many measurements that it predicts the gap within 10% and the overlap within 0.05. With "
    "fewer, equal singular values split, and large responses widen the bulk."
)
PHASES = (
    r"The moment averages $a a^*$ with the weights of the optimal initialization, which favor large measurements. Its "
    "leading eigenvector overlaps with the signal once its eigenvalue leaves the bulk. Dashed: asymptotically exact at "
    "fixed $m/p$ (Lu & Li 2017)."
)
PAIRS = (
    "Dashed: the limit at this $n/p$ as $n$ and $p$ grow; of eigenvalues of noise the mean at this $p$ "
    "(Tracy-Widom). Bands: the range of 90% of simulations at this $n$ and $p$ (up to $p = 200$); where the "
    "dashed curves meet, the change is gradual at small $p$. Dotted: eigenvalues for infinite $n$. Shaded: recovery "
    "possible, since $n/p$ exceeds the threshold above which the squared overlap of the leading eigenvector with the "
    "signal (1 is exact) does not vanish as $n$ and $p$ grow."
)
PAIRS_ALONE = (
    "Eigenvalues of $M/4$ or $M'/4$, and the squared overlap of the leading eigenvector with the signal (1 is exact). "
    "Theory is known only for uncorrelated Gaussian samples: none is shown."
)


def is_pairwise(model: str) -> bool:
    """Whether a model's spectrum shows the pairwise moments of a single-index model, not a spectral initialization."""
    return issubclass(catalog.MODELS[model], SingleIndexSpec)


class SpectrumPlan(NamedTuple):
    """The spec, the axis, the number of trials, the draws, and what computes the spectrum of one."""

    spec: Spec
    along: Axis
    trials: int
    draws: list[Draw]
    measure: Callable[[Draw], list[Row]]


def make_plan(spec: Spec | InputError, along: Axis | InputError, trials: object) -> SpectrumPlan | InputError | None:
    """Return the plan, the error in it, or None if the spec or the axis is an error."""
    if isinstance(spec, InputError) or isinstance(along, InputError):
        return None
    pairs, others = (spectrum_draws, pairwise_spectrum), (moment_draws, moment_spectrum)
    drawn, measure = pairs if is_pairwise(spec.model) else others
    try:
        number = int(controls.TRIALS.check(trials))
        return SpectrumPlan(spec, along, number, drawn(spec, along.name, along.values, number), measure)
    except InputError as error:
        return error


def begin(plan: SpectrumPlan) -> live.Running:
    """Begin to compute a spectrum; the page opens on the one that comes with the package, if it is this one."""
    shipped = opening.spectrum(python_script(plan)) if live.current("spectrum") is None else None
    return shipped or on_workers(plan.measure, plan.draws)


def python_script(plan: SpectrumPlan) -> str:
    """Return the script that computes the same table."""
    module, name = ("pairwise", "spectrum") if is_pairwise(plan.spec.model) else ("moments", "moments")
    arguments = f"spec, {plan.along.name!r}, {list(plan.along.values)}, trials={plan.trials}"
    return (
        f"{code.imports(plan.spec.model)}\nfrom lrlab.spectra.{module} import {name}\n\n"
        f"spec = {code.spec_python(plan.spec)}\n"
        f"table = {name}({arguments})\nprint(table.to_csv(index=False))"
    )


def spectrum_panels(name: str) -> list[tuple[str, Address]]:
    """Return title and address of each panel of a preset of kind `spectrum`."""
    content, panels = presets.load(name).content, list[tuple[str, Address]]()
    for panel in content["panels"]:
        [(axis, values)] = panel["axes"].items()
        span = {"from": min(values), "to": max(values), "points": len(values), "trials": content["trials"]}
        spec = {"seed": content.get("seed", 0), **content.get("spec", {}), **panel.get("spec", {})}
        named = {"model": panel["model"], "axis": axis, **span, **spec}
        panels.append((panel["title"].partition(":")[0], {key: str(value) for key, value in named.items()}))
    return panels


def preset_buttons(name: str, words: str) -> None:
    """Show a button for each panel of a preset; it fills in the widgets of the page and runs it."""
    with st.container(horizontal=True, key="spectrum-presets", vertical_alignment="center"):
        st.caption(words, width="content")
        for k, (title, address) in enumerate(spectrum_panels(name)):
            st.button(title, key=f"spectrum-preset-{k}", on_click=_take, args=(address,))


def _take(address: Address) -> None:
    permalink.take("spectrum", address)
    live.request("spectrum")


def _places(spec: Spec, axis: str, values: Sequence[float]) -> dict[float, SingleIndexSpec]:
    """Return the specs along an axis that lrlab simulates while a person waits, by their values; none if too few."""
    specs = {value: place(spec, axis, value) for value in values}
    drawn = {
        value: one
        for value, one in specs.items()
        if isinstance(one, SingleIndexSpec) and one.theory_holds and one.n * one.p <= 20_000_000
    }
    return drawn if len(drawn) > 1 else {}


def _histogram(specs: dict[float, SingleIndexSpec], at: float, moment: str) -> Parts:
    """Return the live parts of one draw: the figure, and words below it."""
    spec = specs[at]
    limit = pairwise.prediction(spec, moment)
    own = limit.moment
    _, overlap = pairwise.eigenvalues(spec, own)
    words = (
        f"Squared overlap {overlap:.2f}, asymptotically {limit.overlap:.2f}; a random guess has "
        f"1/p = {1 / spec.p:.3g}. n/p = {spec.n / spec.p:.3g}; its asymptotic threshold is {limit.threshold:.3g}. At "
        f"p = {spec.p} the largest eigenvalue of the bulk fluctuates about its asymptotic edge: the change is gradual."
    )
    figure = pairwise.histogram(spec, own, list(specs.values()))
    return {"spectrum.histogram": figure, "spectrum.histogram.words": escape(words)}


def _sigma(plan: SpectrumPlan, value: float) -> str:
    """Return the standard deviation of the noise at a place of an axis that is its variance; nothing elsewhere."""
    if plan.along.decides != "noise" or plan.along.name == "noise":
        return ""
    return f", σ = {place(plan.spec, plan.along.name, value).values()['noise']:.3g}"


def show_histogram(plan: SpectrumPlan, moment: str) -> float | None:
    """Show one draw, with a slider along the axis, and return its place; nothing if lrlab can simulate none."""
    specs = _places(plan.spec, plan.along.name, plan.along.values)
    if not specs:
        return None
    at: Any = st.session_state.get("spectrum:at")
    at = at if at in specs else list(specs)[len(specs) // 2]
    texts = [format_value(value) + _sigma(plan, value) for value in specs]
    shown, rest = _histogram(specs, at, moment), partial(st.session_state.__setitem__, "spectrum:at")
    dragged = partial(_histogram, specs, moment=moment)
    plot.show(shown["spectrum.histogram"], key="spectrum.histogram", label="all eigenvalues of one sample")
    live.slider(plan.along.title, list(specs), at, rest, key="spectrum.at", show=dragged, texts=texts)
    plot.words(shown["spectrum.histogram.words"], key="spectrum.histogram.words", small=True)
    return at


def shown(
    plan: SpectrumPlan, moment: str, rows: Sequence[Row], *, running: bool = False, bands: bool = True
) -> tuple[Parts, pd.DataFrame]:
    """Return the live parts of a plan and its measured points, from the rows so far.

    running: whether more rows are being computed. bands: of draws at this n and p, which take .4 s.
    """
    spec, along = plan.spec, plan.along
    grid, pairs = tuple(fine(along)), is_pairwise(spec.model)
    curve, points, drawn = _predicted(spec, along.name, grid), pd.DataFrame(), None
    if pairs:
        curve = pairwise.of_moment(curve, moment)
    if rows and pairs:
        predicted = _predicted(spec, along.name, along.values)
        points = pairwise.of_moment(pairwise.compare(pd.DataFrame(rows), predicted), moment)
    elif rows:
        points = moments.compare(pd.DataFrame(rows))
    if pairs and bands:
        # A band has about 24 points.
        drawn = _bands(spec, along.name, (*grid[: -1 : max(1, len(grid) // 24)], grid[-1]), moment)
    parts = dict[str, Any]()
    for name, make in FIGURES.items():
        figure = make(points, curve, drawn, axis_title=along.title).update_xaxes(type=along.spacing)
        parts[f"spectrum.{name}"] = figure.update_layout(uirevision=f"{along.name} {along.spacing}")
    known = curve if isinstance(spec, SingleIndexSpec | PhaseRetrieval) else pd.DataFrame()
    parts["spectrum.sentence"] = f"<strong>{escape(sentence(points, known, along, running=running))}</strong>"
    return parts, points


@lru_cache(maxsize=64)
def _predicted(spec: Spec, axis: str, values: tuple[float, ...]) -> pd.DataFrame:
    return (pairwise if is_pairwise(spec.model) else moments).predictions(spec, axis, values)


@lru_cache(maxsize=64)
def _bands(spec: Spec, axis: str, values: tuple[float, ...], moment: str) -> pd.DataFrame:
    return pairwise.bands(spec, axis, values, moment, draws=100)


def live_parts(plan: SpectrumPlan, moment: str, batch: Any) -> Parts:
    """Return the live parts of the draws of a plan."""
    running = batch.alive
    parts, _ = shown(plan, moment, progress.rows(batch), running=running)
    return {**parts, **progress.parts(batch, "spectrum")}


def follow_sliders(link: Permalink, plan: SpectrumPlan, moment: str, at: float | None) -> None:
    """Have the sliders of the problem show theory, and all eigenvalues of the sample at a place, while dragged."""

    def dragged(spec: Spec) -> Parts:
        curves, _ = shown(plan._replace(spec=spec), moment, (), bands=False)
        specs = {} if at is None else _places(spec, plan.along.name, plan.along.values)
        return {**curves, **(_histogram(specs, at, moment) if at in specs else {})}

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
    progress.show(batch, "spectrum", changed=stale)
    # Before its rows are read: one that is not alive has all of them.
    running = batch is not None and batch.alive
    rows = progress.rows(batch)
    ends = [f"{end:g}{_sigma(plan, end)}" for end in (plan.along.values[0], plan.along.values[-1])]
    along = f"{plan.along.title}" + (f" (from {' to '.join(ends)})" if "σ" in ends[0] else "")
    parts, points = shown(plan, moment, rows, running=running)
    columns = st.columns([1.25, 1], gap="medium")
    for column, name in zip(columns, FIGURES, strict=True):
        with column:
            plot.show(parts[f"spectrum.{name}"], key=f"spectrum.{name}", label=message(name, points, plan.along))
    with st.container(key="spectrum-verdict"):
        plot.words(parts["spectrum.sentence"], key="spectrum.sentence")
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
    return f"{title} along {along.title}: {ends}; mean of {counted(points['trials'].max(), 'trial')}"


def sentence(points: pd.DataFrame, curve: pd.DataFrame, along: Axis, *, running: bool = False) -> str:
    """Return the range with an asymptotic overlap, if theory knows it, and the overlap measured at both ends.

    running: whether the first points are being measured.
    """
    ends = _ends("overlap", points)
    measured = f"Measured squared overlap: {ends}." if ends else "Measuring." if running else "Press Run to measure."
    words = [_where(curve, along), measured]
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
    whose = "the leading eigenvector asymptotically points to the signal"
    if above.all() or not above.any():
        return f"{'Everywhere' if above.all() else 'Nowhere'} here {whose}."
    changes = np.flatnonzero(np.diff(above))
    if len(changes) > 1:
        return f"On parts of this axis {whose}."
    side, symbol = "from" if above[-1] else "up to", along.title.rpartition(", ")[2]
    # The curve has points a few per cent apart.
    return f"{whose.capitalize()} {side} about {symbol} = {rounded(at[changes[0] + int(above[-1])])}."
