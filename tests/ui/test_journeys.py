"""Journeys of users through the lab, in a real chromium."""

import re
import struct
from contextlib import suppress
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, TimeoutError, expect

from lrlab import catalog, lessons
from lrlab.data.label_task import load_model
from lrlab.models.axes import positions
from lrlab.protocol import Stop
from lrlab.ui.widgets import plot
from tests.ui.browsing import (
    COUNT_SCRIPTS,
    CURVES,
    FOCUSED,
    MAP,
    before_scripts,
    downloaded,
    drawn,
    grip,
    heading,
    idle,
    number,
    opened,
    over,
    press,
    slider,
    tab_to,
    visit,
    wait_until,
)  # fmt: skip
from tests.ui.live.test_routes import expanded, size_of
from tests.ui.test_accessibility import check_findings, check_names
from tests.ui.test_own_data_page import LABELS
from tests.waiting import PATIENCE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WITHOUT_THEORY = "design=student"
"""Pages that show theory compute it for seconds on all workers, for sizes that are not shipped."""
LONG = f"tol=0&max_iter=1000000&max_seconds=600&p=60&solvers=pairwise-moment&{WITHOUT_THEORY}"
NEWER = "([figure, before]) => (document.querySelector(figure)?.calcdata?.[0]?.at(-1)?.x ?? 0) > before"
NEWEST = "node => node.calcdata?.[0]?.at(-1)?.x ?? 0"
WHOLE = """(figure) => {
  const card = [...document.querySelectorAll("dt")].find(({ textContent }) => textContent === "iterations");
  const iterations = Number(card?.nextElementSibling.textContent.replaceAll(",", ""));
  return document.querySelector(figure)?.calcdata?.[0]?.at(-1)?.x === iterations;
}"""
SLOW_DRAWINGS = """() => {
  const [react, began] = [Plotly.react, performance.now()];
  window.drawings = 0;
  window.fractionOfDrawings = () => (150 * window.drawings) / (performance.now() - began);
  Plotly.react = (...given) => {
    for (const until = performance.now() + 150; performance.now() < until;);
    window.drawings++;
    return react(...given);
  };
}"""


def watch(page: Page) -> float:
    """Wait until the figure shows a newer iterate, and return its iteration."""
    before = page.locator(CURVES).evaluate(NEWEST)
    wait_until(page, NEWER, [CURVES, before])
    return page.locator(CURVES).evaluate(NEWEST)


def whole(page: Page) -> None:
    """Wait until the figure has as many iterates of the first run as its card: the status may come before both."""
    wait_until(page, WHOLE, CURVES)


def test_a_long_run_is_watched_through_a_reload_and_a_lost_connection_and_cancelled(page, address):
    opened(page, f"{address}/converge?{LONG}", "Run")
    drawn(page)
    press(page, "Run")
    watch(page)
    # The run goes on meanwhile.
    page.reload()
    drawn(page)
    watch(page)
    page.locator(CURVES).evaluate("node => { node.mark = 'the same node'; }")
    expect(page.get_by_text(re.compile("solvers? done, at most"))).to_be_visible()
    page.evaluate("lrlabLive.socket.close()")
    wait_until(page, "() => lrlabLive.socket.readyState === WebSocket.OPEN")
    newest = watch(page)
    # As on a slow machine: points come faster than the browser draws them, and it still answers clicks.
    page.evaluate(SLOW_DRAWINGS)
    wait_until(page, "() => window.drawings >= 6")
    assert page.evaluate("window.fractionOfDrawings()") < 0.6
    press(page, "Cancel")
    expect(page.get_by_test_id("stTabs").get_by_text(Stop.CANCELLED.value)).to_be_visible()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    assert page.locator(CURVES).evaluate(NEWEST) >= newest
    assert page.locator(CURVES).evaluate("node => node.mark") == "the same node"
    whole(page)


SMALL = f"converge?p=8&solvers=pairwise-moment&{WITHOUT_THEORY}"
LEAVE = """url => {
  history.pushState(null, "", url);
  dispatchEvent(new PopStateEvent("popstate"));
  lrlabLive.over("a stream", "converge", performance.now() + 15000);
}"""


def enter(page: Page, name: str, value: str) -> None:
    """Type a value and wait until the address has it."""
    number(page, name).fill(value)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{name.rstrip('$')}={value}"))
    idle(page)


