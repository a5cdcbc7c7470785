"""Draws estimates next to the ground truth: entries, pictures, or matrices."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from lrlab import catalog
from lrlab.figures import picture, recovery
from lrlab.figures.build import Figure, Node
from lrlab.figures.recovery import Recovery
from lrlab.figures.runs import real_parts
from lrlab.lowrank import LowRank
from lrlab.protocol import Estimate, Spec
from lrlab.ui.live.tabs import Parts
from lrlab.ui.shared import live
from lrlab.ui.widgets import plot


class Kind(NamedTuple):
    """The plot of a kind of estimates: the name of the live part, its figure, its frames, and words below it."""

    part: str
    figure: Callable[[], Figure]
    frames: Callable[[], Sequence[Node]]
    words: str


def kind(
    spec: Spec,
    truth: Estimate,
    drawn: Sequence[Recovery],
    *,
    height: int = 400,
    time: str = "iteration",
    most: int = recovery.MOST_POINTS,
) -> Kind:
    """Return the plot of estimates against the ground truth; time: the clock of the frames; most: points per run."""
    plot: Callable[[Sequence[Recovery]], Figure]
    if spec.view(None) is not None:
        part, words, plot = "picture", spec.view_words, partial(picture.views, spec.view, height=height)
    elif truth is None:
        # A fit to labels has no ground truth to compare with; the figure shows its spectrum instead.
        words = "Singular values of the coefficients, features x labels, fitted by each solver."
        return Kind("converge.estimate", partial(recovery.singular_values, None, drawn, height=height), list, words)
    elif isinstance(truth, LowRank):
        shown = f", {picture.SIDE} of its rows and columns" if max(truth.shape) > picture.SIDE else ""
        words = f"The matrix, {truth.shape[0]} × {truth.shape[1]}{shown}."
        part, plot = "matrices", partial(picture.matrices, truth, height=height)
    elif side := spec.side:
        words = f"The ground truth is an image of {side} x {side} pixels; estimates use its gray levels."
        part, plot = "picture", partial(picture.pictures, real_parts(truth, spec), columns=2, height=height)
    else:
        real, signal = real_parts(truth, spec), catalog.family(spec.model).signal
        words = vector_words(spec, len(real) <= recovery.STEMS, np.iscomplexobj(truth))
        if len(real) <= recovery.STEMS and any(run.intervals and np.isfinite(run.intervals.low).any() for run in drawn):
            words += " Bars: 95% intervals of the entries."
        part, plot = "estimate", partial(recovery.recovery, real, symbol=signal, height=height, most=most)
    return Kind(f"converge.{part}", partial(plot, drawn), partial(recovery.frames, plot, drawn, time), words)


def figures(spec: Spec, truth: Estimate, drawn: Sequence[Recovery], height: int, most: int) -> dict[str, Figure]:
    """Return the live parts, see `kind`: estimates, and for matrices singular values."""
    own = kind(spec, truth, drawn, height=height, most=most)
    parts = {own.part: own.figure()}
    if isinstance(truth, LowRank) or (truth is None and own.part == "converge.picture"):
        parts["converge.values"] = recovery.singular_values(truth, drawn)
    return parts


def show(spec: Spec, truth: Estimate, drawn: Sequence[Recovery], following: Any, parts: Parts, time: str) -> None:
    """Draw the estimates against the truth, with a slider over the iterates, or over time, when the run is over."""
    own, frames = kind(spec, truth, drawn, time=time), ""
    if following and not following.alive and any(len(run.history) > 1 for run in drawn):
        frames = live.once("converge:frames", (id(following), time), lambda: plot.encode_frames(own.frames()))
    what = "singular values" if truth is None and spec.view(None) is None else "estimates"
    label = f"{spec.title}: {what} of {', '.join(run.title for run in drawn)}"
    plot.show(parts[own.part], key=own.part, label=label, frames=frames, link="converge")
    st.container(key="converge-estimate-words").caption(own.words)


def vector_words(spec: Spec, stems: bool, is_complex: bool) -> str:
    """Return the text of the figure of a vector: entry by entry, or estimates against the truth."""
    phase = f"with the {'phase' if is_complex else 'sign'} that is closest to the ground truth"
    aligned = {"nothing": "", "phase": f", each {phase}", "scale": f", each a unit vector {phase}"}[spec.undetermined]
    if stems:
        parts = " The real parts of all entries come first, then the imaginary ones." if is_complex else ""
        return f"Gray: the ground truth. Colors: the estimates{aligned}.{parts}"
    mark = "the real or the imaginary part of an entry" if is_complex else "an entry"
    return f"A mark: {mark}. On the gray line estimates are exact. Colors: the estimates{aligned}."


def show_values(parts: Parts, known: bool) -> None:
    """Draw the singular values of matrices; known: whether the ground truth is."""
    if "converge.values" in parts:
        plot.show(parts["converge.values"], key="converge.values", label="singular values")
        st.caption(f"{'Gray: the ground truth. ' * known}Colors: the estimates; open markers: negative eigenvalues.")
