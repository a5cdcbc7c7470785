"""The frame of all pages: navigation, heading, error messages, the job as code."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.ui.live import script_queue
from lrlab.ui.shared import code, live
from lrlab.ui.widgets import permalink, plot, tables
from lrlab.ui.widgets.text import show_error, show_warning

ASSETS = Path(__file__).parents[1] / "assets"
EMBEDDABLE = ("converge", "spectrum", "transition")
"""Pages that a frame shows; a lesson's step can be embedded, too."""
LOCAL = ("127.0.0.1", "localhost", "::1")


def heading(title: str, words: str = "") -> None:
    """Show the title and the purpose of a page; the browser's tab has it, too."""
    st.set_page_config(page_title=title if title == "lrlab" else f"{title} - lrlab")
    st.title(title, anchor=False)
    if words:
        st.container(width=900).markdown(words)


Moved = Mapping[str, tuple[str, Callable[[Mapping[str, str]], dict[str, str]]]]
"""By the path of a former page, the path of the page that replaces it, and what makes its parameters."""


def navigate(pages: Sequence[Any], moved: Moved) -> None:
    """Run the requested page, below a navigation bar with all pages; addresses of former pages lead to new ones."""
    with script_queue.turn():
        # They show nothing: the browser goes to another page.
        former = [st.Page(lambda: None, title=path, url_path=path, visibility="hidden") for path in moved]
        page = st.navigation([*pages, *former], position="hidden" if embedded() else "top")
        if page.url_path in moved:
            path, parameters = moved[page.url_path]
            live.lead(path, parameters(st.query_params.to_dict()) | ({"embed": "true"} if embedded() else {}))
        live.connect(page.url_path)
        plot.preload()
        st.html(ASSETS / "page.css")
        if embedded():
            st.html(ASSETS / "embed.css")
        for sentence in catalog.LEFT_OUT:
            show_warning(f"Left out: {sentence}.")
        page.run()
        if not embedded() and page.url_path not in moved:
            share(page.url_path)
            with st.container(horizontal=True, vertical_alignment="center", key="pages"):
                for one in pages:
                    if one.visibility != "hidden":
                        st.page_link(one)
    live.note_drawn("page")


def embedded() -> bool:
    """Return whether the page is shown in a frame, by `?embed=true`: only its figures and sliders."""
    return bool(st.context.is_embedded)


def controls() -> Any:
    """Return the place of a page's controls: the sidebar, or in a frame the top of the page."""
    return st.container(key="embedded-controls") if embedded() else st.sidebar


def share(page: str) -> None:
    """Offer what opens a page as it is now: its link, its QR code, and a frame if it can be embedded."""
    place = st.popover("Share", key="share", on_change="rerun")
    if not place.open:
        return
    address = permalink.address(page or "home")
    with place:
        st.markdown("**Copy link**")
        # A page may have several runs: the one of the last buttons counts.
        ran = live.current(st.session_state["live:shown"]) is not None
        st.code(link(address | ({"run": "1"} if ran else {})), language=None, wrap_lines=True)
        # A frame shows figures: for a lesson, the figures of its steps.
        if page in EMBEDDABLE or "lesson" in address:
            st.markdown("**Frame** for a slide or a course page")
            shown = escape(link({**address, "run": "1", "embed": "true"}))
            html = f'<iframe src="{shown}" width="100%" height="640" style="border: 0"></iframe>'
            st.code(html, language="html", wrap_lines=True)
        qr_code(link(address), width=180)


def link(address: Mapping[str, str]) -> str:
    """Return the whole address of the page that is shown, with other parameters."""
    parts = (st.context.url or "").partition("?")[0], urlencode(address)
    return "?".join(part for part in parts if part)


def qr_code(address: str, *, width: int = 220) -> None:
    """Show the QR code of an address, `width` pixels wide, and say if no phone can open it."""
    # Black on white on dark pages, too: cameras read it so.
    picture = segno.make(address, error="m", micro=False).svg_inline(border=2, dark="#000", light="#fff", scale=8)
    st.image(picture, width=width, alt=f"QR code of {address}")
    if urlsplit(address).hostname in LOCAL:
        st.caption("Only this machine opens this address: see *Serve a class* in the documentation.")


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
    # A separate container, so that later elements keep their place with or without an error.
    with st.container():
        for error in errors:
            show_error(error)
    return bool(errors)


def fold_code(python: str, shell: str = "", toml: str = "", figure: str = "") -> None:
    """Show the job as code, see `copy`, when a fold is opened."""
    with st.expander("The same as code", key="code", on_change="rerun") as fold:
        if fold.open:
            copy(python, shell, toml, figure)


def copy(python: str, shell: str = "", toml: str = "", figure: str = "") -> None:
    """Show the job as Python, as a shell command, and as TOML if there is one; offer them, and a notebook, as files.

    If the run has no shell command, the shell runs the Python script. figure: the expression that the notebook shows at
    its end.
    """
    shell = shell or f"python - <<'END'\n{python}\nEND"
    forms = {"Python": (python, "python"), "Shell": (shell, "bash")} | ({"TOML": (toml, "toml")} if toml else {})
    for tab, (text, language) in zip(st.tabs(list(forms)), forms.values(), strict=True):
        tab.code(text, language=language, wrap_lines=True)
    book = code.notebook("lrlab", python, figure)
    files = {"Python": ("py", python), "Notebook": ("ipynb", book), "Shell": ("sh", shell), "TOML": ("toml", toml)}
    with st.container(horizontal=True):
        for title, (ending, text) in files.items():
            if text:
                tables.download(f"{title} (.{ending})", text.encode, f"lrlab.{ending}", key=f"code-{ending}")
