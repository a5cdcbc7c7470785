"""Lessons, gone through by keyboard in a real chromium."""

import re

import pytest
from playwright.sync_api import Page, expect

from lrlab import lessons
from tests.thorough import but
from tests.ui.browsing import drawn, idle, opened, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST, *_, LAST = lessons.lessons()
FOCUSED = "document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-(\\S+)/)?.[1] ?? ''"


def tab_to(page: Page, key: str, press: str = "Tab") -> None:
    """Press Tab, or Shift+Tab, until the control of a key has the focus."""
    for _ in range(40):
        page.keyboard.press(press)
        if page.evaluate(FOCUSED) == key:
            return
    raise AssertionError(f"{key} is not reached by Tab")


def move(page: Page) -> None:
    """Move the slider of a live figure by a step: the figure follows."""
    slider, figure = page.get_by_role("slider"), page.locator(".stMain .lrlab-plot")
    idle(page)
    position, shown = slider.get_attribute("aria-valuetext"), figure.get_attribute("aria-label")
    slider.focus()
    page.keyboard.press("ArrowRight" if slider.input_value() == "0" else "ArrowLeft")
    expect(slider).not_to_have_attribute("aria-valuetext", position)
    # A run of a script may be over before the page has said that one runs: only what it draws tells.
    expect(figure).not_to_have_attribute("aria-label", shown)


@pytest.mark.parametrize("name", but([FIRST, LAST], list(lessons.lessons())))
def test_a_lesson_is_gone_through_by_keyboard_and_a_reload_keeps_its_step(page, address, name):
    lesson = lessons.load(name)
    # The app is loaded once: that takes longer than a lesson.
    (visit if "/learn" in page.url else opened)(page, f"{address}/learn?lesson={name}", lesson.title)
    for step, parts in enumerate(lesson.steps, 1):
        expect(page.get_by_role("heading", name=parts.title, exact=True)).to_be_visible()
        if parts.equation:
            expect(page.locator(".katex-display").first).to_be_visible()
        if parts.question:
            expect(page.get_by_text("Predict first")).to_be_visible()
            idle(page)
            # From the button that led to this step, the choices are nearer backwards.
            tab_to(page, "learn-choice-1", "Tab" if step == 1 else "Shift+Tab")
            page.keyboard.press("Enter")
            expect(page.get_by_text("Predict first")).to_be_hidden()
        drawn(page, ".lrlab-figure")
        if step == 1:
            move(page)
        # What an address restores does not depend on the lesson.
        if step == 2 and name == FIRST:
            expect(page).to_have_url(re.compile("answer=2"))
            page.reload()
            expect(page).to_have_url(re.compile("answer=2.*step=2|step=2.*answer=2"))
            drawn(page, ".lrlab-figure")
        idle(page)
        tab_to(page, "learn-next")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"step={step + 1}"))
    expect(page.get_by_role("heading", name="What to take away")).to_be_visible()