def test_values_survive_back_links_reloads_and_clicks_that_come_close_together(page, address):
    opened(page, f"{address}/{SMALL}", "Run")
    drawn(page)
    n = number(page, "n$")
    enter(page, "n$", "500")
    enter(page, "n$", "600")
    page.go_back()
    expect(n).to_have_value("500")
    idle(page)
    page.go_forward()
    expect(n).to_have_value("600")
    idle(page)
    # A link that is clicked just after typing.
    n.fill("888")
    page.get_by_role("link", name="Learn", exact=True).click()
    heading(page, "Learn")
    press(page, "Run", "link")
    expect(page).to_have_url(re.compile("n=888"))
    idle(page)
    page.reload()
    expect(n).to_have_value("888")
    drawn(page)
    idle(page)
    # The link has left no address without values in the history.
    page.evaluate("history.back()")
    heading(page, "Learn")
    page.evaluate("history.forward()")
    expect(n).to_have_value("888")
    drawn(page)
    idle(page)
    # Run, clicked just after typing.
    n.fill("777")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("tabpanel").get_by_text("iterations", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("n=777"))
    changed = page.locator("mark")
    expect(changed).to_have_count(0)
    enter(page, "n$", "1500")
    expect(changed).to_have_text("changed")
    enter(page, "n$", "777")
    expect(changed).to_have_count(0)
    # An option leaves the address together with its solver.
    page.get_by_text("Link-free refinement", exact=True).click()
    page.locator("summary").get_by_text("Options", exact=True).nth(1).click()
    enter(page, "kept", "3")
    page.get_by_text("Link-free refinement", exact=True).click()
    expect(page).not_to_have_url(re.compile("kept"))
    expect(changed).to_have_count(0)
    idle(page)
    # Back and Run at once.
    enter(page, "n$", "900")
    page.evaluate("history.back()")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("tabpanel").get_by_text("iterations", exact=True)).to_be_visible()
    idle(page)
    # Whichever came first, the address and the box agree.
    wait_until(page, "box => new URLSearchParams(location.search).get('n') === box.value", n.element_handle())
    # A run that ends while the user leaves its page does not bring the page back.
    page.evaluate(LEAVE, "/learn")
    heading(page, "Learn")
    page.wait_for_timeout(1000)
    heading(page, "Learn")


WORDS = """{
  window.words = [];
  const look = () => document.querySelectorAll(".lrlab-scrub button").forEach((one) => words.push(one.textContent));
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
}"""
"""Records the labels that the buttons of players ever had."""


def test_the_iterates_of_a_run_wait_at_the_last_one_and_play_when_asked(page, address):
    with before_scripts(page, WORDS):
        page.goto(f"{address}/converge?n=200&p=8&max_iter=10&solvers=pairwise-moment&{WITHOUT_THEORY}&run=1")
    bar = page.locator(".lrlab-scrub:not([hidden])")
    position, play = bar.get_by_role("slider"), bar.get_by_role("button")
    expect(position).to_have_js_property("value", position.get_attribute("max"))
    assert not page.evaluate("words.includes('Pause')")
    play.click()
    expect(play).to_have_text("Play")
    expect(position).to_have_js_property("value", position.get_attribute("max"))
    assert page.evaluate("words.includes('Pause')")


@pytest.mark.soak
def test_a_figure_whose_script_does_not_come_says_so(page, address):
    page.route("**/plot.js*", lambda route: route.abort())
    try:
        opened(page, f"{address}/converge?n=400&p=8", "Run")
        expect(page.get_by_text("Its script did not come. Reload the page.").first).to_be_visible()
    finally:
        page.unroute("**/plot.js*")
    page.reload()
    drawn(page)


UPDATES = """async ([loader, script]) => {
  const drawn = (window.drawn = []);
  const address = (text) => URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  const update = (await import(address(loader.replace("ADDRESS", address(script))))).default;
  const parentElement = document.createElement("div");
  for (const sent of [2, 1, 2, 3]) await update({ parentElement, data: { sent } })?.();
  return drawn;
}"""


def test_a_figure_ignores_data_that_come_late(page, address):
    # A short text of the server: the app need not be loaded.
    page.goto(f"{address}/_stcore/health")
    loader = (plot.ASSETS / "loader.js").read_text()
    script = "export default ({ data }) => void window.drawn.push(data.sent)"
    assert page.evaluate(UPDATES, [loader, script]) == [2, 2, 3]


SLIDER = "converge-one-bit-sensing-n-slider"
CONTENT = """node => JSON.stringify(node._fullData.map(({ name, x, y, z, marker }) =>
  [name, ...[x, y, marker?.size, ...(z ?? [])].map((row) => Array.from(row ?? [], (value) =>
    typeof value === "number" ? Number(value.toPrecision(5)) : value))]))"""
