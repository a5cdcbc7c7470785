"""Pages in a frame of another page, in a real chromium: figures and sliders alone, and the HTML that shows them."""

import re

import pytest
from playwright.sync_api import expect

from tests.ui.browsing import CURVES, drawn, opened, press

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_frame_shows_figures_and_sliders_alone(page, address):
    page.goto(f"{address}/converge?n=1000&solvers=pairwise-moment&run=1&embed=true")
    drawn(page)
    expect(page.locator(".lrlab-slider:visible")).to_have_count(3)
    expect(page.locator(".st-key-converge-verdict strong")).to_have_text(re.compile("measured"))
    for hidden in ("heading", "tab", "navigation", "spinbutton", "combobox"):
        expect(page.get_by_role(hidden).filter(visible=True)).to_have_count(0)
    expect(page.locator('.stMain [data-testid="stButton"]:visible')).to_have_count(0)


def test_a_frame_of_a_lesson_has_its_figure_without_the_question(page, address):
    page.goto(f"{address}/learn?lesson=one-bit&step=2&embed=true")
    drawn(page, ".lrlab-figure")
    expect(page.locator(".lrlab-slider:visible")).to_have_count(1)
    expect(page.locator(".st-key-learn-question")).to_be_hidden()


def test_the_code_of_a_page_has_its_frame(page, address):
    opened(page, f"{address}/converge?n=1000&solvers=pairwise-moment", "Converge")
    drawn(page, CURVES)
    press(page, "Code", "tab")
    press(page, "Frame", "tab")
    code = page.get_by_text("<iframe")
    expect(code).to_contain_text(f'src="{address}/converge?n=1000')
    expect(code).to_contain_text("embed=true")
