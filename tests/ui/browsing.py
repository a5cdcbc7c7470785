"""What tests do with a page in a real chromium."""

from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.ui.driving import MOST_WORDS

CURVES = ".st-key-converge-curves .lrlab-figure"
WORDS = """() => {
  const words = [], main = document.querySelector("[data-testid=stMain]");
  const walk = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const { parentElement: around, textContent } = walk.currentNode;
    // Formulas, ticks, names of icons, and what is only read out.
    const others = "svg, style, .katex, .lrlab-figure, .lrlab-files, [data-testid=stIconMaterial], [class*=-status]";
    // What is folded away has a place, which hides it.
    if (around.closest(others) || (around.closest("details:not([open])") && !around.closest("summary"))) continue;
    const range = document.createRange();
    range.selectNodeContents(walk.currentNode);
    const { width, top, bottom } = range.getBoundingClientRect();
    if (width && top < innerHeight && bottom > 0) words.push(...textContent.split(/\\s+/));
  }
  return words.filter((word) => /\\w/.test(word));
}"""

FEW = """most => {
  const few = document.fonts.status === "loaded" && (WORDS)().length <= most;
  window.fewSince = few ? window.fewSince ?? performance.now() : undefined;
  return few && performance.now() - window.fewSince > 1000;
}""".replace("WORDS", WORDS)

COUNT_SCRIPTS = """
  window.scripts = 0;
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    window.scripts += this !== lrlabLive.socket;
    return send.call(this, data);
  };
"""
"""Counts each script that this tab asks for: one that is soon over is never marked as running."""


def opened(page: Page, url: str, title: str) -> None:
    page.goto(url)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def visit(page: Page, url: str, title: str) -> None:
    """Go to another page of the app as one goes back to it: cheaper than loading the app anew."""
    page.evaluate("url => { history.pushState(null, '', url); dispatchEvent(new PopStateEvent('popstate')); }", url)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def drawn(page: Page, figure: str = CURVES) -> None:
    expect(page.locator(f"{figure} .plot-container").first).to_be_visible()


def press(page: Page, name: str, role: str = "button") -> None:
    """Press a button, a tab, a link, once nothing is drawn that could move it away."""
    idle(page)
    page.get_by_role(role, name=name, exact=True).click()


def wait_until(page: Page, condition: str, argument=None) -> None:
    page.wait_for_function(condition, arg=argument, polling=50)


def idle(page: Page) -> None:
    """Wait until no script of the page runs: what has the focus would be replaced."""
    wait_until(page, "() => !document.querySelector('[data-test-script-state=running]')")


def downloaded(page: Page, button: Locator) -> bytes:
    """Press a download until its file comes: while a page is drawn anew, Streamlit forgets the file of its button."""
    for _ in range(3):
        with suppress(TimeoutError):
            with page.expect_download(timeout=20_000) as file:
                button.click()
            return Path(file.value.path()).read_bytes()
    raise AssertionError("no file came")


def few_words(page: Page, what: str) -> None:
    """Wait until what is in sight has had few words for a second: while a page is laid out it has fewer or more."""
    page.evaluate("delete window.fewSince")
    wait_until(page, FEW, MOST_WORDS)
    assert len(page.evaluate(WORDS)) > 5, what