"""All numbers of a figure as text, to five digits: a script of the page sends fewer digits than the live channel."""
RUN = "node => JSON.stringify(Array.from(node?.calcdata?.[0] ?? [], ({ x, y }) => [x, Number(y?.toPrecision(5))]))"
"""Points of the first run's curve; the predictions become more exact while the page is open."""
CURVE_NAMES = "node => (node._fullData ?? []).map((one) => one.name).join()"
WATCH = """figure => {
  const node = document.querySelector(figure);
  const content = CONTENT;
  window.figures = new Set([content(node)]);
  node.on("plotly_afterplot", () => window.figures.add(content(node)));
  SCRIPTS
}""".replace("CONTENT", CONTENT).replace("SCRIPTS", COUNT_SCRIPTS)


def runs_as(page: Page, expected: str, seconds: float = PATIENCE) -> None:
    """Wait until the first run's curve has these points."""
    same = f"([figure, expected]) => ({RUN})(document.querySelector(figure)) === expected"
    page.wait_for_function(same, arg=[CURVES, expected], polling=50, timeout=1e3 * seconds)


def watched(page: Page, key: str, figure: str):
    """Return a slider, and count from now on the different figures and the scripts of the page."""
    idle(page)
    page.evaluate(WATCH, figure)
    return slider(page, key)


def test_a_problem_follows_its_slider_back_to_the_stored_run_and_on_to_that_of_a_fresh_page(page, address):
    values = positions(catalog.model_entry("one-bit-sensing"), "n")
    start, target = values.index(7300), values.index(7300) - 5
    # A run of the first one takes .02 to .06 s, of the second one .2 to .5 s; up to .1 s is quick.
    slow, solvers = "Link-free refinement", "solvers=pairwise-moment,link-free-refinement"
    url, runs = f"{address}/converge?p=100&max_iter=20&{solvers}&{WITHOUT_THEORY}&run=1", []
    for position in (target, start):
        # Without the cookie the server does not hand over the run of the tab before.
        page.context.clear_cookies()
        opened(page, f"{url}&n={values[position]}", "Run")
        over(page)
        whole(page)
        runs.append(page.locator(CURVES).evaluate(RUN))
    fresh, stored = runs
    names = f"({CURVE_NAMES})(document.querySelector('{CURVES}'))"
    move = grip(page, watched(page, SLIDER, CURVES))
    for position in cycle((*range(target - 7, target + 7), *range(target + 7, target - 7, -1))):
        move(position)
        if page.evaluate("new Promise(requestAnimationFrame).then(() => figures.size)") >= 8:
            break
    # On a busy machine theory may come before the run of a position is over: try that position again.
    for seconds in (2.0, 2.0, 4.0, 8.0, 16.0, 32.0):
        move(target + 1)
        move(target)
        with suppress(TimeoutError):
            runs_as(page, fresh, seconds)
            break
    runs_as(page, fresh)
    expect(number(page, "n$")).to_have_value(str(values[target]))
    wait_until(page, f"() => {names}.includes('{slow} (after release)')")
    assert page.evaluate("scripts") == 0
    move(start)
    page.mouse.up()
    wait_until(page, f"() => {names}.includes('{slow}') && !{names}.includes('after release')")
    over(page)
    runs_as(page, stored)
    expect(number(page, "n$")).to_have_value("7300")
    move = grip(page, slider(page, SLIDER))
    move(target)
    page.mouse.up()
    expect(page).to_have_url(re.compile(f"n={values[target]}(&|$)"))
    over(page)
    runs_as(page, fresh)


@pytest.mark.soak
def test_the_name_of_an_iterate_stands_beside_its_own_points(page, address):
    opened(page, f"{address}/converge?n=400&p=8&solvers=pairwise-moment&max_iter=20&run=1", "Run")
    over(page)
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
    before = page.locator(figure).evaluate(CONTENT)
    page.locator(".st-key-converge-estimate .lrlab-scrub input").fill("0")
    page.wait_for_timeout(300)
    assert (shown.text_content(), page.locator(figure).evaluate(CONTENT)) == (last, before)
    expect(shown).to_have_text("iteration 1")
    assert page.locator(figure).evaluate(CONTENT) != before


SMALL_MAP = "crosshair=false&theory=false&model=one-bit-sensing&p=6&x-points=2&y-points=2&y-from=20&y-to=80"


