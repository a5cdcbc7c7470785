"""Shows the progress, the results and the errors of batches of trials and of runs of solvers."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from lrlab.engine.engine import shortage
from lrlab.engine.results import Failure
from lrlab.parameters import counted, duration
from lrlab.ui.widgets import plot

CHANGED = "The settings have changed since this run: press Run."


def bar(share: float, words: str) -> str:
    """Return a bar and words below it as HTML, for the live channel."""
    return f'<progress value="{min(1.0, share):.3f}" aria-label="progress"></progress><span>{escape(words)}</span>'


def strip(words: str, name: str, *, alive: bool = False) -> None:
    """Show words, or the HTML of a bar while a run is alive, in a place of one height: figures below never move.

    name: of the live part.
    """
    with st.container(height=24, border=False, key=f"progress-strip-{name}"):
        plot.words(words, key=name) if alive else st.caption(words)


def batch_bar(batch: Any, changed: bool = False) -> str:
    """Return the HTML of how many trials are done and how long the rest will take; empty if it is over.

    changed: whether the settings differ from the batch's.
    """
    if batch is None or not batch.alive:
        return ""
    left = batch.seconds_left
    text = f"{batch.done:,} of {counted(batch.total, 'trial')}" + (f", about {duration(left)} left" if left else "")
    text += f". {shortage()}" if shortage() else ""
    return bar(batch.done / max(1, batch.total), text + (f". {CHANGED}" if changed else ""))


def show(batch: Any, page: str, *, changed: bool, button: str = "Run") -> None:
    """Show the progress of a batch, or afterwards how it ended or that it is stale, and what could not be computed.

    changed: whether the settings differ from the batch's. button: what starts a new one.
    """
    html = batch_bar(batch, changed)
    words = "" if batch is None else f"**{CHANGED.replace('Run', button)}**" if changed else ending(batch)
    strip(html or words, f"{page}.progress", alive=bool(html))
    plot.words(failures_html(batch), key=f"{page}.failures")


def parts(batch: Any, page: str, *, changed: bool = False) -> dict[str, str]:
    """Return the live parts of `show`."""
    return {f"{page}.progress": batch_bar(batch, changed), f"{page}.failures": failures_html(batch)}


def ending(batch: Any) -> str:
    """Return a sentence on the end of a batch or sweep, or on the stored trials of a sweep that was only opened."""
    if batch.shipped:
        return f"{counted(batch.done, 'trial')}, computed before: they come with lrlab. Run computes them here."
    done, state = f"{batch.done:,} of {counted(batch.total, 'trial')}", batch.state
    if state == "paused" and batch.spent:
        return f"The time is used up: {done} were computed, and are stored. Resume goes on."
    if state in ("paused", "cancelled"):
        return f"{state.capitalize()}: {done} were computed, and are stored. Run continues from there."
    if not state and batch.done < batch.total:
        return f"Cancelled: {done} were computed; their results are shown."
    if state in ("new", "done") and batch.done < batch.total:
        spared = f"Done; {batch.total - batch.done:,} of {counted(batch.total, 'trial')} were not needed."
        return spared if batch.results.complete else f"{done} are stored. Press Run to compute the others."
    return f"{done} are computed." if batch.done else ""


def computed(batch: Any) -> dict[int, Any]:
    """Return the results by number of the item, without what could not be computed; none without a batch."""
    results = {} if batch is None else dict(batch.values)
    return {k: results[k] for k in sorted(results) if not isinstance(results[k], Failure)}


def rows(batch: Any) -> list[Any]:
    """Return the rows that all results of a batch are lists of."""
    return [row for result in computed(batch).values() for row in result]


def failures(batch: Any) -> list[str]:
    """Return how many trials failed and why the first did, and what ended all of them, as sentences."""
    if batch is None:
        return []
    # A sweep keeps the sentences of failed trials with its results.
    if batch.state:
        failed = list(batch.results.failures.values())
    else:
        failed = [result.sentence for result in list(batch.values.values()) if isinstance(result, Failure)]
    words = [f"{len(failed)} of {counted(batch.total, 'trial')} could not be computed. {failed[0]}"] if failed else []
    return words + [batch.error] * bool(batch.error)


def failures_html(batch: Any) -> str:
    """Return the sentences of `failures` as HTML, for the live channel."""
    return "".join(f'<p class="lrlab-error" role="alert">{escape(sentence)}</p>' for sentence in failures(batch))


def run_bar(runs: Sequence[Any]) -> str:
    """Return the HTML of how many solvers are done, and how long the others can take at most."""
    shares, left = zip(*(share_and_seconds_left(run) for run in runs), strict=True)
    done = sum(run.state in ("done", "failed") for run in runs)
    text = f"{done} of {counted(len(runs), 'solver')} done, at most {duration(max(left))} left"
    if all(run.state == "waiting" for run in runs):
        ahead = min(run.ahead for run in runs)
        text = f"Waiting for a free worker: {ahead} other jobs come first" if ahead else "Waiting for a free worker"
        text = shortage() or text
    return bar(sum(shares) / len(shares), text)


def share_and_seconds_left(run: Any) -> tuple[float, float]:
    """Return the used share of a run's limits, and the seconds that it can still take."""
    if run.state in ("done", "failed"):
        return 1.0, 0.0
    limits, rows = run.job.limits, run.trace.rows if run.trace else []
    if not rows:
        return 0.0, limits.max_seconds
    seconds, count = rows[-1]["seconds"], len(rows)
    by_iterations = seconds / count * (limits.max_iter - count)
    share = max(count / limits.max_iter, seconds / limits.max_seconds if limits.max_seconds else 1.0)
    return share, max(0.0, min(by_iterations, limits.max_seconds - seconds))
