"""Shows a card for each solver: why it stopped, its notes, its last scores beside theory."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from lrlab.figures.convergence import prediction
from lrlab.figures.recovery import Recovery
from lrlab.model_entry import Measure
from lrlab.parameters import display_name, duration

STATES = {"waiting": "Waiting for a free worker.", "running": "Running.", "failed": "Failed."}


def show(runs: Sequence[Any], drawn: Sequence[Recovery], measures: Mapping[str, Measure]) -> None:
    """Show the cards, and the meaning of their numbers."""
    body = "".join(card(run, look, measures) for run, look in zip(runs, drawn, strict=True))
    st.html(f'<div class="lr-runs">{body}</div>')
    present = {name for look in drawn for row in look.rows[-1:] for name in row}
    displayed = {display_name(name): measure for name, measure in measures.items() if name in present}
    st.caption(" ".join(f"**{name}**: {measure.meaning}." for name, measure in displayed.items()))


def card(run: Any, look: Recovery, measures: Mapping[str, Measure]) -> str:
    """Return one solver's card as HTML."""
    trace, row = run.trace, dict(look.rows[-1]) if look.rows else {}
    if run.state == "failed":
        words, mark = escape(str(run.error or STATES["failed"])), ' class="failed"'
    else:
        stop = trace.ending if trace and trace.stop else STATES.get(run.state, "")
        words, mark = escape(" ".join(part for part in (stop, trace.note if trace else "") if part)), ""
    if run.state == "running" and run.progress and not row:
        words = f"Reading the data: {100 * run.progress:.0f}%."
    words = " ".join(part for part in (words, run.job.given) if part)
    numbers = [
        number_html("iterations", f"{len(look.rows)}"),
        number_html("solver time", duration(row.get("seconds", 0.0))),
    ]
    numbers += [
        number_html(name, format_number(row[name]), prediction(look.predictions, name), measure.meaning)
        for name, measure in measures.items()
        if name in row and row[name] == row[name]
    ]
    return (
        f'<article class="lr-run" style="--c: {look.colour}"><h2>{escape(look.title)}</h2>'
        f'<p{mark}>{words}</p><dl class="lr-numbers">{"".join(numbers)}</dl></article>'
    )


def format_number(value: float) -> str:
    """Return a number to four digits, with a true minus sign."""
    return f"{value:.4g}".replace("-", "−")


def number_html(name: str, value: str, predicted: float | None = None, meaning: str = "") -> str:
    """Return one number as HTML, with its name above and the prediction below."""
    theory = f"<small>theory {predicted:.4g}</small>" if predicted is not None else ""
    title = f' title="{escape(meaning)}"' if meaning else ""
    return f"<div{title}><dt>{display_name(name)}</dt><dd>{value}{theory}</dd></div>"
