"""What tests do with a page in a real chromium."""

from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError, expect

CURVES = ".st-key-converge-curves .lrlab-figure"
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
