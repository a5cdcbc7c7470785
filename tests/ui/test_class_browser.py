"""A class in a real chromium: a round by keyboard, and what axe says of the screens of teacher and student."""

import pytest
from playwright.sync_api import expect

from tests.ui.browsing import drawn, idle, opened
from tests.ui.test_accessibility import check_findings
from tests.ui.test_lessons_browser import tab_to

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.soak
def test_a_round_is_gone_through_by_keyboard(page, address):
    opened(page, f"{address}/learn?lesson=one-bit&step=2", "Why one bit is enough")
    idle(page)
    tab_to(page, "class-open")
    page.keyboard.press("Enter")
    expect(page.get_by_text("0 of 0 have predicted")).to_be_visible()
    drawn(page, ".lrlab-figure")
    code = page.url.partition("code=")[2].partition("&")[0]
    context = page.context.browser.new_context(viewport={"width": 390, "height": 844})
    try:
        student = context.new_page()
        opened(student, f"{address}/class?code={code}", "Why one bit is enough")
        idle(student)
        tab_to(student, "class-choice-0-2")
        student.keyboard.press("Enter")
        expect(student.get_by_role("status")).to_contain_text("Your prediction: .9.")
        expect(page.get_by_text("1 of 1 have predicted")).to_be_visible()
        check_findings(page)
        check_findings(student)
        page.emulate_media(color_scheme="dark")
        student.emulate_media(color_scheme="dark")
        tab_to(page, "class-step")
        page.keyboard.press("Enter")
        for screen in (page, student):
            expect(screen.get_by_role("status").filter(has_text="Right is: .9.")).to_have_count(1)
            drawn(screen, ".lrlab-figure")
            check_findings(screen)
        idle(page)
        tab_to(page, "class-step", "Shift+Tab")
        page.keyboard.press("Enter")
        expect(student.get_by_role("heading", name="How close can anything come?")).to_be_visible()
        expect(page.get_by_text("0 of 1 have predicted")).to_be_visible()
    finally:
        context.close()


def test_the_address_of_the_page_teacher_leads_to_the_class(page, address):
    opened(page, f"{address}/teacher", "Class")
    expect(page.get_by_label("Code")).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