def measured(page: Page) -> None:
    """Wait until the lower left grid point has a value: only then can a click open its trial."""
    drawn(page, MAP)
    wait_until(page, "map => Number.isFinite(document.querySelector(map)?.calcdata?.[0]?.[0]?.z?.[0]?.[0])", MAP)


BELOW = """map => {
  const { lrlab, data, calcdata: [[{ x, y }]] } = document.querySelector(map);
  const inside = (edges, part) => edges.slice(1).map((edge, k) => edges[k] + part * (edge - edges[k]));
  return [0.1, 0.9].every((part) => inside(y, part).every((up, j) => inside(x, part).every((across, i) =>
    lrlab.pointBelow({ x: across, y: up, data: {} }) === data[0].customdata[j][i])));
}"""
"""Whether a click on a line over the diagram means the grid point that it lies in, near all edges."""


def test_a_click_on_the_diagram_opens_that_trial_and_back_leads_to_the_diagram(page, address):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=2", "Phase transitions")
    drawn(page, MAP)
    page.locator(MAP).evaluate("node => { node.mark = 'the same node'; }")
    press(page, "Run")
    measured(page)
    assert page.locator(MAP).evaluate("node => node.mark") == "the same node"
    assert page.evaluate(BELOW, MAP)
    over(page)
    # A click may fall between two events of a drawing.
    wait_until(page, "map => !document.querySelector(map).lrlab.drawing", MAP)
    before, box = page.url, page.locator(f"{MAP} .nsewdrag").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.75)
    heading(page, "Run")
    expect(page).to_have_url(re.compile("seed=[1-9]"))
    expect(page.get_by_text(Stop.CONVERGED.value).first).to_be_visible()
    expect(number(page, "n$")).to_have_value("120")
    idle(page)
    page.go_back()
    heading(page, "Phase transitions")
    expect(page).to_have_url(before)


WATCH_MAP = """map => {
  window.updates = 0;
  addEventListener("lrlab-live", ({ detail }) => (window.updates += detail.includes(map)));
  SCRIPTS
}""".replace("SCRIPTS", COUNT_SCRIPTS)
RANGES = "map => ['xaxis', 'yaxis'].flatMap(axis => document.querySelector(map).layout[axis].range)"
TRIALS = r"""map => document.querySelector(map).data[0].text.flat().reduce(
  (sum, words) => sum + Number(/(\d+) trials?/.exec(words)?.[1] ?? 0), 0)"""


def test_a_diagram_grows_in_its_zoom_while_no_script_runs(page, address):
    # So many trials that they do not end before the test cancels them.
    axes = "x-points=20&y-points=20&y-from=20&trials=200"
    opened(
        page, f"{address}/transition?crosshair=false&model=one-bit-sensing&p=9&adaptive=false&{axes}",
        "Phase transitions",
    )  # fmt: skip
    drawn(page, MAP)
    press(page, "Run")
    measured(page)
    idle(page)
    box = page.locator(f"{MAP} .nsewdrag").first.bounding_box()
    first, last = [(box["x"] + box["width"] * at, box["y"] + box["height"] * at) for at in (0.2, 0.7)]
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*last, steps=4)
    page.mouse.up()
    zoom, trials = page.evaluate(RANGES, MAP), page.evaluate(TRIALS, MAP)
    page.evaluate(WATCH_MAP, "transition.map")
    wait_until(page, "() => window.updates > 7")
    assert not page.evaluate("window.scripts") and page.evaluate(RANGES, MAP) == zoom
    assert page.evaluate(TRIALS, MAP) > trials > 0
    press(page, "Cancel")
    cancelled = re.compile("^Cancelled: .* of 80,000 trials were computed")
    expect(page.get_by_role("paragraph").filter(has_text=cancelled)).to_be_visible()
    assert page.evaluate("window.scripts") and page.evaluate(RANGES, MAP) == zoom


_TOUR, FIRST, *_, _LAST = lessons.lessons()


def move_by_key(page: Page, start: object) -> None:
    """Move the slider of a lesson by a step once it stands at its start; the figure follows."""
    moved, figure = page.get_by_role("slider"), page.locator(".stMain .lrlab-plot")
    text = f"{start:,}" if isinstance(start, int) else str(start)
    expect(moved).to_have_attribute("aria-valuetext", text)
    wait_until(page, "() => !document.querySelector('.lrlab-slider').moving")
    idle(page)
    shown = figure.get_attribute("aria-label")
    moved.focus()
    page.keyboard.press("ArrowRight" if moved.input_value() == "0" else "ArrowLeft")
    expect(moved).not_to_have_attribute("aria-valuetext", text)
    expect(figure).not_to_have_attribute("aria-label", shown)


