"""Text from outside is shown as text: from addresses, definitions, names of files and of labels."""

import re
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from lrlab.ui.widgets.text import JOINER, plain
from tests.ui import driving
from tests.ui.browsing import opened
from tests.ui.driving import components, drawn, finished

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "![i](http://host/m)",
    "[link](http://host/)",
    "http://host/ www.host.org a@host.org",
    "<img src=x onerror=alert(1)> <b>bold</b>",
    "**bold** __bold__ *it* _it_ ~~gone~~",
    "`code` $x^2$ $$y$$",
    ":red[red] :orange-badge[badge]",
    "# head",
    "1. list",
    "- list",
    "| a | b |",
    r"\[escaped](http://host)",
]
NAME = "![i](http://host/m) <a href='http://host'>x</a> **b** :red[r]"
MARKED = re.compile(r"(?<!\\)(?:!?\[i\]|:red\[r|\*\*b|<a href)")
"""What of NAME would be shown as more than text."""


def shown(at):
    """Return every text that a page gives to Streamlit as Markdown."""
    kinds = (at.error, at.warning, at.info, at.caption, at.markdown, at.header, at.subheader, at.title)
    texts = [element.value for kind in kinds for element in kind]
    widgets = (at.checkbox, at.selectbox, at.button, at.number_input, at.text_input, at.toggle)
    return texts + [getattr(one, part, "") or "" for kind in widgets for one in kind for part in ("label", "help")]


@pytest.mark.attempt(
    "Markdown, HTML and links in addresses, opened in a browser",
    "shown as they were typed, nothing is fetched",
)
@pytest.mark.browser
@pytest.mark.slow
def test_addresses_are_shown_as_they_were_typed(page, address):
    names = ["n", "p", "sparsity", "noise", "truth", "entries", "design", "tol", "seed", "max_iter", "show", "axes"]
    query = urlencode({**dict(zip(names, HOSTILE, strict=True)), "solvers": "sir", NAME: "1"})
    opened(page, f"{address}/converge?{query}", "Run")
    alerts = page.get_by_test_id("stAlert")
    expect(alerts.nth(len(HOSTILE))).to_be_visible()
    read = " ".join(alerts.all_inner_texts()).replace(JOINER, "")
    # Long values are cut.
    for text in [*HOSTILE, NAME[:40]]:
        assert text in read, text
    assert not alerts.locator("a, img, strong, em, del, h1, li, table, .katex, .stMarkdownBadge, p code").count()


@pytest.mark.slow
@pytest.mark.attempt("a title of a TOML definition that is Markdown or HTML", "shown as text")
def test_a_title_of_a_definition_is_text():
    at = driving.opened("sweep", n="200", p="5")
    at.text_area(key="transition-toml").set_value(
        f'title = "{NAME}"\nmodel = "one-bit-sensing"\nsolvers = ["sir"]\ntrials = 2\n[axes]\nn = [300, 500]\n'
    )
    at.button(key="transition-read").click().run()
    at = finished(at, "transition")
    at.session_state["transition-past"] = True
    drawn(at.run())
    texts = shown(at)
    assert any(plain(NAME) in text for text in texts) and not any(MARKED.search(text) for text in texts)


@pytest.mark.attempt("names of labels, users and files that are Markdown or HTML", "shown as text")
@pytest.mark.slow
@pytest.mark.usefixtures("engine")
def test_names_of_labels_and_files_are_text():
    X = np.random.default_rng(5).standard_normal((60, 4))
    Y = (X[:, :2] > 0.3).astype(int)
    file = f"{NAME.replace('/', '')}.csv"
    rows = "\n".join(",".join(f"{x:g}" for x in row) for row in np.hstack([X, Y]))
    content = f"a,b,c,d,{NAME},{NAME}2\n{rows}\n".encode()
    at = driving.opened("own_data", labels="last:2", max_iter="2")
    at.file_uploader(key="own_data.file").set_value((file, content, "text/csv"))
    at = finished(drawn(at.run()), "own_data")
    texts = shown(at)
    assert any(plain(file) in text for text in texts) and not any(MARKED.search(text) for text in texts)
    assert "<a href" not in "".join(part["figure"] for part in components(at) if "figure" in part)


def test_sentences_on_what_is_wrong_are_shown_by_one_function():
    calls = {
        path.name
        for path in [*(ROOT / "lrlab/ui").rglob("*.py"), *(ROOT / "pages").glob("*.py")]
        if re.search(r"\.(error|warning)\((?!\s*\")", path.read_text().replace("LOG.", "LOG "))
    }
    assert calls == {"permalink.py", "text.py"}
