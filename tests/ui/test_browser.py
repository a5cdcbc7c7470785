"""What a person does on *converge*, in a real chromium: run, cancel, zoom, reload, look at pictures, type nonsense."""

import re

import pytest
from playwright.sync_api import Page, expect

from lrlab.ui.widgets import plot
from tests.ui.browsing import CURVES, drawn, opened, press, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NEWER = "([figure, before]) => (document.querySelector(figure)?.calcdata?.[0]?.at(-1)?.x ?? 0) > before"
LONG = "tol=0&max_iter=1000000&p=60&solvers=pairwise-moment"


SLOW_DRAWINGS = """() => {
  const [react, began] = [Plotly.react, performance.now()];
  window.drawings = 0;
  window.shareOfDrawings = () => (150 * window.drawings) / (performance.now() - began);
  Plotly.react = (...given) => {
    for (const until = performance.now() + 150; performance.now() < until;);
    window.drawings++;
    return react(...given);
  };
}"""


def newest(page: Page, figure: str = CURVES) -> float:
    """Return the newest iteration that is drawn; 0 before the first."""
    return page.locator(figure).evaluate("node => node.calcdata?.[0]?.at(-1)?.x ?? 0")


def watch(page: Page, figure: str = CURVES) -> float:
    """Wait until a newer iterate is drawn, and return it."""
    before = newest(page, figure)
    wait_until(page, NEWER, [figure, before])
    return newest(page, figure)


def test_a_long_run_is_watched_and_cancelled(page, address):
    opened(page, f"{address}/converge?{LONG}", "Run")
    drawn(page)
    page.locator(CURVES).evaluate("node => { node.mark = 'the same node'; }")
    press(page, "Run")
    watch(page)
    newest_drawn = watch(page)
    expect(page.get_by_text(re.compile("solvers done, at most"))).to_be_visible()
    # As on a slow machine: the points come faster than they are drawn, and it still answers clicks.
    page.evaluate(SLOW_DRAWINGS)
    wait_until(page, "() => window.drawings >= 10")
    assert page.evaluate("window.shareOfDrawings()") < 0.6
    press(page, "Cancel")
    expect(page.get_by_test_id("stTabs").get_by_text("Cancelled: what was computed")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    assert newest(page) >= newest_drawn
    assert page.locator(CURVES).evaluate("node => node.mark") == "the same node"


def test_a_run_continues_where_its_connection_was_lost_and_its_end_is_drawn(page, address):
    # By its time, not by iterations: on a busy machine it would be over too soon or too late.
    opened(page, f"{address}/converge?{LONG}&max_seconds=0.7", "Run")
    drawn(page)
    press(page, "Run")
    before = watch(page)
    page.evaluate("lrlabLive.socket.close()")
    wait_until(page, "() => lrlabLive.socket.readyState === WebSocket.OPEN")
    wait_until(page, NEWER, [CURVES, before])
    expect(page.locator(".lrlab-status").first).to_contain_text("The run is over.")
    iterations = page.locator("dt:text-is('iterations') + dd").first.inner_text()
    wait_until(page, f"() => document.querySelector('{CURVES}').calcdata[0].at(-1).x === {iterations.replace(',', '')}")


@pytest.mark.soak
def test_zoom_and_a_changed_widget_survive_a_run(page, address):
    opened(page, f"{address}/converge?{LONG}", "Run")
    drawn(page)
    press(page, "Run")
    watch(page)
    box = page.locator(f"{CURVES} .nsewdrag").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.7, steps=5)
    page.mouse.up()
    zoomed = page.locator(CURVES).evaluate("node => node.layout.xaxis.range")
    page.get_by_role("spinbutton", name=re.compile("^noise")).fill("0.2")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("noise=0.2"))
    watch(page)
    assert page.locator(CURVES).evaluate("node => node.layout.xaxis.range") == zoomed
    press(page, "Cancel")
    expect(page.get_by_test_id("stTabs").get_by_text("Cancelled: what was computed")).to_be_visible()