def test_a_lesson_is_gone_through_by_keyboard_and_a_reload_keeps_its_step(page, address):
    lesson = lessons.load(FIRST)
    opened(page, f"{address}/learn", "Learn")
    idle(page)
    tab_to(page, f"open-lesson-{FIRST}")
    page.keyboard.press("Enter")
    heading(page, lesson.title)
    for step, parts in enumerate(lesson.steps, 1):
        heading(page, parts.title)
        if parts.equation:
            expect(page.locator(".katex-display").first).to_be_visible()
        if parts.question:
            expect(page.get_by_text("Predict first")).to_be_visible()
            idle(page)
            # The focus is on Next of the step before, so the choices are nearer backwards.
            tab_to(page, "learn-choice-0", "Tab" if step == 1 else "Shift+Tab")
            page.keyboard.press("Enter")
            expect(page.get_by_text("Predict first")).to_be_hidden()
            if step == 2:
                said = parts.filled(parts.question.choices[0].why).partition("$")[0]
                expect(page.get_by_role("status").filter(has_text=said)).to_have_count(1)
                assert page.evaluate(FOCUSED) == "learn-choice-0"
        drawn(page, ".lrlab-figure")
        if step == 1:
            move_by_key(page, parts.start)
        if step == 2:
            page.reload()
            expect(page).to_have_url(re.compile("answer=1.*step=2|step=2.*answer=1"))
            drawn(page, ".lrlab-figure")
        idle(page)
        tab_to(page, "learn-next")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"step={step + 1}"))
    heading(page, "What to take away")
    idle(page)
    tab_to(page, "learn-all")
    page.keyboard.press("Enter")
    heading(page, "Learn")


@pytest.mark.soak
def test_back_leads_through_the_steps_of_a_lesson_opened_before_the_live_channel(tab, address):
    page, held = tab.context.browser.new_page(), []
    # A lambda: playwright sets attributes on the handler, which a method of a list refuses.
    page.route(re.compile(r"/live\.js"), lambda route: held.append(route))
    lesson = lessons.load(FIRST)
    first, second = (step.title for step in lesson.steps[:2])
    opened(page, f"{address}/learn", "Learn")
    press(page, lesson.title)
    heading(page, first)
    for route in held:
        route.continue_()
    wait_until(page, "() => window.lrlabLive?.page")
    press(page, "Next")
    heading(page, second)
    expect(page).to_have_url(re.compile("step=2"))
    for go, title in (
        (page.go_back, first),
        (page.go_back, "Learn"),
        (page.go_forward, first),
        (page.go_back, "Learn"),
    ):
        idle(page)
        go()
        heading(page, title)
    page.close()


def test_files_are_uploaded_fitted_and_downloaded_and_a_wrong_one_loses_nothing(page, address, tmp_path):
    opened(page, f"{address}/own_data?labels=l1,l2", "Your data")
    # Streamlit forgets the target of an upload while a script begins.
    idle(page)
    labels = {"name": "moods.csv", "mimeType": "text/csv", "buffer": LABELS.encode()}
    page.locator(".st-key-own_data-file input[type=file]").set_input_files(labels)
    expect(page.get_by_text(re.compile("moods.csv: 300 rows, 4 features, 2 labels"))).to_be_visible()
    press(page, "Run")
    over(page)
    (tmp_path / "model.npz").write_bytes(downloaded(page, page.get_by_role("button", name="Model (.npz)")))
    assert load_model(tmp_path / "model.npz").columns.names == ("l1", "l2")
    text, picture = tmp_path / "notes.png", tmp_path / "cross.png"
    text.write_text("these are no pixels")
    gray = np.zeros((40, 40), dtype=np.uint8)
    gray[15:25, :] = gray[:, 15:25] = 255
    Image.fromarray(gray).save(picture)
    visit(page, f"{address}/converge?p=64&truth=upload&solvers=pairwise-moment", "Run")
    upload, run = page.locator("input[type=file]"), page.get_by_role("button", name="Run", exact=True)
    upload.set_input_files(picture)
    expect(run).to_be_enabled()
    press(page, "Run")
    ended = page.get_by_text(re.compile("chosen: its largest eigenvalue"))
    expect(ended).to_be_visible()
    upload.set_input_files(text)
    wrong = page.get_by_text(re.compile("picture must be a PNG or JPEG, got a file that cannot be read as one"))
    expect(wrong).to_be_visible()
    expect(run).to_be_disabled()
    expect(ended).to_be_visible()
    assert page.get_by_text("Traceback").count() == 0


