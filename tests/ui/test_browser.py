"""What a person does, in a real chromium: run, cancel, zoom, reload, look at pictures, type nonsense."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from lrlab import catalog, lessons
from lrlab.ui.home.examples import sections
from tests.ui.browsing import CURVES, drawn, opened, press, visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LONG = "tol=0&max_iter=1000000&p=400&solvers=pairwise-moment"


def newest(page: Page, figure: str = CURVES) -> float:
    """Return the newest iteration that is drawn; 0 before the first."""
    return page.locator(figure).evaluate("node => node.calcdata?.[0]?.at(-1)?.x ?? 0")


def watch(page: Page, figure: str = CURVES) -> float:
    """Wait until a newer iterate is drawn, and return it."""
    before = newest(page, figure)
    newer = "([figure, before]) => (document.querySelector(figure)?.calcdata?.[0]?.at(-1)?.x ?? 0) > before"
    wait_until(page, newer, [figure, before])
    return newest(page, figure)


def test_a_long_run_is_watched_and_cancelled(page, address):
    opened(page, f"{address}/converge?{LONG}", "Converge")
    drawn(page)
    page.locator(CURVES).evaluate("node => { node.mark = 'the same node'; }")
    press(page, "Run")
    watch(page)
    newest_drawn = watch(page)
    expect(page.get_by_text(re.compile("solvers done, at most"))).to_be_visible()
    press(page, "Cancel")
    expect(page.get_by_test_id("stTabs").get_by_text("Cancelled: what was computed")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_disabled()
    assert newest(page) >= newest_drawn
    assert page.locator(CURVES).evaluate("node => node.mark") == "the same node"


def test_zoom_and_a_changed_widget_survive_a_run(page, address):
    opened(page, f"{address}/converge?{LONG}", "Converge")
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
    opened(page, f"{address}/converge", "Converge")
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
    page.get_by_role("link", name="Papers", exact=True).click()
    expect(page.get_by_role("heading", name="Papers", exact=True)).to_be_visible()
    page.get_by_role("link", name="Converge", exact=True).click()
    expect(n).to_have_value("4321")
    expect(page).to_have_url(re.compile("n=4321"))


MODELS = list(catalog.MODELS)
PLACES = """() => [...document.querySelectorAll(
  '.st-key-converge-equation, .st-key-converge-verdict, .stMain .lrlab-figure',
)].map((figure) => {
  const box = figure.getBoundingClientRect();
  return [box.x, box.y, box.width, box.height].map(Math.round).join();
}).slice(0, 5).join(' ')"""
OVER = """() => document.querySelector('.lr-run')
  && !document.querySelector('.st-key-progress-strip')?.innerText.includes('solvers done')"""
SMALLER = {"polynomial-network": "&p=40&m=1500", "one-bit-multilabel": "&m=4000", "multilabel": "&n=500"}


def test_the_first_screen_of_every_model_has_equation_measurements_and_verdict_and_holds_still(page, address):
    page.set_viewport_size({"width": 1280, "height": 800})
    for model in MODELS:
        opened(page, f"{address}/converge?model={model}&max_iter=30{SMALLER.get(model, '')}", "Converge")
        for figure in range(3):
            expect(page.locator(".stMain .lrlab-figure .plot-container").nth(figure)).to_be_visible()
        expect(page.locator(".st-key-converge-equation .katex-display")).to_be_visible()
        page.evaluate("document.fonts.ready.then(() => true)")
        wait_until(page, f"() => {{ const at = ({PLACES})(); return at === window.at || void (window.at = at); }}")
        page.evaluate(f"window.moved = []; window.watch = setInterval(() => window.moved.push(({PLACES})()), 30)")
        press(page, "Run")
        expect(page.get_by_role("button", name="Cancel", exact=True)).to_be_disabled()
        verdict = page.locator(".st-key-converge-verdict strong")
        expect(verdict).to_have_text(re.compile(r"\d"))
        wait_until(page, OVER)
        moved = page.evaluate("(clearInterval(window.watch), [...new Set(window.moved)])")
        # On a busy machine a figure may be absent while it is replaced; nothing else moves then.
        assert len([places for places in moved if "0,0,0,0" not in places]) == 1, (model, moved)
        for shown in (page.locator(".st-key-converge-equation .katex-display"), verdict):
            assert shown.bounding_box()["y"] + shown.bounding_box()["height"] < 800, model
        measured = page.locator(".st-key-converge-measured .lrlab-plot")
        assert measured.bounding_box()["y"] + measured.bounding_box()["height"] < 800, model
        assert re.search(r"\d", measured.get_attribute("aria-label")), model
        # Equation and updates, which stand in a tab that is not shown yet.
        assert page.locator(".katex-display").count() >= 3 and not page.locator(".katex-error").count(), model
    page.get_by_role("spinbutton", name=re.compile("^rank")).fill("2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("changed", exact=True)).to_be_visible()


def test_a_handwritten_digit_is_recovered_and_led_through(page, address):
    opened(page, f"{address}/converge?truth=digit-3&p=64&n=6000&solvers=pairwise-moment", "Converge")
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
    opened(page, f"{address}/converge?n=-1&p=64&truth=upload&solvers=pairwise-moment", "Converge")
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
    ended = page.get_by_text(re.compile("chosen: the top eigenvalue"))
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


def rows_file(folder, broken=False):
    """Write 80 rows of 6 features and 3 labels as ARFF, the last one of them short if `broken`."""
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6))
    Y = (X[:, :3] + 0.3 * rng.standard_normal((80, 3)) > 0.5).astype(int)
    head = [f"@attribute f{j} numeric" for j in range(6)] + [f"@attribute mood-{j} {{0,1}}" for j in range(3)]
    rows = [",".join([*(f"{x:.4f}" for x in x), *map(str, y)]) for x, y in zip(X, Y, strict=True)]
    rows[-1] = rows[-1][:-2] if broken else rows[-1]
    path = folder / ("broken.arff" if broken else "moods.arff")
    path.write_text("\n".join(["@relation moods", *head, "@data", *rows]))
    return path


def test_own_rows_are_uploaded_fitted_and_downloaded(page, address, tmp_path):
    from lrlab.fits.fitted_model import load_model

    opened(page, f"{address}/own_data?rows=upload&iterations=3", "Own data")
    page.get_by_role("textbox", name="or which columns are labels").fill("last:3")
    page.keyboard.press("Enter")
    train = page.locator(".st-key-own_data-train input[type=file]")
    train.set_input_files(rows_file(tmp_path))
    expect(page.get_by_text(re.compile("moods.arff: 56 training rows, 24 test rows; 6 features"))).to_be_visible()
    drawn(page, ".st-key-own_data-pairs .lrlab-figure")
    press(page, "Run")
    page.get_by_role("tab", name="Predictions and files").click()
    model = page.get_by_role("button", name="Model (.npz)")
    # The first run of a server waits for its engine, too.
    expect(model).to_be_visible(timeout=60_000)
    with page.expect_download() as download:
        model.click()
    download.value.save_as(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").label_names == ("mood-0", "mood-1", "mood-2")
    train.set_input_files(rows_file(tmp_path, broken=True))
    expect(page.get_by_text(re.compile(r"file must be ARFF with 9 values.* in line 91 of broken.arff"))).to_be_visible()
    expect(model).to_be_visible()
    assert page.get_by_text("Traceback").count() == 0


MAP = ".st-key-transition-map .lrlab-figure"
SMALL_MAP = "p=6&x-points=2&y-points=2&y-from=20&y-to=80"


def measured(page: Page) -> None:
    """Wait until the lower left cell of the map shows a score: before that there is nothing to be opened there."""
    drawn(page, MAP)
    wait_until(page, "map => Number.isFinite(document.querySelector(map)?.calcdata?.[0]?.[0]?.z?.[0]?.[0])", MAP)


def click_the_lower_left_cell(page: Page) -> None:
    box = page.locator(f"{MAP} .nsewdrag").first.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.25, box["y"] + box["height"] * 0.75)


def its_trial_is_run(page: Page) -> None:
    expect(page.get_by_role("heading", name="Converge", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("seed=[1-9]"))
    expect(page.get_by_text("Converged: the residual fell").first).to_be_visible()
    expect(page.get_by_role("spinbutton", name=re.compile("^n$"))).to_have_value("120")


def test_a_click_on_the_map_opens_that_trial(page, address):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=2", "Phase map")
    drawn(page, MAP)
    page.locator(MAP).evaluate("node => { node.mark = 'the same node'; }")
    press(page, "Run")
    measured(page)
    assert page.locator(MAP).evaluate("node => node.mark") == "the same node"
    click_the_lower_left_cell(page)
    its_trial_is_run(page)


def test_a_click_is_not_lost_while_trials_run_on_a_distant_server(page, address, far):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=5000", "Phase map")
    press(page, "Run")
    measured(page)
    # Longer than the page waits between two questions how the run goes: one of them is asked after the click.
    page.evaluate("window.latency = 800")
    click_the_lower_left_cell(page)
    its_trial_is_run(page)
    page.get_by_role("link", name="Phase map", exact=True).click()
    measured(page)
    # Forced: on a fast machine there is nothing left to cancel.
    page.get_by_role("button", name="Cancel", exact=True).click(force=True)


def visible_table(page: Page) -> str:
    """Download the table of the sweep that a page shows, and return it."""
    fold = page.locator(".st-key-sweep-table")
    download = fold.get_by_role("button", name="Table, CSV")
    if not download.is_visible():
        fold.get_by_text("Table and files").click()
    with page.expect_download() as file:
        download.click()
    return Path(file.value.path()).read_text()


MORE_TRIALS = """before => {
  const shown = document.body.innerText.match(/([\\d,]+) of 96,000 trials, about/);
  return shown && Number(shown[1].replaceAll(",", "")) > before;
}"""


def test_a_sweep_is_paused_and_resumed_from_the_list_after_a_reload(page, address):
    sweep = "sweep?p=8&solvers=marginal-mean,sir&x-points=4&y-axis=noise&y-points=3&trials=4000"
    opened(page, f"{address}/{sweep}", "Sweep")
    press(page, "Run")
    expect(page.get_by_text(re.compile("of 96,000 trials, about"))).to_be_visible()
    press(page, "Pause")
    expect(page.get_by_text(re.compile("Paused: .* of 96,000 trials were computed"))).to_be_visible()
    before = visible_table(page)
    page.goto(f"{address}/sweep")
    page.locator(".st-key-sweep-past").get_by_text("Past sweeps").click()
    expect(page.get_by_text(re.compile(r"paused, [\d,]+ of 96,000 trials"))).to_be_visible()
    page.locator(".st-key-sweep-open-0 button").click()
    expect(page.get_by_text(re.compile("Paused: .* of 96,000 trials were computed"))).to_be_visible()
    expect(page).to_have_url(re.compile("y-axis=noise"))
    assert visible_table(page) == before
    paused = page.get_by_text(re.compile("Paused: .* of 96,000 trials were computed")).inner_text()
    press(page, "Resume")
    # Once results of the resumed run are drawn, no button moves below the pointer any more.
    wait_until(page, MORE_TRIALS, int(re.search(r"([\d,]+) of", paused)[1].replace(",", "")))
    press(page, "Cancel")
    expect(page.get_by_text(re.compile("Cancelled: .* of 96,000 trials were computed"))).to_be_visible()


def test_a_sweep_that_runs_is_followed_again_after_a_reload(page, address):
    opened(page, f"{address}/sweep?p=9&solvers=marginal-mean,sir&x-points=4&trials=1000", "Sweep")
    press(page, "Run")
    expect(page.get_by_text(re.compile("of 8,000 trials, about"))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile("of 8,000 trials, about"))).to_be_visible()
    press(page, "Cancel")
    expect(page.get_by_text(re.compile("Cancelled: .* of 8,000 trials were computed"))).to_be_visible()


def test_a_map_is_saved_as_a_drawing_and_as_a_page(page, address):
    opened(page, f"{address}/transition?{SMALL_MAP}&trials=2", "Phase map")
    drawn(page, MAP)
    page.locator(".st-key-transition-table").get_by_text("Table and files").click()
    for name, begins in (
        ("SVG", b"<svg"), ("PDF", b"%PDF-1.4"), ("PNG", b"\x89PNG"), ("Figure, HTML", b"<!doctype html>"),
        ("Table, Parquet", b"PAR1"), ("Definition, TOML", b'model = "one-bit-sensing"'),
    ):  # fmt: skip
        with page.expect_download() as file:
            page.get_by_role("button", name=name, exact=len(name) == 3).click()
        assert Path(file.value.path()).read_bytes().startswith(begins), name


def test_successive_input_is_not_lost_on_a_distant_server(page, address, far):
    with page.expect_websocket() as connected:
        opened(page, f"{address}/converge?p=30", "Converge")
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


FOCUSED = "document.activeElement.closest('[class*=st-key-]')?.className.match(/st-key-(\\S+)/)?.[1] ?? ''"


def tab_to(page: Page, key: str) -> None:
    """Press Tab until the control of a key has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == key:
            return
    raise AssertionError(f"{key} is not reached by Tab")


