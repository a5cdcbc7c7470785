"""Addresses in a real chromium: values, Back and Forward, reloads, and clicks that come close together."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.ui.browsing import drawn, idle, opened, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "converge?p=8&solvers=pairwise-moment"


def number(page: Page, name: str):
    return page.get_by_role("spinbutton", name=re.compile(f"^{name}"))


def enter(page: Page, name: str, value: str) -> None:
    """Type a value and wait until the address has it."""
    number(page, name).fill(value)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{name.rstrip('$')}={value}"))
    idle(page)


def heading(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    idle(page)


def test_back_and_forward_lead_through_three_values(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    for value in ("500", "600", "700"):
        enter(page, "n$", value)
    for value in ("600", "500"):
        page.go_back()
        expect(number(page, "n$")).to_have_value(value)
        idle(page)
    for value in ("600", "700"):
        page.go_forward()
        expect(number(page, "n$")).to_have_value(value)
        idle(page)


def test_five_backs_lead_from_page_to_page_and_to_the_values_of_the_address(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    enter(page, "n$", "500")
    press(page, "Papers", "link")
    heading(page, "Papers")
    press(page, "Run", "link")
    expect(number(page, "n$")).to_have_value("500")
    expect(page).to_have_url(re.compile("n=500"))
    heading(page, "Run")
    press(page, "Papers", "link")
    heading(page, "Papers")
    shown = []
    for _ in range(5):
        page.go_back()
        page.wait_for_timeout(300)
        idle(page)
        title = page.get_by_role("heading", level=1).inner_text()
        shown.append(title)
        if title == "Run":
            named = re.search(r"[?&]n=(\d+)", page.url)
            expect(number(page, "n$")).to_have_value(named[1] if named else "3000")
    assert "Papers" in shown and page.url.endswith(SMALL)


def test_back_and_run_at_once_leave_address_and_fields_alike(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    enter(page, "n$", "500")
    enter(page, "n$", "600")
    run = page.get_by_role("button", name="Run", exact=True)
    page.evaluate("history.back()")
    run.click()
    expect(page.get_by_role("tabpanel").get_by_text("iterations", exact=True)).to_be_visible()
    idle(page)
    value = number(page, "n$").input_value()
    expect(page).to_have_url(re.compile(f"n={value}"))


def test_two_wrong_values_give_two_sentences(page, address):
    opened(page, f"{address}/converge?n=-1&noise=-2&p=8", "Run")
    expect(page.get_by_text(re.compile("n must be a whole number"))).to_be_visible()
    expect(page.get_by_text(re.compile("noise must be"))).to_be_visible()
    expect(page).to_have_url(re.compile("converge[?]p=8$"))


def test_fast_clicks_and_a_reload_show_the_same_values(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    idle(page)
    for _ in range(7):
        page.get_by_text("Link-free refinement", exact=True).click()
        number(page, "n$").press("ArrowUp")
    value = number(page, "n$").input_value()
    # Both solvers are those of the default.
    expect(page).to_have_url(re.compile(f"[?]n={value}&p=8$"))
    page.reload()
    expect(number(page, "n$")).to_have_value(value)
    expect(page.get_by_role("checkbox", name="Link-free refinement")).to_be_checked()


def test_a_value_typed_just_before_run_is_of_that_run(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    drawn(page)
    idle(page)
    number(page, "n$").fill("777")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("tabpanel").get_by_text("iterations", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("n=777"))
    expect(page.locator("mark")).to_have_count(0)


def test_a_link_clicked_just_after_typing_is_followed_and_the_value_is_kept(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    drawn(page)
    idle(page)
    number(page, "n$").fill("888")
    page.get_by_role("link", name="Papers", exact=True).click()
    heading(page, "Papers")
    page.wait_for_timeout(1000)
    heading(page, "Papers")
    press(page, "Run", "link")
    expect(number(page, "n$")).to_have_value("888")


LEAVE = """url => {
  history.pushState(null, "", url);
  dispatchEvent(new PopStateEvent("popstate"));
  lrlabLive.over("a stream", "converge", performance.now() + 15000);
}"""


def test_a_run_that_ends_as_its_page_is_left_does_not_bring_it_back(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    drawn(page)
    idle(page)
    page.evaluate(LEAVE, "/papers")
    heading(page, "Papers")
    page.wait_for_timeout(1000)
    heading(page, "Papers")