def test_every_page_fits_a_phone_and_its_figures_and_sliders_have_room(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, address, "lrlab")
    for path, title in (
        ("", "lrlab"),
        ("learn?lesson=one-bit", "Why one bit is enough"),
        ("spectrum", "Eigengaps"),
        ("transition", "Phase transitions"),
        ("own_data", "Your data"),
        ("own_data?measurements=labels&run=1", "Your data"),
        ("converge?model=phase-retrieval&p=16&m=100&solvers=gauss-newton&run=1", "Run"),
    ):
        visit(page, f"{address}/{path}", title)
        if path not in ("", "own_data"):
            expect(page.locator(".lrlab-figure .plot-container").first).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("node => node.scrollWidth <= node.clientWidth"), path
    expect(page.locator(".lr-run")).to_be_visible()
    expect(page.locator(".stMain .lrlab-figure .plot-container").nth(2)).to_be_visible()
    expect(page.get_by_role("slider", name="iterate shown")).to_be_visible()
    for selector, least in ((".lrlab-figure:visible", 280), ("input[type=range]:visible, [role=slider]:visible", 60)):
        for box in (shape.bounding_box() for shape in page.locator(f".stMain {selector}").all()):
            assert box["width"] >= least and box["x"] + box["width"] <= 390, (selector, box)
    # Nothing lies over what closes the drawer.
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    expect(page.locator(".st-key-share")).to_be_visible()
    # Of the closed drawer the first slider stays, above the links to pages.
    row, links = page.locator("[class*=slider-row]").first, page.locator(".st-key-pages")
    expect(row.get_by_role("slider")).to_be_visible()
    assert row.bounding_box()["y"] + row.bounding_box()["height"] <= links.bounding_box()["y"] + 2
    assert links.bounding_box()["y"] + links.bounding_box()["height"] == 844
    links.get_by_role("link", name="Eigengaps").click()
    heading(page, "Eigengaps")


def test_a_figure_stands_right_below_the_title(page, address):
    page.set_viewport_size({"width": 1440, "height": 900})
    opened(page, f"{address}/converge", "Run")
    for path, title in (("converge", "Run"), ("transition", "Phase transitions"), ("spectrum", "Eigengaps")):
        visit(page, f"{address}/{path}", title)
        drawn(page, ".lrlab-figure")
        top = page.get_by_role("heading", name=title, exact=True).bounding_box()
        assert page.locator(".lrlab-figure").first.bounding_box()["y"] - top["y"] - top["height"] <= 60, path
    visit(page, f"{address}/converge", "Run")
    over(page)
    expect(page.locator(".lrlab-figure .xtitle").nth(1)).to_be_visible()
    tops = "[...document.querySelectorAll('.lrlab-figure .xtitle')].map((node) => node.getBoundingClientRect().top)"
    # While it waits, a figure may be drawn again.
    wait_until(page, f"() => {{ const [error, recovered] = {tops}; return Math.abs(error - recovered) < 2; }}")


def test_the_atlas_of_the_home_page_follows_keys_and_pointer_and_opens_its_point(page, address):
    opened(page, f"{address}/", "lrlab")
    atlas = page.locator(".lrlab-atlas")
    words, diagram = atlas.locator(".lrlab-atlas-words"), atlas.locator(".lrlab-atlas-map")
    expect(words).to_contain_text(re.compile(r"bits, 15 of 200 entries.*GAMP finds \d+ of 15 positions, error"))
    before = words.inner_text()
    diagram.focus()
    page.keyboard.press("ArrowRight")
    expect(words).not_to_have_text(before)
    box = diagram.bounding_box()
    page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 0.7 * box["height"])
    expect(words).to_contain_text("; 20 of 20 other trials find all")
    # A replay ends if another solver is chosen meanwhile.
    atlas.get_by_role("button", name="Replay").click()
    atlas.get_by_role("button", name="NBIHT").click()
    page.wait_for_timeout(400)
    expect(atlas.locator("output")).to_have_text(re.compile(r"iteration (\d+) of \1$"))
    atlas.get_by_role("button", name="An image of low rank").click()
    expect(words).to_contain_text(re.compile("degrees of freedom.*Gauss-Newton: error"))
    atlas.get_by_role("link", name="Open this point in Run").click()
    heading(page, "Run")
    expect(page).to_have_url(re.compile("model=rank-one-sensing"))


