"""What all pages have in common: a bar, a heading, errors in one sentence, the job as code."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from lrlab.parameters import InputError
from lrlab.ui.widgets import plot
from lrlab.ui.widgets.permalink import Permalink

if TYPE_CHECKING:
    from lrlab.runs.job import Job


def head(name: str, title: str, words: str) -> Permalink:
    """Show the title of a page and what it is for; return its address."""
    _require_navigation()
    st.title(title, anchor=False)
    st.container(width=900).markdown(words)
    return Permalink(name)


def navigate(pages: Sequence[Any]) -> None:
    """Run the page that was asked for, below a bar that leads to all of them."""
    plot.preload()
    st.html(Path(__file__).parents[1] / "assets" / "page.css")
    st.navigation(list(pages), position="top").run()


def _require_navigation() -> None:
    # Streamlit runs a file of a folder named pages/ by itself, without app.py, when a server's very first visitor
    # asks for it, and goes on so until somebody opens the front page.
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def row() -> Any:
    """Return a line of buttons and choices, which breaks where the page is narrow."""
    return st.container(horizontal=True, vertical_alignment="bottom")


def reading(words: str, reference: str) -> None:
    """Show a paragraph in a width that reads well, and where it comes from."""
    with st.container(width=760):
        st.markdown(words.replace("\n", " "))
        st.caption(reference)


def show_errors(*values: object) -> bool:
    """Show each InputError among the values, and return whether there was one."""
    errors = [error for error in values if isinstance(error, InputError)]
    # A place of its own, so that what follows on the page keeps its place whether or not there is an error.
    with st.container():
        for error in errors:
            st.error(str(error))
    return bool(errors)


def copy(python: str, shell: str = "", toml: str = "") -> None:
    """Offer the same job as Python, as a shell command, and as TOML where it has that form.

    Where the shell has no command of its own, it runs the script.
    """
    fold = st.expander("The same as code", key="code", on_change="rerun")
    if not fold.open:
        return
    shell = shell or f"python - <<'END'\n{python}\nEND"
    forms = {"Python": (python, "python"), "Shell": (shell, "bash")} | ({"TOML": (toml, "toml")} if toml else {})
    with fold:
        for tab, (text, language) in zip(st.tabs(list(forms)), forms.values(), strict=True):
            tab.code(text, language=language, wrap_lines=True)


def copy_jobs(jobs: Sequence["Job"]) -> None:
    """Offer jobs of one problem as code."""
    from lrlab.ui.shared import code

    if jobs:
        copy(code.python(jobs), code.shell(jobs))
