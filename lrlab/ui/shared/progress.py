"""Shows the progress, the results and the errors of batches of trials and of runs of solvers."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from lrlab.engine.engine import shortage
from lrlab.engine.messages import Failure
from lrlab.parameters import duration
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.text import show_error

STRIP_PIXELS = 44
CHANGED = "**The settings have changed since this run: press Run.**"


def bar(share: float, words: str) -> str:
    """Return a bar and words below it as HTML, for the live channel."""
    return f'<progress value="{min(1.0, share):.3f}" aria-label="progress"></progress><span>{escape(words)}</span>'


def strip(words: str, name: str, *, alive: bool = False) -> None:
    """Show words, or the HTML of a bar while a run is alive, in a place of one height: figures below never move.

    name: of the live part.
    """
    with st.container(height=STRIP_PIXELS, border=False, key=f"progress-strip-{name}"):
        plot.words(words, key=name) if alive else st.caption(words)


def batch_bar(batch: Any, changed: bool = False) -> str:
    """Return the HTML of how many trials are done and how long the rest will take; empty if it is over.

    changed: whether the settings differ from the batch's.
    """
    if batch is None or not batch.alive:
        return ""
    left = batch.seconds_left
    text = f"{batch.done:,} of {batch.total:,} trials" + (f", about {duration(left)} left" if left else "")
    text += f". {shortage()}" if shortage() else ""
    return bar(batch.done / max(1, batch.total), text + (f". {CHANGED.strip('*')}" if changed else ""))


def show_batch_progress(batch: Any, name: str, changed: bool = False) -> None:
    """Show the progress of a batch; afterwards how it ended, or that it is stale. name: of the live part."""
    if html := batch_bar(batch, changed):
        return strip(html, name, alive=True)
    return strip("" if batch is None else CHANGED if changed else ending(batch), name)


def ending(batch: Any) -> str:
    """Return a sentence on the end of a batch or sweep, or on the stored trials of a sweep that was only opened."""
    done, state = f"{batch.done:,} of {batch.total:,} trials", batch.state
    if state in ("paused", "cancelled"):
        return f"{state.capitalize()}: {done} were computed, and are stored. Run continues from there."
    if not state and batch.done < batch.total:
        return f"Cancelled: {done} were computed; their results are shown."
    if state in ("new", "done") and batch.done < batch.total:
        spared = f"Done; {batch.total - batch.done:,} of {batch.total:,} trials were not needed."
        return spared if batch.results.complete else f"{done} are stored. Press Run to compute the others."
    return f"{done} are computed." if batch.done else ""


def batch_results(batch: Any, name: str) -> dict[int, Any]:
    """Return the results by number of the item; show once what could not be computed, and why. name: of the page."""
    show_failures(failures(batch), name, alive=batch is not None and batch.alive)
    return computed(batch)


def computed(batch: Any) -> dict[int, Any]:
    """Return the results by number of the item, without what could not be computed; none without a batch."""
    results = {} if batch is None else dict(batch.values)
    return {k: results[k] for k in sorted(results) if not isinstance(results[k], Failure)}


def rows(batch: Any) -> list[Any]:
    """Return the rows that all results of a batch are lists of."""
    return [row for result in computed(batch).values() for row in result]


def failures(batch: Any) -> list[str]:
    """Return what of a batch could not be computed, and why, as sentences."""
    if batch is None:
        return []
    failed = [result.sentence for result in list(batch.values.values()) if isinstance(result, Failure)]
    return failure_sentences(failed, batch.total, batch.error)


def failure_sentences(failed: Sequence[str], total: int, error: str) -> list[str]:
    """Return how many trials failed and why the first did, and what ended all of them."""
    words = [f"{len(failed)} of {total:,} trials could not be computed. {failed[0]}"] if failed else []
    return words + [error] * bool(error)


def show_failures(sentences: Sequence[str], name: str, *, alive: bool) -> None:
    """Show sentences of what failed; while a run is alive they follow the live part of this page."""
    with st.container(key=f"{name}-failures"):
        if alive:
            plot.words(failures_html(sentences), key=f"{name}.failures")
            return
        for sentence in sentences:
            show_error(sentence)


def failures_html(sentences: Sequence[str]) -> str:
    """Return sentences of what failed as HTML, for the live channel."""
    return "".join(f'<p class="lrlab-error">{escape(sentence)}</p>' for sentence in sentences)


def batch_parts(batch: Any, name: str, changed: bool = False) -> dict[str, str]:
    """Return the live parts of a page that `show_batch_progress` and `batch_results` lay out."""
    return {f"{name}.progress": batch_bar(batch, changed), f"{name}.failures": failures_html(failures(batch))}


def run_bar(runs: Sequence[Any]) -> str:
    """Return the HTML of how many solvers are done, and how long the others can take at most."""
    shares, left = zip(*(share_and_seconds_left(run) for run in runs), strict=True)
    done = sum(run.state in ("done", "failed") for run in runs)
    text = f"{done} of {len(runs)} solvers done, at most {duration(max(left))} left"
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
