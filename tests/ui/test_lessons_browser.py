"""Lessons, gone through by keyboard in a real chromium."""

import re

import pytest
from playwright.sync_api import Page, expect

from lrlab import lessons
from tests.thorough import but
from tests.ui.browsing import drawn, idle, opened, press, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_TOUR, FIRST, *_, LAST = lessons.lessons()
FOCUSED = "document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-(\\S+)/)?.[1] ?? ''"


def tab_to(page: Page, key: str, press: str = "Tab") -> None:
    """Press Tab, or Shift+Tab, until the control of a key has the focus, once it is there."""
    expect(page.locator(f".st-key-{key}").first).to_be_visible()
    idle(page)
    for _ in range(100):
        page.keyboard.press(press)
        if page.evaluate(FOCUSED) == key:
            return
    raise AssertionError(f"{key} is not reached by Tab")


def move(page: Page, start: object) -> None:
    """Move the slider of a live figure by a step, once it has come to its start by itself: the figure follows."""
    slider, figure = page.get_by_role("slider"), page.locator(".stMain .lrlab-plot")
    text = f"{start:,}" if isinstance(start, int) else str(start)
    expect(slider).to_have_attribute("aria-valuetext", text)
    wait_until(page, "() => !document.querySelector('.lrlab-slider').moving")
    idle(page)
    shown = figure.get_attribute("aria-label")
    slider.focus()
    page.keyboard.press("ArrowRight" if slider.input_value() == "0" else "ArrowLeft")
    expect(slider).not_to_have_attribute("aria-valuetext", text)
    # A run of a script may be over before the page has said that one runs: only what it draws tells.
    expect(figure).not_to_have_attribute("aria-label", shown)


@pytest.mark.parametrize("name", but([FIRST, LAST], list(lessons.lessons())))
def test_a_lesson_is_gone_through_by_keyboard_from_its_card_and_a_reload_keeps_its_step(page, address, name):
    lesson = lessons.load(name)
    # The app is loaded once: that takes longer than a lesson.
    if page.url != f"{address}/learn":
        opened(page, f"{address}/learn", "Learn")
    idle(page)
    tab_to(page, f"open-lesson-{name}")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=lesson.title, exact=True)).to_be_visible()
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
            move(page, parts.start)
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
    idle(page)
    tab_to(page, "learn-all")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Learn", exact=True)).to_be_visible()
    idle(page)


def test_an_answer_keeps_the_focus_is_read_out_and_moves_the_slider_to_its_case(page, address):
    opened(page, f"{address}/learn?lesson={FIRST}&step=2", lessons.load(FIRST).title)
    step = lessons.load(FIRST).steps[1]
    idle(page)
    tab_to(page, "learn-choice-0")
    page.keyboard.press("Enter")
    said = step.filled(step.question.choices[0].why).partition("$")[0]
    expect(page.get_by_role("status").filter(has_text=said)).to_have_count(1)
    assert page.evaluate(FOCUSED) == "learn-choice-0"
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", str(step.start))
    expect(page.locator(".stMain .lrlab-plot")).to_have_attribute(
        "aria-label", re.compile(f"{step.number('answer'):.3g}")
    )
    assert page.evaluate(FOCUSED) == "learn-choice-0"


def test_back_leads_through_answers_and_steps_to_the_cards(page, address):
    title, first, second = (lessons.load(FIRST).title, *(step.title for step in lessons.load(FIRST).steps[:2]))
    opened(page, f"{address}/learn", "Learn")
    press(page, title)
    expect(page.get_by_role("heading", name=first, exact=True)).to_be_visible()
    press(page, "Next")
    expect(page.get_by_role("heading", name=second, exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("step=2"))
    page.go_back()
    expect(page.get_by_role("heading", name=first, exact=True)).to_be_visible()
    idle(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Learn", exact=True)).to_be_visible()
    idle(page)
    page.go_forward()
    expect(page.get_by_role("heading", name=first, exact=True)).to_be_visible()
    idle(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Learn", exact=True)).to_be_visible()


def test_back_leads_to_the_cards_too_where_a_lesson_was_opened_before_the_live_channel(tab, address):
    page, held = tab.context.browser.new_page(), []
    # A lambda: a method of a list cannot carry what playwright notes on it.
    page.route(re.compile(r"/live\.js"), lambda route: held.append(route))
    opened(page, f"{address}/learn", "Learn")
    press(page, lessons.load(FIRST).title)
    expect(page.get_by_role("heading", name=lessons.load(FIRST).steps[0].title, exact=True)).to_be_visible()
    for route in held:
        route.continue_()
    wait_until(page, "() => window.lrlabLive?.page")
    idle(page)
    page.go_back()
    expect(page.get_by_role("heading", name="Learn", exact=True)).to_be_visible()
    page.close()
