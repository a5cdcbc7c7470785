"""Maps and sweeps in a real chromium: a trial is opened, a sweep is paused and found again, files are saved."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.ui.browsing import COUNT_SCRIPTS, downloaded, drawn, idle, opened, press, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MAP = ".st-key-transition-map .lrlab-figure"
SMALL_MAP = "crosshair=false&model=one-bit-sensing&p=6&x-points=2&y-points=2&y-from=20&y-to=80"


def measured(page: Page) -> None:
    """Wait until the lower left cell of the map shows a score: before that there is nothing to be opened there."""
    drawn(page, MAP)
    wait_until(page, "map => Number.isFinite(document.querySelector(map)?.calcdata?.[0]?.[0]?.z?.[0]?.[0])", MAP)


def click_the_lower_left_cell(page: Page) -> None:
    box = page.locator(f"{MAP} .nsewdrag").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.75)


def its_trial_is_run(page: Page) -> None:
    expect(page.get_by_role("heading", name="Run", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("seed=[1-9]"))
    expect(page.get_by_text("Converged: the residual fell").first).to_be_visible()
    expect(page.get_by_role("spinbutton", name=re.compile("^n$"))).to_have_value("120")


def test_a_click_on_the_map_opens_that_trial(page, address):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=2", "Phase transitions")
    drawn(page, MAP)
    page.locator(MAP).evaluate("node => { node.mark = 'the same node'; }")
    press(page, "Run")
    measured(page)
    assert page.locator(MAP).evaluate("node => node.mark") == "the same node"
    click_the_lower_left_cell(page)
    its_trial_is_run(page)


@pytest.mark.soak
def test_a_click_is_not_lost_while_trials_run_on_a_distant_server(page, address, far):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=5000", "Phase transitions")
    press(page, "Run")
    measured(page)
    # Longer than the page waits between two questions how the run goes: one of them is asked after the click.
    page.evaluate("window.latency = 800")
    click_the_lower_left_cell(page)
    its_trial_is_run(page)
    press(page, "Phase transitions", "link")
    measured(page)
    # On a fast machine nothing is left to cancel.
    if (cancel := page.get_by_role("button", name="Cancel", exact=True)).count():
        cancel.click()


WATCH = """map => {
  window.updates = 0;
  addEventListener("lrlab-live", ({ detail }) => (window.updates += detail.includes(map)));
  SCRIPTS
}""".replace("SCRIPTS", COUNT_SCRIPTS)
RANGES = "map => ['xaxis', 'yaxis'].flatMap(axis => document.querySelector(map).layout[axis].range)"
TRIALS = r"""map => document.querySelector(map).data[0].text.flat().reduce(
  (sum, words) => sum + Number(/(\d+) trials/.exec(words)?.[1] ?? 0), 0)"""


def test_a_map_grows_in_its_zoom_while_no_script_runs(page, address):
    opened(
        page,
        f"{address}/transition?crosshair=false&model=one-bit-sensing&p=9&adaptive=false&x-points=20&y-points=20&y-from=20&trials=50",
        "Phase transitions",
    )
    drawn(page, MAP)
    press(page, "Run")
    measured(page)
    idle(page)
    box = page.locator(f"{MAP} .nsewdrag").first.bounding_box()
    places = [(box["x"] + box["width"] * share, box["y"] + box["height"] * share) for share in (0.2, 0.7)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()
    zoom, trials = page.evaluate(RANGES, MAP), page.evaluate(TRIALS, MAP)
    page.evaluate(WATCH, "transition.map")
    wait_until(page, "() => window.updates > 7")
    assert not page.evaluate("window.scripts") and page.evaluate(RANGES, MAP) == zoom
    assert page.evaluate(TRIALS, MAP) > trials > 0
    press(page, "Cancel")
    cancelled = re.compile("^Cancelled: .* of 20,000 trials were computed")
    expect(page.get_by_role("paragraph").filter(has_text=cancelled)).to_be_visible()
    assert page.evaluate("window.scripts") and page.evaluate(RANGES, MAP) == zoom


def visible_table(page: Page) -> str:
    """Download the table of the sweep that a page shows, and return it."""
    fold = page.locator(".st-key-transition-table")
    download = fold.get_by_role("button", name="Table, CSV")
    if not download.is_visible():
        fold.get_by_text("Table and files").click()
    return downloaded(page, download).decode()


MORE_TRIALS = """before => {
  const shown = document.body.innerText.match(/([\\d,]+) of 96,000 trials, about/);
  return shown && Number(shown[1].replaceAll(",", "")) > before;
}"""


@pytest.mark.soak
def test_a_sweep_is_paused_and_resumed_from_the_list_after_a_reload(page, address):
    sweep = "sweep?p=8&solvers=marginal-mean,sir&x-points=4&y-axis=noise&y-points=3&trials=4000"
    opened(page, f"{address}/{sweep}", "Phase transitions")
    press(page, "Run")
    expect(page.get_by_text(re.compile("of 96,000 trials, about"))).to_be_visible()
    press(page, "Pause")
    expect(page.get_by_text(re.compile("Paused: .* of 96,000 trials were computed"))).to_be_visible()
    before = visible_table(page)
    page.goto(f"{address}/sweep")
    page.locator(".st-key-transition-past").get_by_text("Past sweeps").click()
    expect(page.get_by_text(re.compile(r"paused, [\d,]+ of 96,000 trials"))).to_be_visible()
    page.locator(".st-key-transition-open-0 button").click()
    expect(page.get_by_text(re.compile("Paused: .* of 96,000 trials were computed"))).to_be_visible()
    expect(page).to_have_url(re.compile("y-axis=noise"))
    assert visible_table(page) == before
    paused = page.get_by_text(re.compile("Paused: .* of 96,000 trials were computed")).inner_text()
    press(page, "Resume")
    # Once results of the resumed run are drawn, no button moves below the pointer any more.
    wait_until(page, MORE_TRIALS, int(re.search(r"([\d,]+) of", paused)[1].replace(",", "")))
    press(page, "Cancel")
    expect(page.get_by_text(re.compile("Cancelled: .* of 96,000 trials were computed"))).to_be_visible()


@pytest.mark.soak
def test_a_sweep_that_runs_is_followed_again_after_a_reload(page, address):
    opened(page, f"{address}/sweep?p=9&solvers=marginal-mean,sir&x-points=4&trials=4000", "Phase transitions")
    press(page, "Run")
    expect(page.get_by_text(re.compile("of 32,000 trials, about"))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile("of 32,000 trials, about"))).to_be_visible()
    press(page, "Cancel")
    expect(page.get_by_text(re.compile("Cancelled: .* of 32,000 trials were computed"))).to_be_visible()


@pytest.mark.soak
def test_a_map_is_saved_as_a_drawing_and_as_a_page(page, address):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=2", "Phase transitions")
    drawn(page, MAP)
    page.locator(".st-key-transition-table").get_by_text("Table and files").click()
    press(page, "Export")
    for name, begins in (
        ("SVG", b"<svg"), ("PDF", b"%PDF-1."), ("PNG", b"\x89PNG"), ("Figure, HTML", b"<!doctype html>"),
        ("Table, Parquet", b"PAR1"), ("Definition, TOML", b'model = "one-bit-sensing"'),
    ):  # fmt: skip
        assert downloaded(page, page.get_by_role("button", name=name, exact=len(name) == 3)).startswith(begins), name