def test_a_frame_shows_figures_and_sliders_only_and_share_gives_its_code_and_a_link_that_runs(page, address):
    page.goto(f"{address}/converge?solvers=pairwise-moment&run=1&embed=true")
    drawn(page)
    expect(page.locator(".lrlab-slider:visible")).to_have_count(len(catalog.model_entry("one-bit-sensing").main))
    expect(page.locator(".st-key-converge-verdict strong")).to_have_text(re.compile("measured"))
    for hidden in ("heading", "tab", "navigation", "spinbutton", "combobox"):
        expect(page.get_by_role(hidden).filter(visible=True)).to_have_count(0)
    expect(page.locator('.stMain [data-testid="stButton"]:visible')).to_have_count(0)
    page.goto(f"{address}/learn?lesson=one-bit&step=2&embed=true")
    drawn(page, ".lrlab-figure")
    expect(page.locator(".lrlab-slider:visible")).to_have_count(1)
    expect(page.locator(".st-key-learn-question")).to_be_hidden()
    lesson, wine = "learn?lesson=one-bit&step=2", "own_data?measurements=wine"
    opened(page, f"{address}/learn", "Learn")
    for path, title, frame in (
        (lesson, "Why one bit is enough", lesson.replace("&", "&amp;")),
        (wine, "Your data", ""),
    ):
        visit(page, f"{address}/{path}", title)
        press(page, "Share")
        expect(page.get_by_text(f"{address}/{path}", exact=True)).to_be_visible()
        expect(page.get_by_role("img", name=f"QR code of {address}/{path}")).to_be_visible()
        expect(page.get_by_text("Only this machine opens this address")).to_be_visible()
        code = page.get_by_text("<iframe")
        expect(code).to_have_count(1 if frame else 0)
        if frame:
            expect(code).to_contain_text(re.compile(f'src="{re.escape(f"{address}/{frame}")}.*embed=true'))
    page.keyboard.press("Escape")
    press(page, "Run")
    expect(page.locator(".st-key-own_data-buttons")).to_be_visible()
    over(page)
    press(page, "Share")
    expect(page.get_by_text(f"{address}/{wine}&run=1", exact=True)).to_be_visible()


FREE = """([left, right]) => {
  const [one, other] = [left, right].map((selector) => document.querySelector(selector).getBoundingClientRect());
  return one.width && one.right <= other.left;
}"""
"""The first element ends left of the second one."""


def test_every_page_is_large_for_a_projector_until_it_is_pressed_again(page, address):
    opened(page, f"{address}/converge?n=400&p=8&solvers=marginal-mean&{WITHOUT_THEORY}&run=1", "Run")
    drawn(page)
    title, slider = page.locator(".st-key-converge-curves .xtitle"), page.locator(".lrlab-slider output").first
    expect(title).not_to_have_css("font-size", "17px")
    expect(slider).not_to_have_css("font-size", "18.75px")
    press(page, "Projector")
    expect(title).to_have_css("font-size", "17px")
    expect(slider).to_have_css("font-size", "18.75px")
    page.get_by_role("link", name="Eigengaps", exact=True).click()
    heading(page, "Eigengaps")
    expect(page.locator(".xtitle").first).to_have_css("font-size", "17px")
    expect(page.get_by_role("button", name="Projector")).to_have_attribute("aria-pressed", "true")
    press(page, "Projector")
    expect(page.locator(".xtitle").first).not_to_have_css("font-size", "17px")
    page.set_viewport_size({"width": 820, "height": 600})
    wait_until(page, FREE, ["[data-testid=stTopNav]", ".lrlab-projector"])


