"""Shows what solvers do: a sentence, the update, what they are given, and the docstring."""

import inspect
from collections.abc import Sequence

import streamlit as st

from lrlab.runs.job import Job


def show(jobs: Sequence[Job]) -> None:
    """Show a card for each solver."""
    for job in jobs:
        entry = job.entry
        with st.container(border=True, key=f"converge-why-{entry.name}"):
            st.markdown(f"**{entry.title}.** {entry.summary}")
            st.latex(entry.update)
            st.caption(" ".join(part for part in (job.given, entry.reference) if part))
            with st.popover(f"Docstring of {entry.name}", type="tertiary", width="content"):
                st.code(inspect.getdoc(entry.run) or "", language=None, wrap_lines=True)
