"""Figures in pages: parts of HTML, drawn by the plotly.js of the installed package; nothing comes from elsewhere."""

import re
from pathlib import Path
from shutil import copyfile
from typing import Any

import plotly

DRAWN = ("generated/", "tutorials/", "misprints")
"""First letters of the names of pages that have figures."""
FOREIGN = re.compile(r'<script[^>]*\bsrc="https:[^"]*"[^>]*></script>')
"""What plotly writes into the output of a notebook, to load its library."""

FITTED = "addEventListener('load', () => document.querySelectorAll('.js-plotly-plot').forEach(Plotly.Plots.resize));"
"""Figures are drawn before the page has its width."""


def html(figure: Any, name: str) -> str:
    """Return a Plotly figure as a part of a page, under a name that is unique there."""
    look = {"full_html": False, "include_plotlyjs": False, "config": {"displayModeBar": False}}
    return str(figure.to_html(div_id=f"figure-{name}", **look))


def add_library(app: Any, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let pages with figures load plotly.js."""
    if page.startswith(DRAWN):
        app.add_js_file("plotly.min.js", priority=100)
        app.add_js_file(None, body=FITTED)
        context["body"] = FOREIGN.sub("", context["body"])


def copy_library(app: Any, error: Exception | None) -> None:
    """Put plotly.js beside the pages."""
    if error is None:
        library = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
        copyfile(library, Path(app.outdir) / "_static" / "plotly.min.js")


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", add_library)
    app.connect("build-finished", copy_library)
    return {"parallel_read_safe": True}