def test_figures_tables_and_definitions_are_saved_and_a_trial_opened_by_keyboard(page, address):
    given = f"n=400&p=8&max_iter=30&tol=0&solvers=pairwise-moment,marginal-mean&{WITHOUT_THEORY}"
    opened(page, f"{address}/converge?{given}&run=1", "Run")
    drawn(page)
    expect(page.get_by_text(Stop.MAX_ITER.value).first).to_be_visible()
    press(page, "Export")
    row, files = page.locator(".st-key-converge-curves .lrlab-files"), {}
    row.get_by_role("combobox").select_option("170")
    for kind in ("SVG", "PDF", "PNG"):
        with page.expect_download() as file:
            row.get_by_role("button", name=kind).click()
        assert file.value.suggested_filename == f"converge-curves-170mm.{kind.lower()}"
        files[kind] = Path(file.value.path()).read_bytes()
    svg = files["SVG"].decode()
    assert 'width="170mm"' in svg and "Pairwise moment" in svg
    check_names(re.findall(r'class="textpoint"[^>]*><text[^>]*fill: ([^;]*);', svg), "#ffffff")
    assert size_of(files["PDF"])[0] == pytest.approx(170, abs=0.1) and b"SourceSansPro" in expanded(files["PDF"])
    assert struct.unpack(">I", files["PNG"][16:20]) == (4 * round(170 * 96 / 25.4),)
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=2&run=1", "Phase transitions")
    over(page)
    page.get_by_text("Table and files").click()
    press(page, "Export")
    for name, begins in (
        ("SVG", b"<svg"), ("Figure, HTML", b"<!doctype html>"), ("Table, Parquet", b"PAR1"),
        ("Definition, TOML", b'model = "one-bit-sensing"'),
    ):  # fmt: skip
        button = page.get_by_role("button", name=name, exact=len(name) == 3)
        assert button.evaluate("node => node.tabIndex") == 0
        assert downloaded(page, button).startswith(begins), name
    page.get_by_role("button", name="Open a trial").focus()
    page.keyboard.press("Enter")
    page.get_by_role("slider").last.focus()
    page.keyboard.press("ArrowRight")
    idle(page)
    page.get_by_role("button", name="Open in Run", exact=True).focus()
    page.keyboard.press("Enter")
    heading(page, "Run")
    expect(page).to_have_url(re.compile(r"/converge\?.*seed="))


def test_a_class_predicts_a_round_by_keyboard(page, student, address):
    # The address of the page Teacher leads to the class.
    opened(page, f"{address}/teacher", "Class")
    expect(page.get_by_label("Code")).to_be_visible()
    visit(page, f"{address}/learn?lesson=one-bit&step=2", "Why one bit is enough")
    idle(page)
    tab_to(page, "class-open")
    page.keyboard.press("Enter")
    expect(page.get_by_text("0 of 0 have predicted")).to_be_visible()
    drawn(page, ".lrlab-figure")
    code = page.url.partition("code=")[2].partition("&")[0]
    opened(student, f"{address}/class?code={code}", "Why one bit is enough")
    idle(student)
    tab_to(student, "class-choice-0-2")
    student.keyboard.press("Enter")
    expect(student.get_by_role("status")).to_contain_text("Your prediction: .9.")
    expect(page.get_by_text("1 of 1 have predicted")).to_be_visible()
    tab_to(page, "class-step")
    page.keyboard.press("Enter")
    for screen in (page, student):
        expect(screen.get_by_role("status").filter(has_text="Right is: .9.")).to_have_count(1)
        drawn(screen, ".lrlab-figure")
        check_findings(screen)
    idle(page)
    tab_to(page, "class-step", "Shift+Tab")
    page.keyboard.press("Enter")
    heading(student, "How close can anything come?")
    expect(page.get_by_text("0 of 1 have predicted")).to_be_visible()


def test_the_transition_is_drawn_by_mouse_and_by_keyboard(page, address):
    opened(page, f"{address}/learn?lesson=draw-the-transition", "Draw the phase transition")
    plane, shown = page.locator(".lrlab-draw svg"), page.locator(".lrlab-draw output")
    idle(page)
    width, height = (plane.evaluate(f"node => node.client{side}") for side in ("Width", "Height"))
    ends = {"x": 3, "y": 0.9 * height}, {"x": width - 3, "y": 0.4 * height}
    plane.drag_to(plane, source_position=ends[0], target_position=ends[1])
    # The columns between two events are drawn, too.
    expect(shown).to_have_text("n/p = 0.95: s/n = 0.60")
    plane.click(position={"x": width / 2, "y": 0.65 * height})
    expect(shown).to_have_text("n/p = 0.5: s/n = 0.35")
    check_findings(page)
    page.emulate_media(color_scheme="dark")
    plane.focus()
    for key in ("ArrowRight", "ArrowUp", "ArrowUp", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    expect(shown).to_have_text("n/p = 0.65: s/n = 0.36")
    check_findings(page)
    plane.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    drawn(page, ".lrlab-figure")
    line = "node => node.data.find((one) => one.name === 'your line').y"
    y = page.locator(".lrlab-figure").evaluate(line)
    assert len(y) == 15 and np.all(np.diff(y[1:7]) > 0) and y[7:10] == pytest.approx([0.35, 0.54, 0.36], abs=0.01)
    press(page, "Poll the class")
    expect(page.get_by_text("0 of 0 have predicted")).to_be_visible()
