"""The frame of all pages: navigation, heading, error messages, the job as code; keys of the session looked up."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import SessionState

from lrlab.parameters import InputError
from lrlab.ui.shared import code, turns
from lrlab.ui.widgets import plot, tables
from lrlab.ui.widgets.permalink import Permalink

_served_alone = threading.Event()
"""Whether Streamlit ran a page without app.py in this process."""
_all_of: Callable[[SessionState], dict[str, Any]] = vars(SessionState)["filtered_state"].fget
"""Streamlit's own property: a dictionary of all keys that a script may see."""


class SessionLookup(Mapping[str, Any]):
    """The keys of a session that a script may see, each looked up when wanted: widgets would make copies of all."""

    def __init__(self, state: SessionState) -> None:
        self._state = state

    def __getitem__(self, key: str) -> Any:
        if key.startswith("$$"):
            raise KeyError(key)
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(_all_of(self._state))

    def __len__(self) -> int:
        return len(_all_of(self._state))


setattr(SessionState, "filtered_state", property(SessionLookup))  # noqa: B010


def head(name: str, title: str, words: str) -> Permalink:
    """Show the title and the purpose of a page; return its permalink."""
    _require_navigation()
    heading(title, words)
    return Permalink(name)


def begin(name: str) -> Permalink:
    """Return the permalink of a page whose title depends on its address; `heading` shows it."""
    _require_navigation()
    return Permalink(name)


def heading(title: str, words: str = "") -> None:
    """Show the title and the purpose of a page; the browser's tab has it, too."""
    st.set_page_config(page_title=title if title == "lrlab" else f"{title} - lrlab")
    st.title(title, anchor=False)
    if words:
        st.container(width=900).markdown(words)


def navigate(pages: Sequence[Any]) -> None:
    """Run the requested page, below a navigation bar with all pages."""
    with turns.turn():
        page = st.navigation(list(pages), position="top")
        _send_in_full(page.url_path)
        plot.preload()
        st.html(Path(__file__).parents[1] / "assets" / "page.css")
        page.run()


def _send_in_full(page: str) -> None:
    # What a browser holds from a page before the last it may drop while its request for that page is under way, when
    # the end of a run reaches it: a mere reference would then end in an error.
    context = get_script_run_ctx()
    if context is not None and st.session_state.get("navigated") != page:
        context.cached_message_hashes = frozenset()
    st.session_state["navigated"] = page


def _require_navigation() -> None:
    # Streamlit runs a file of a folder named pages/ by itself, without app.py, when a server's first request is for
    # it, and continues so until the front page is opened.
    # Others may have asked meanwhile: their sessions are not below the bar either.
    if PagesManager.uses_pages_directory:
        _served_alone.set()
    if _served_alone.is_set() and "navigated" not in st.session_state:
        PagesManager.uses_pages_directory = False
        st.rerun()


def row() -> Any:
    """Return a row of buttons and choices, which wraps on narrow pages."""
    return st.container(horizontal=True, vertical_alignment="bottom")


def reading(words: str, reference: str) -> None:
    """Show a paragraph in a readable width, and its reference."""
    with st.container(width=760):
        st.markdown(words.replace("\n", " "))
        st.caption(reference)


def show_errors(*values: object) -> bool:
    """Show each InputError among the values, and return whether there was one."""
    errors = [error for error in values if isinstance(error, InputError)]
    # A container of its own, so that later elements keep their place whether or not there is an error.
    with st.container():
        for error in errors:
            st.error(str(error))
    return bool(errors)


def copy(python: str, shell: str = "", toml: str = "") -> None:
    """Show the job as Python, as a shell command, and as TOML if there is one; offer them, and a notebook, as files.

    Without a shell command of its own, the shell runs the Python script.
    """
    fold = st.expander("The same as code", key="code", on_change="rerun")
    if not fold.open:
        return
    shell = shell or f"python - <<'END'\n{python}\nEND"
    forms = {"Python": (python, "python"), "Shell": (shell, "bash")} | ({"TOML": (toml, "toml")} if toml else {})
    with fold:
        for tab, (text, language) in zip(st.tabs(list(forms)), forms.values(), strict=True):
            tab.code(text, language=language, wrap_lines=True)
        book = code.notebook("lrlab", python)
        files = {"Python": ("py", python), "Notebook": ("ipynb", book), "Shell": ("sh", shell), "TOML": ("toml", toml)}
        with st.container(horizontal=True):
            for title, (ending, text) in files.items():
                if text:
                    tables.download(f"{title} (.{ending})", text.encode, f"lrlab.{ending}", key=f"code-{ending}")