@pytest.mark.parametrize("name", lessons.lessons())
def test_a_lesson_is_gone_through_by_keyboard_and_a_reload_keeps_its_step(page, address, name):
    lesson = lessons.load(name)
    opened(page, f"{address}/learn?lesson={name}", lesson.title)
    for step, parts in enumerate(lesson.steps, 1):
        expect(page.get_by_role("heading", name=parts.title, exact=True)).to_be_visible()
        expect(page.locator(".katex-display").first).to_be_visible()
        if parts.question:
            expect(page.get_by_text("Predict first")).to_be_visible()
            tab_to(page, "learn-choice-1")
            page.keyboard.press("Enter")
            expect(page.get_by_text("Predict first")).to_be_hidden()
        drawn(page, ".lrlab-figure")
        if step == 1:
            slider = page.get_by_role("slider")
            before = slider.get_attribute("aria-valuetext")
            slider.focus()
            page.keyboard.press("ArrowRight" if slider.input_value() == "0" else "ArrowLeft")
            expect(slider).not_to_have_attribute("aria-valuetext", before)
        if step == 2:
            page.reload()
            expect(page).to_have_url(re.compile("answer=2.*step=2|step=2.*answer=2"))
            drawn(page, ".lrlab-figure")
        tab_to(page, "learn-next")
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(f"step={step + 1}"))
    expect(page.get_by_role("heading", name="What to take away")).to_be_visible()


def test_every_page_fits_a_telephone(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, address, "lrlab")
    for name, title in (
        ("", "lrlab"),
        ("learn?lesson=one-bit", "Why one bit is enough"),
        ("converge", "Converge"),
        ("spectrum", "Spectrum"),
        ("transition", "Phase map"),
        ("own_data", "Own data"),
    ):
        visit(page, f"{address}/{name}", title)
        if name:
            expect(page.locator(".lrlab-figure .plot-container").first).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("node => node.scrollWidth <= node.clientWidth"), name


MARKS = """() => location.pathname.length > 1 && document.querySelector(
  '.stMain .lrlab-figure :is(.trace path, .heatmaplayer image, .points path)',
)"""


def test_every_card_shows_data_without_another_click(page, address):
    opened(page, address, "lrlab")
    for card in (card for cards in sections().values() for card in cards):
        page.get_by_role("link", name=card.title, exact=True).first.click()
        wait_until(page, MARKS)
        visit(page, address, "lrlab")
