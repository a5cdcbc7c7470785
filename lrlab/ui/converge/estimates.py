"""What a run has recovered, beside the truth: entries, pictures, or matrices."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from lrlab.figures import factors, picture, recovery
from lrlab.figures.recovery import Recovery
from lrlab.lowrank import LowRank
from lrlab.protocol import Estimate, Spec
from lrlab.ui.shared import live
from lrlab.ui.widgets import plot

SLIDER = " The slider leads through the kept iterates."


def aligned(spec: Spec, truth: Estimate) -> Callable[[Estimate], Estimate]:
    """Return what makes an estimate comparable to the truth, as it is drawn: a turn of its phase, or the spec's own."""
    if truth is None or isinstance(truth, LowRank) or not np.iscomplexobj(truth):
        return getattr(spec, "comparable", lambda estimate: estimate)
    return lambda estimate: real_parts(np.exp(-1j * np.angle(np.vdot(truth, estimate))) * estimate, spec)


def real_parts(x: Any, spec: Spec) -> Any:
    """Return a complex vector as it is drawn: a picture's real part, else all real and then all imaginary parts."""
    if not np.iscomplexobj(x):
        return x
    return np.real(x) if getattr(spec, "side", 0) else np.concatenate([np.real(x), np.imag(x)])


def show(spec: Spec, truth: Estimate, drawn: Sequence[Recovery], following: Any) -> None:
    """Draw the estimates against the truth, with a slider over the iterates when the run is over."""
    ended = following and not following.alive and any(len(run.history) > 1 for run in drawn)

    def frames(make: Callable[..., Any], seen: Estimate) -> str:
        if not ended:
            return ""
        return live.once("converge:frames", id(following), lambda: plot.encode_frames(make(seen, drawn)))

    if truth is None:
        # What is fitted to labels has no truth beside it, but a spectrum.
        plot.show(factors.singular_values(None, drawn), key="converge.values", label="singular values")
        st.caption("Singular values of the coefficients, features x labels, that each solver has fitted.")
        return
    if isinstance(truth, LowRank):
        _matrices(truth, drawn, frames(factors.matrix_frames, truth))
        return
    seen = real_parts(truth, spec)
    if side := getattr(spec, "side", 0):
        _pictures(seen, side, drawn, frames(picture.picture_frames, seen))
    else:
        _entries(seen, np.iscomplexobj(truth), drawn, frames(recovery.recovery_frames, seen))


def show_values(truth: Estimate, drawn: Sequence[Recovery]) -> None:
    """Draw the singular values of matrices; nothing where the truth is none."""
    if isinstance(truth, LowRank):
        plot.show(factors.singular_values(truth, drawn), key="converge.values", label="singular values")
        st.caption("Grey: the truth. Colours: the estimates.")


def _matrices(truth: LowRank, drawn: Sequence[Recovery], moving: str) -> None:
    plot.show(factors.matrices(truth, drawn), key="converge.matrices", label="matrices", frames=moving)
    rows, columns = truth.shape
    part = f", {factors.SIDE} of its rows and columns" if max(truth.shape) > factors.SIDE else ""
    st.caption(f"The matrix, {rows} x {columns}{part}; red is positive, blue negative." + (SLIDER if moving else ""))


def _pictures(truth: Any, side: int, drawn: Sequence[Recovery], moving: str) -> None:
    plot.show(picture.pictures(truth, drawn, columns=2), key="converge.picture", label="estimates", frames=moving)
    words = f"The truth is a picture of {side} x {side} pixels; every estimate in the truth's grey levels."
    st.caption(words + (SLIDER if moving else ""))


def _entries(truth: Any, doubled: bool, drawn: Sequence[Recovery], moving: str) -> None:
    figure = recovery.recovery(truth, drawn, legend=False, height=360)
    plot.show(figure, key="converge.estimate", label="estimates", frames=moving)
    words = "Grey: the truth, a unit vector. Colours: the estimates, each with the sign nearer to it."
    if doubled:
        words = "Real parts of all entries, then imaginary ones; every estimate under the phase nearest to the truth."
    st.caption(words + (SLIDER if moving else ""))
