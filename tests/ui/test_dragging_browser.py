"""Sliders in a real chromium: figures follow while they move, no script runs, and a fresh page shows the same."""

import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import cycle

import pytest
from playwright.sync_api import Locator, Page, TimeoutError, WebSocketRoute, expect

from lrlab import catalog, lessons
from tests.ui.browsing import COUNT_SCRIPTS, CURVES, drawn, idle, opened, press, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SPECTRUM = "spectrum?n=1000&p=20&points=12&trials=2"
ITERATIONS = 20
SMALL = f"p=8&solvers=pairwise-moment&max_iter={ITERATIONS}"
NUMBER = "converge-one-bit-sensing-n-slider"
HISTOGRAM = ".st-key-spectrum-histogram .lrlab-figure"
LESSON, STEP = "degrees-of-freedom", 0
KNOB = 16
"""Width of a slider's knob in pixels: its middle stays inside by half of it."""
CONTENT = """node => JSON.stringify(node._fullData.map(({ name, x, y, z, marker }) =>
  [name, ...[x, y, marker?.size, ...(z ?? [])].map((row) => Array.from(row ?? [], (value) =>
    typeof value === "number" ? Number(value.toPrecision(5)) : value))]))"""
"""All numbers of a figure as a text, to five digits: a page's script sends fewer than the live channel."""
RUN = "node => JSON.stringify(Array.from(node?.calcdata?.[0] ?? [], ({ x, y }) => [x, Number(y?.toPrecision(5))]))"
"""Points of the first run's curve; theory beside it becomes more exact while a page is shown."""
WATCH = """figure => {
  const node = document.querySelector(figure);
  const content = CONTENT;
  window.figures = new Set([content(node)]);
  node.on("plotly_afterplot", () => window.figures.add(content(node)));
  SCRIPTS
}""".replace("CONTENT", CONTENT).replace("SCRIPTS", COUNT_SCRIPTS)


def content(page: Page, figure: str) -> str:
    """Return all numbers of a figure as a text."""
    return page.locator(figure).evaluate(CONTENT)


def shows(page: Page, figure: str, expected: str) -> None:
    """Wait until a figure has these numbers."""
    drawn(page, figure)
    same = f"([figure, expected]) => ({CONTENT})(document.querySelector(figure)) === expected"
    wait_until(page, same, [figure, expected])


def ended(page: Page) -> None:
    expect(page.locator(".lrlab-status").first).to_contain_text("The run is over.")


def runs_as(page: Page, expected: str, seconds: float = 60.0) -> None:
    """Wait until the first run's curve has these points."""
    same = f"([figure, expected]) => ({RUN})(document.querySelector(figure)) === expected"
    page.wait_for_function(same, arg=[CURVES, expected], polling=50, timeout=1e3 * seconds)


def slider(page: Page, key: str) -> Locator:
    # Its script gives it its positions, which come after it on a machine that is busy.
    found = page.locator(f".st-key-{key} input[type=range][max]")
    found.scroll_into_view_if_needed()
    return found


def watched(page: Page, key: str, figure: str) -> Locator:
    """Return a slider, and count from now on how many different figures are drawn, and how often a script runs."""
    idle(page)
    page.evaluate(WATCH, figure)
    return slider(page, key)


def grip(page: Page, moved: Locator) -> Callable[[int], None]:
    """Press the mouse on the knob of a slider; return what moves it to a position."""
    box, last = moved.bounding_box(), int(moved.get_attribute("max"))

    def move(position: int) -> None:
        across = KNOB / 2 + (box["width"] - KNOB) * position / last
        page.mouse.move(box["x"] + across, box["y"] + box["height"] / 2)

    move(int(moved.input_value()))
    page.mouse.down()
    return move


def drag(page: Page, key: str, figure: str, positions: list[int]) -> str:
    """SliderPreview a slider over positions, at each until the figure follows; return its numbers before it is let go.

    At least eight figures are different, and no script of the page runs.
    """
    moved = watched(page, key, figure)
    move = grip(page, moved)
    for number, position in enumerate(positions, 2):
        move(position)
        wait_until(page, "number => figures.size >= number", number)
    assert page.evaluate("figures.size") >= 8 and page.evaluate("scripts") == 0
    assert int(moved.input_value()) == positions[-1]
    return content(page, figure)


