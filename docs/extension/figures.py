"""Figures of the lab in pages: parts of HTML that the plotly.js of the installed package draws."""

from pathlib import Path
from shutil import copyfile
from typing import Any

import plotly

DRAWN = ("generated/", "tutorials/")
"""Folders of pages that have figures."""


def html(figure: Any, name: str) -> str:
    """Return a figure of `lrlab.figures` as a part of a page, with a name of its own on the page."""
    return str(figure.to_html(full_html=False, include_plotlyjs=False, div_id=name, config={"displayModeBar": False}))


def add_library(app: Any, page: str, template: str, context: Any, tree: Any) -> None:
    """Let pages with figures load plotly.js."""
    if page.startswith(DRAWN):
        app.add_js_file("plotly.min.js", priority=100)


def copy_library(app: Any, error: Exception | None) -> None:
    """Put plotly.js beside the pages: nothing is loaded from elsewhere."""
    if error is None:
        library = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
        copyfile(library, Path(app.outdir) / "_static" / "plotly.min.js")


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", add_library)
    app.connect("build-finished", copy_library)
    return {"parallel_read_safe": True}
