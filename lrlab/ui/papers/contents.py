"""The table of the five papers' contents, and their place in lrlab: the documentation's page, shown in the app."""

import re
from pathlib import Path

import streamlit as st

from lrlab.ui.live import routes
from lrlab.ui.live.headers import base

NAME = "contents"
"""The choice of an address that shows the table."""
PACKAGE = Path(__file__).parents[2]
PAGES = (PACKAGE / "site" / "docs" / "papers.md", PACKAGE.parent / "docs" / "papers.md")
"""Its path in a wheel and in a checkout."""


def show() -> None:
    """Show the table; its links lead to the documentation, if that is built."""
    text = next(path for path in PAGES if path.exists()).read_text("utf-8").partition("\n")[2]
    built = routes.DOCUMENTATION.exists()
    st.markdown(re.sub(r"\[([^]]*)\]\(([^)]*)\.md\)", rf"[\1]({base()}/docs/\2.html)" if built else r"\1", text))