def test_a_reload_of_the_address_restores_the_parameters(page, address):
    opened(page, f"{address}/converge", "Run")
    n = page.get_by_role("spinbutton", name=re.compile("^n$"))
    n.fill("4321")
    page.keyboard.press("Enter")
    press(page, "Measure and axes")
    page.get_by_role("radio", name="overlap").click()
    expect(page).to_have_url(re.compile(r"n=4321.*show=overlap|show=overlap.*n=4321"))
    page.reload()
    expect(n).to_have_value("4321")
    drawn(page)
    press(page, "Measure and axes")
    expect(page.get_by_role("radio", name="overlap")).to_be_checked()
    assert "overlap" in page.locator(CURVES).evaluate("node => node.layout.yaxis.title.text")
    # What is the default again leaves the address, also where a part of the page alone is drawn.
    page.get_by_role("radio", name="error").click()
    expect(page).not_to_have_url(re.compile("show="))
    press(page, "Papers", "link")
    expect(page.get_by_role("heading", name="Papers", exact=True)).to_be_visible()
    press(page, "Run", "link")
    expect(n).to_have_value("4321")
    expect(page).to_have_url(re.compile("n=4321"))


def test_settings_that_change_after_a_run_are_marked_and_the_next_run_is_of_them(page, address):
    opened(page, f"{address}/converge?solvers=pairwise-moment", "Run")
    press(page, "Run")
    changed, n = page.locator("mark"), page.get_by_role("spinbutton", name=re.compile("^n$"))
    expect(page.get_by_role("tabpanel").get_by_text("iterations", exact=True)).to_be_visible()

    def set_n(value):
        n.fill(value)
        n.press("Enter")

    set_n("1500")
    expect(changed).to_have_text("changed")
    expect(page).to_have_url(re.compile("n=1500"))
    set_n("3000")
    expect(changed).to_have_count(0)
    expect(page).not_to_have_url(re.compile("n="))
    # What an option put into the address leaves it with its solver.
    page.get_by_text("Link-free refinement", exact=True).click()
    options = page.locator("summary").get_by_text("Options", exact=True).nth(1)
    options.click()
    kept = page.get_by_role("spinbutton", name=re.compile("^kept"))
    kept.fill("3")
    kept.press("Enter")
    expect(page).to_have_url(re.compile("link-free-refinement.kept=3"))
    page.get_by_text("Link-free refinement", exact=True).click()
    expect(page).not_to_have_url(re.compile("kept"))
    expect(changed).to_have_count(0)
    # An error is of the whole page.
    set_n("-3")
    expect(page.get_by_text("n must be a whole number in 2..1000000, got -3: raise n to 2 or more")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    set_n("1400")
    expect(page.get_by_text("n must be")).to_have_count(0)
    press(page, "Run")
    expect(changed).to_have_count(0)
    press(page, "Code", "tab")
    expect(page.get_by_test_id("stCode").get_by_text("1400").first).to_be_visible()


WORDS = """() => {
  window.words = [];
  const look = () => document.querySelectorAll(".lrlab-scrub button").forEach((one) => words.push(one.textContent));
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}"""
"""What buttons of players have said."""
MARKED = """node => {
  const places = (k) => node.calcdata[k].map(({ x }) => x), runs = node.data.filter(({ meta }) => meta === "run");
  const ends = runs.map((run) => places(node.data.indexOf(run)).at(-1));
  return JSON.stringify(ends) === JSON.stringify(places(node.data.length - 1));
}"""
"""Whether the dots of what a player shows stand at the ends of all curves."""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_run_that_was_over_at_once_replays_itself_unless_less_motion_is_wanted(page, address, motion):
    page.emulate_media(reduced_motion=motion)
    # Seconds are rounded in the name of a frame.
    clock = "seconds" if motion == "reduce" else "iteration"
    page.goto(f"{address}/converge?n=1000&solvers=pairwise-moment,marginal-mean&against={clock}&run=1")
    page.evaluate(WORDS)
    bar = page.locator(".lrlab-scrub:not([hidden])")
    slider, play = bar.get_by_role("slider"), bar.get_by_role("button")
    expect(slider).to_be_visible()
    if motion == "no-preference":
        wait_until(page, "() => words.includes('Pause')")
    # It has had the time to begin.
    page.wait_for_timeout(500)
    expect(play).to_have_text("Play")
    expect(slider).to_have_js_property("value", slider.get_attribute("max"))
    assert page.evaluate("words.includes('Pause')") == (motion == "no-preference")
    wait_until(page, f"() => ({MARKED})(document.querySelector('{CURVES}'))")


@pytest.mark.soak
def test_a_handwritten_digit_is_recovered_and_led_through(page, address):
    page.emulate_media(reduced_motion="reduce")
    opened(page, f"{address}/converge?truth=digit-3&p=64&n=6000&solvers=pairwise-moment", "Run")
    figure = ".st-key-converge-picture .lrlab-figure"
    drawn(page, figure)
    press(page, "Run")
    expect(page.get_by_text("Converged: the residual fell").first).to_be_visible()
    slider = page.get_by_role("slider", name="kept iterate")
    expect(slider).to_be_visible()
    last = page.locator(figure).evaluate(LEVELS)
    slider.fill("0")
    expect(page.get_by_text("iteration 1", exact=True)).to_be_visible()
    wait_until(page, f"last => JSON.stringify(({LEVELS})(document.querySelector('{figure}'))) !== last", compact(last))
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    wait_until(page, f"last => JSON.stringify(({LEVELS})(document.querySelector('{figure}'))) === last", compact(last))


LEVELS = "node => Array.from(node.calcdata[1][0].z, row => Array.from(row))"


def compact(levels):
    return str(levels).replace(" ", "")


def test_errors_are_one_sentence_and_input_is_not_lost(page, address, tmp_path):
    opened(page, f"{address}/converge?n=-1&p=64&truth=upload&solvers=pairwise-moment", "Run")
    expect(page.get_by_text("n must be a whole number in 2..1000000, got -1: raise n to 2 or more")).to_be_visible()
    text = tmp_path / "notes.png"
    text.write_text("these are no pixels")
    page.locator("input[type=file]").set_input_files(text)
    sentence = "picture must be a PNG or JPEG, got a file that cannot be read as one"
    expect(page.get_by_text(re.compile(sentence))).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    page.locator("input[type=file]").set_input_files(picture_file(tmp_path))
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    press(page, "Run")
    ended = page.get_by_text(re.compile("chosen, in which the largest eigenvalue"))
    expect(ended).to_be_visible()
    page.locator("input[type=file]").set_input_files(text)
    expect(page.get_by_text(re.compile(sentence))).to_be_visible()
    expect(ended).to_be_visible()
    assert page.get_by_text("Traceback").count() == 0


def picture_file(folder):
    import numpy as np
    from PIL import Image

    path = folder / "cross.png"
    grey = np.zeros((40, 40), dtype=np.uint8)
    grey[15:25, :] = grey[:, 15:25] = 255
    Image.fromarray(grey).save(path)
    return path


def test_a_figure_whose_script_does_not_come_says_so(page, address):
    page.route("**/plot.js*", lambda route: route.abort())
    try:
        opened(page, f"{address}/converge?n=400&p=8", "Run")
        expect(page.get_by_text("Its script did not come. Reload the page.").first).to_be_visible()
    finally:
        page.unroute("**/plot.js*")
    page.reload()
    drawn(page)


def test_successive_input_is_not_lost_on_a_distant_server(page, address, far):
    with page.expect_websocket() as connected:
        opened(page, f"{address}/converge?p=30", "Run")
    drawn(page)
    page.evaluate("window.latency = 800")
    n, noise = (page.get_by_role("spinbutton", name=re.compile(f"^{name}")) for name in ("n$", "noise"))
    # Answered by the server, which the page does not know yet when the next value is typed.
    with connected.value.expect_event("framereceived", lambda frame: b"n=4321" in frame):
        n.fill("4321")
        page.keyboard.press("Enter")
    noise.fill("0.2")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("(?=.*p=30)(?=.*n=4321)(?=.*noise=0.2)"))
    expect(n).to_have_value("4321")
    expect(noise).to_have_value("0.2")
    page.go_back()
    expect(page).to_have_url(re.compile("n=4321$|n=4321&p=30$"))
    expect(noise).to_have_value("0.1")
    expect(n).to_have_value("4321")


UPDATES = """async ([loader, script]) => {
  const drawn = (window.drawn = []);
  const address = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const update = (await import(address(loader.replace("ADDRESS", address(script))))).default;
  const parentElement = document.createElement("div");
  for (const sent of [2, 1, 2, 3]) await update({ parentElement, data: { sent } })?.();
  return drawn;
}"""


def test_older_data_that_come_last_are_not_drawn(page):
    loader = (plot.ASSETS / "loader.js").read_text()
    script = "export default ({ data }) => void window.drawn.push(data.sent)"
    assert page.evaluate(UPDATES, [loader, script]) == [2, 2, 3]
