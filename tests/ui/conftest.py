"""A real chromium."""

import os
import shutil
from contextlib import suppress

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.waiting import PATIENCE

# A page lives for seconds, so that optimizing its code and collecting garbage often cost more than they save. Flushed
# bytecode would be compiled again for every page.
SCRIPTS = "--no-flush-bytecode --no-maglev --no-turbofan --min-semi-space-size=64 --single-threaded-gc"
QUIET = [
    "--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    f"--js-flags={SCRIPTS}",
]  # fmt: skip


@pytest.fixture(scope="session")
def tab():
    path = os.environ.get("PLAYWRIGHT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "no chromium on the PATH: install it, or set PLAYWRIGHT_CHROMIUM to its path"
    expect.set_options(timeout=1e3 * PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield browser.new_page()
        browser.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Add the last text of the page to the report of a test that fails."""
    report = yield
    if report.when == "call" and report.failed and "tab" in item.funcargs:
        with suppress(Exception):
            words = item.funcargs["tab"].get_by_test_id("stMain").inner_text(timeout=2000)
            report.sections.append(("the page at the end", " | ".join(words.split("\n"))[:3000]))
    return report


@pytest.fixture
def page(tab):
    """Return the only tab, without cookies: another tab would load and compile all scripts again, for 4 s.

    The test fails if JavaScript does, or if the page's content security policy refuses something.
    """
    failures = []

    def read(line):
        if "Content Security Policy" in line.text:
            failures.append(line.text)

    listeners = {"pageerror": lambda error: failures.append(error), "console": read}
    tab.context.clear_cookies()
    tab.set_default_timeout(1e3 * PATIENCE)
    tab.set_viewport_size({"width": 1280, "height": 900})
    # Animations take two fifths of the processor time of a page.
    tab.emulate_media(color_scheme="light", reduced_motion="reduce")
    for event, listener in listeners.items():
        tab.on(event, listener)
    yield tab
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    tab.evaluate("localStorage.clear()")
    assert not failures


@pytest.fixture
def student(tab):
    """Return the page of another browser, of the size of a phone, without cookies."""
    phone = {"width": 390, "height": 844}
    context = tab.context.browser.new_context(viewport=phone, color_scheme="light", reduced_motion="reduce")
    context.set_default_timeout(1e3 * PATIENCE)
    yield context.new_page()
    context.close()
