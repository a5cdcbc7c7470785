"""What pages with many trials have in common: progress with the time left, results, what failed."""

from typing import Any

import streamlit as st

from lrlab.engine.remote import Failure
from lrlab.ui.shared import live


def progress(batch: Any) -> None:
    """Show how many trials are done and how long the rest will take, while a batch is alive."""
    # Empty where nothing runs: figures that moved to another place would be drawn from scratch, and lose their zoom.
    place = st.empty()
    if batch is None or not batch.alive:
        return
    left = batch.seconds_left
    words = f"{batch.done:,} of {batch.total:,} trials" + (f", about {live.duration(left)} left" if left else "")
    place.progress(batch.done / max(1, batch.total), text=words)


def results(batch: Any) -> dict[int, Any]:
    """Return the results by number of the item; say once what could not be computed, and why."""
    place = st.container()
    if batch is None:
        return {}
    failures = [result.sentence for result in batch.results.values() if isinstance(result, Failure)]
    if failures:
        place.error(f"{len(failures)} of {batch.total} trials could not be computed. {failures[0]}")
    if batch.error:
        place.error(batch.error)
    if not batch.alive and batch.done < batch.total:
        place.caption(f"Cancelled: {batch.done:,} of {batch.total:,} trials were computed, and are kept.")
    return {k: batch.results[k] for k in sorted(batch.results) if not isinstance(batch.results[k], Failure)}


def seen(page: str) -> bool:
    """Tell whether the batch of a page has anything to show."""
    batch = live.current(page)
    return batch is None or batch.done > 0