def test_positions_of_a_slider_wait_for_answers_and_the_last_one_is_sent(tab, address):
    sent, silent = list[str](), list[bool]()

    def connected(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        socket.on_message(lambda frame: (sent.append(frame), server.send(frame)))
        server.on_message(lambda frame: None if silent else socket.send(frame))

    # A tab of its own: what is between a page and its server stays there.
    page = tab.context.browser.new_page()
    page.route_web_socket(re.compile("/live/"), connected)
    opened(page, f"{address}/converge?{SMALL}", "Run")
    moved = slider(page, NUMBER)
    idle(page)
    last = int(moved.get_attribute("max"))
    silent.append(True)
    # One position a picture, of which a second has sixty.
    milliseconds = moved.evaluate("""async node => {
      const began = performance.now();
      for (let position = 0; position <= Number(node.max); position++) {
        node.value = position;
        node.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise(requestAnimationFrame);
      }
      return performance.now() - began;
    }""")
    positions = lambda: [json.loads(frame)["value"] for frame in sent if frame.startswith('{"drag"')]  # noqa: E731
    until = time.monotonic() + 20
    while positions()[-1:] != [last]:
        assert time.monotonic() < until, positions()
        page.wait_for_timeout(20)
    # Without an answer the next one is sent after a tenth of a second.
    assert len(positions()) <= milliseconds / 100 + 2
    page.close()


def test_a_lesson_follows_its_slider(page, address):
    lesson = lessons.load(LESSON)
    shown, key = lesson.steps[STEP].figure, f"learn-{LESSON}-{STEP}"
    figure, words = f".st-key-{key}-figure .lrlab-figure", page.locator(f"[data-live='learn.{LESSON}.{STEP}.words']")
    url = f"{address}/learn?lesson={LESSON}&step={STEP + 1}&answer=1"
    opened(page, url, lesson.title)
    drawn(page, figure)
    idle(page)
    beginning = int(slider(page, f"{key}-slider").input_value())
    passed = [k for k in range(len(shown.slider.values)) if k != beginning]
    sentence = shown.module.sentence(shown, shown.slider.values[passed[-1]])
    before = drag(page, f"{key}-slider", figure, passed)
    expect(words).to_have_text(sentence)
    page.mouse.up()
    # Then the script of the page has drawn it.
    expect(page.locator(f".st-key-{key}-figure .lrlab-plot")).to_have_attribute("aria-label", sentence)
    assert content(page, figure) == before
    expect(slider(page, f"{key}-slider")).to_be_focused()
    opened(page, url, lesson.title)
    drawn(page, figure)
    assert content(page, figure) != before
    slider(page, f"{key}-slider").fill(str(passed[-1]))
    expect(words).to_have_text(sentence)
    shows(page, figure, before)


def test_all_eigenvalues_follow_the_slider_along_the_axis(page, address):
    opened(page, f"{address}/{SPECTRUM}", "Eigengaps")
    drawn(page, HISTOGRAM)
    start = int(slider(page, "spectrum-at").input_value())
    before = drag(page, "spectrum-at", HISTOGRAM, [k for k in range(12) if k != start])
    words = page.locator("[data-live='spectrum.histogram.words']").inner_text()
    page.mouse.up()
    opened(page, f"{address}/{SPECTRUM}", "Eigengaps")
    drawn(page, HISTOGRAM)
    slider(page, "spectrum-at").fill("11")
    expect(page.locator("[data-live='spectrum.histogram.words']")).to_have_text(words)
    shows(page, HISTOGRAM, before)


@pytest.mark.parametrize("name", ["histogram", "values"])
@pytest.mark.soak
def test_a_spectrum_follows_a_slider_of_its_problem_and_is_run_when_it_rests(page, address, name):
    figure, key = f".st-key-spectrum-{name} .lrlab-figure", "spectrum-one-bit-sensing-n-slider"
    opened(page, f"{address}/{SPECTRUM}", "Eigengaps")
    drawn(page, figure)
    start = int(slider(page, key).input_value())
    before = drag(page, key, figure, list(range(start + 3, start + 28, 3)))
    page.mouse.up()
    expect(page).not_to_have_url(re.compile("n=1000&"))
    ended(page)
    if name == "histogram":
        shows(page, figure, before)
        opened(page, page.url, "Eigengaps")
        drawn(page, figure)
        shows(page, figure, before)


def test_a_problem_follows_its_slider_and_ends_as_a_fresh_run(page, address):
    values = catalog.positions("one-bit-sensing", "n")
    target = values.index(3000) + 7
    url = f"{address}/converge?{SMALL}"
    opened(page, f"{url}&n={values[target]}", "Run")
    press(page, "Run")
    ended(page)
    drawn(page)
    # The status may say that the run is over before its last points are drawn.
    wait_until(page, f"figure => ({RUN})(document.querySelector(figure)).includes('[{ITERATIONS},')", CURVES)
    fresh = page.locator(CURVES).evaluate(RUN)
    # Else the run of the tab that is left would be taken over.
    page.context.clear_cookies()
    opened(page, url, "Run")
    drawn(page)
    moved = watched(page, NUMBER, CURVES)
    move = grip(page, moved)
    for position in cycle((*range(target - 7, target + 7), *range(target + 7, target - 7, -1))):
        move(position)
        if page.evaluate("new Promise(requestAnimationFrame).then(() => figures.size)") >= 8:
            break
    # Where a machine is busy, the run of a position may not be over while theory is shown: it is tried again.
    for _ in range(20):
        move(target + 1)
        move(target)
        with suppress(TimeoutError):
            runs_as(page, fresh, 2.0)
            break
    runs_as(page, fresh, 2.0)
    assert page.evaluate("scripts") == 0
    page.mouse.up()
    expect(page).to_have_url(re.compile(f"n={values[target]}(&|$)"))
    ended(page)
    idle(page)
    runs_as(page, fresh)


@pytest.mark.soak
def test_arrow_keys_move_a_slider_as_the_mouse_does(page, address):
    opened(page, f"{address}/converge?{SMALL}", "Run")
    drawn(page)
    moved = watched(page, NUMBER, CURVES)
    moved.focus()
    for number in range(2, 10):
        page.keyboard.press("ArrowRight")
        wait_until(page, "number => figures.size >= number", number)
    last = moved.get_attribute("aria-valuetext")
    expect(page.get_by_role("spinbutton", name="n", exact=True)).to_have_value(last)
    expect(page).to_have_url(re.compile(f"n={last}(&|$)"))
    ended(page)
    expect(moved).to_be_focused()


def test_a_slow_solver_is_back_where_the_slider_is_released_at_its_start(page, address):
    slow = "Link-free refinement"
    opened(page, f"{address}/converge?n=7300&p=100&solvers=pairwise-moment,link-free-refinement&run=1", "Run")
    ended(page)
    drawn(page)
    names = "figure => (document.querySelector(figure)._fullData ?? []).map((one) => one.name).join()"
    number = page.get_by_role("spinbutton", name="n", exact=True)
    move = grip(page, watched(page, NUMBER, CURVES))
    start = catalog.positions("one-bit-sensing", "n").index(7300)
    for position in range(start - 1, start - 6, -1):
        move(position)
    expect(number).to_have_value(str(catalog.positions("one-bit-sensing", "n")[start - 5]))
    wait_until(page, f"figure => ({names})(figure).includes('{slow} (after release)')", CURVES)
    move(start)
    page.mouse.up()
    shown = f"({names})(figure)"
    wait_until(page, f"figure => {shown}.includes('{slow}') && !{shown}.includes('after release')", CURVES)
    ended(page)
    assert slow in page.evaluate(names, CURVES)
    expect(number).to_have_value("7300")


def test_the_name_of_a_frame_is_read_beside_its_own_points(page, address):
    opened(page, f"{address}/converge?n=400&p=8&solvers=pairwise-moment&max_iter=20&run=1", "Run")
    ended(page)
    figure = ".st-key-converge-estimate .lrlab-figure"
    drawn(page, figure)
    shown = page.locator(".st-key-converge-estimate .lrlab-scrub output")
    expect(shown).to_have_text(re.compile("iteration [0-9]+"))
    wait_until(page, "figure => document.querySelector(figure).lrlab.timer === null", figure)
    last = shown.text_content()
    # A busy machine draws late.
    page.evaluate("""() => {
      const draw = Plotly.react;
      Plotly.react = async (...given) => { await new Promise((go) => setTimeout(go, 1500)); return draw(...given); };
    }""")
    before = content(page, figure)
    page.locator(".st-key-converge-estimate .lrlab-scrub input").fill("0")
    page.wait_for_timeout(300)
    assert (shown.text_content(), content(page, figure)) == (last, before)
    expect(shown).to_have_text("iteration 1")
    assert content(page, figure) != before


def test_a_slider_released_where_its_drag_began_draws_the_stored_run_again(page, address):
    # A run that was cancelled: a new one of the same settings would go on.
    opened(page, f"{address}/converge?p=60&n=3000&solvers=pairwise-moment&tol=0&max_iter=1000000", "Run")
    press(page, "Run")
    wait_until(page, f"() => document.querySelector('{CURVES}')?.calcdata?.[0]?.length > 5")
    press(page, "Cancel")
    ended(page)
    idle(page)
    stored = page.locator(CURVES).evaluate(RUN)
    moved = watched(page, NUMBER, CURVES)
    start = int(moved.input_value())
    move = grip(page, moved)
    move(start - 4)
    wait_until(page, "() => figures.size >= 2")
    move(start)
    page.mouse.up()
    wait_until(page, "() => scripts > 0")
    runs_as(page, stored)
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    assert moved.input_value() == str(start)
