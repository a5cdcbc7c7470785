"""Pages in a frame of another page, in a real chromium: figures and sliders alone, and the HTML that shows them."""

import re

import pytest
from playwright.sync_api import expect

from lrlab import catalog
from tests.ui.browsing import drawn, opened, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_frame_shows_figures_and_sliders_alone(page, address):
    page.goto(f"{address}/converge?n=1000&solvers=pairwise-moment&run=1&embed=true")
    drawn(page)
    expect(page.locator(".lrlab-slider:visible")).to_have_count(len(catalog.model_entry("one-bit-sensing").main))
    expect(page.locator(".st-key-converge-verdict strong")).to_have_text(re.compile("measured"))
    for hidden in ("heading", "tab", "navigation", "spinbutton", "combobox"):
        expect(page.get_by_role(hidden).filter(visible=True)).to_have_count(0)
    expect(page.locator('.stMain [data-testid="stButton"]:visible')).to_have_count(0)


def test_a_frame_of_a_lesson_has_its_figure_without_the_question(page, address):
    page.goto(f"{address}/learn?lesson=one-bit&step=2&embed=true")
    drawn(page, ".lrlab-figure")
    expect(page.locator(".lrlab-slider:visible")).to_have_count(1)
    expect(page.locator(".st-key-learn-question")).to_be_hidden()


@pytest.mark.parametrize(
    ("path", "title", "frame"),
    [
        ("converge?n=1000&solvers=pairwise-moment", "Run", "converge?n=1000"),
        ("learn?lesson=one-bit&step=2", "Why one bit is enough", "learn?lesson=one-bit&amp;step=2"),
        ("learn", "Learn", ""),
        ("own_data?measurements=ratings", "Your data", ""),
        ("own_data?measurements=wine", "Your data", ""),
    ],
)
def test_a_page_is_shared_by_its_link_its_picture_and_a_frame(page, address, path, title, frame):
    opened(page, f"{address}/{path}", title)
    press(page, "Share")
    # The address is said as it is, and drawn.
    expect(page.get_by_text(f"{address}/{path}", exact=True)).to_be_visible()
    expect(page.get_by_role("img", name=f"QR picture of {address}/{path}")).to_be_visible()
    code = page.get_by_text("<iframe")
    if not frame:
        expect(code).to_have_count(0)
        return
    expect(code).to_contain_text(f'src="{address}/{frame}')
    expect(code).to_contain_text("embed=true")


def test_the_link_of_a_page_that_has_run_begins_its_run(page, address):
    opened(page, f"{address}/own_data?measurements=breast-cancer", "Your data")
    press(page, "Run")
    expect(page.locator(".st-key-own_data-buttons")).to_be_visible()
    press(page, "Share")
    link = page.get_by_text(f"{address}/own_data?measurements=breast-cancer&run=1", exact=True)
    expect(link).to_be_visible()
    opened(page, link.inner_text(), "Your data")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
