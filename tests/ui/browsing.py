"""What tests do with a page in a real chromium."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError, expect

CURVES = ".st-key-converge-curves .lrlab-figure"
MAP = ".st-key-transition-map .lrlab-figure"
COUNT_SCRIPTS = """
  window.scripts = 0;
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (data) {
    window.scripts += this !== lrlabLive.socket;
    return send.call(this, data);
  };
"""
"""Counts the scripts that this tab requests: Streamlit never marks a short one as running."""
FOCUSED = "document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-(\\S+)/)?.[1] ?? ''"
KNOB = 16
"""Width of a slider's knob in pixels: its center stays inside the track by half of it."""


def heading(page: Page, title: str) -> None:
    """Wait until a page shows a heading."""
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def opened(page: Page, url: str, title: str) -> None:
    """Load a page of the app and wait for its title."""
    page.goto(url)
    heading(page, title)


@contextmanager
def before_scripts(page: Page, source: str) -> Iterator[None]:
    """Run JavaScript on pages that are loaded during the block, before their own scripts."""
    tools = page.context.new_cdp_session(page)
    tools.send("Page.enable")
    script = tools.send("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    yield
    tools.send("Page.removeScriptToEvaluateOnNewDocument", script)
    tools.detach()


def visit(page: Page, url: str, title: str) -> None:
    """Go to another page of the app as Back does: cheaper than loading the app again."""
    page.evaluate("url => { history.pushState(null, '', url); dispatchEvent(new PopStateEvent('popstate')); }", url)
    heading(page, title)


def drawn(page: Page, figure: str = CURVES) -> None:
    """Wait until a figure is drawn."""
    expect(page.locator(f"{figure} .plot-container").first).to_be_visible()


def over(page: Page) -> None:
    """Wait until the page says that its run is over, and its last script has drawn the buttons and figures."""
    expect(page.locator(".lrlab-status").first).to_contain_text("The run is over.")
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    idle(page)


def press(page: Page, name: str, role: str = "button") -> None:
    """Click a button, tab or link once no script can move it."""
    idle(page)
    page.get_by_role(role, name=name, exact=True).click()


def number(page: Page, name: str) -> Locator:
    """Return the number field whose name begins so."""
    return page.get_by_role("spinbutton", name=re.compile(f"^{name}"))


def tab_to(page: Page, key: str, stroke: str = "Tab") -> None:
    """Press Tab, or Shift+Tab, until the control with this key has the focus."""
    expect(page.locator(f".st-key-{key}").first).to_be_visible()
    idle(page)
    for _ in range(100):
        page.keyboard.press(stroke)
        if page.evaluate(FOCUSED) == key:
            return
    raise AssertionError(f"{key} is not reached by {stroke}")


def slider(page: Page, key: str) -> Locator:
    """Return a slider once its script has given it positions."""
    found = page.locator(f".st-key-{key} input[type=range][max]")
    found.scroll_into_view_if_needed()
    return found


def grip(page: Page, moved: Locator) -> Callable[[int], None]:
    """Press the mouse on the knob of a slider; return what moves it to a position."""
    box, last = moved.bounding_box(), int(moved.get_attribute("max"))

    def move(position: int) -> None:
        across = KNOB / 2 + (box["width"] - KNOB) * position / last
        page.mouse.move(box["x"] + across, box["y"] + box["height"] / 2)

    move(int(moved.input_value()))
    page.mouse.down()
    return move


def wait_until(page: Page, condition: str, argument=None) -> None:
    """Wait until a condition in JavaScript holds."""
    page.wait_for_function(condition, arg=argument, polling=50)


def idle(page: Page) -> None:
    """Wait until no script of the page runs: it would replace the element that has the focus."""
    wait_until(page, "() => !document.querySelector('[data-test-script-state=running]')")


def downloaded(page: Page, button: Locator) -> bytes:
    """Press a download until its file comes: Streamlit forgets a button's file while it draws the page again."""
    for _ in range(3):
        with suppress(TimeoutError):
            with page.expect_download(timeout=60_000) as file:
                button.click()
            return Path(file.value.path()).read_bytes()
    raise AssertionError("no file came")
