"""Every page passes axe, its ticks can be read, a few tabs lead to Run; the first screen is in sight, holds still."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from lrlab import catalog
from lrlab.parameters import declared
from tests.figures.test_figures import contrast
from tests.thorough import but
from tests.ui.browsing import idle, opened, over, press, visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MAP = "model=one-bit-sensing&p=6&x-points=2&y-points=2&y-from=20&y-to=80&trials=2"
LINES = "model=one-bit-sensing&x-axis=ratio&y-axis=none&n=400&p=8&x-points=2&trials=2&solvers=marginal-mean"
SPECTRUM = "p=8&n=400&points=3&trials=2"
PAGES = {
    "home": ("", "lrlab"),
    "learn": ("learn", "Learn"),
    "lesson": ("learn?lesson=one-bit&answer=1", "Why one bit is enough"),
    "converge": ("converge", "Run"),
    "spectrum": (f"spectrum?{SPECTRUM}", "Eigengaps"),
    "map": (f"transition?{MAP}", "Phase transitions"),
    "lines": (f"transition?{LINES}", "Phase transitions"),
    "gallery": ("papers", "Papers"),
    "paper": ("papers?paper=yi2015-fig2", None),
    "theorem": ("papers?paper=jain2013-theorem1", None),
    "class": ("class", "Class"),
    "own data": ("own_data?measurements=labels&max_iter=2", "Your data"),
}
NEAR = ("spectrum", "map", "lines")
RUNS = ("converge", *NEAR, "own data")
TRIES = 10
"""How often a page is checked with axe before a finding counts."""
TICKS = """() => [...document.querySelectorAll(".lrlab-figure")].flatMap((node, figure) =>
  ["x", "y"].flatMap((side) => [...node.querySelectorAll(`.${side}tick text`)].map((text) => {
    const { left, top, right, bottom } = text.getBoundingClientRect();
    const axis = [...text.closest("g[class*=tick]").classList].find((name) => /tick$/.test(name)).replace("tick", "");
    const type = node._fullLayout[axis.replace(axis[0], `${axis[0]}axis`)].type;
    const size = parseFloat(getComputedStyle(text).fontSize);
    const box = [left, top, right, bottom];
    return { figure, side, text: text.textContent, value: text.__data__.x, type, size, box };
  })))"""


def findings(page):
    """Return the findings of axe that are not minor: rule and elements."""
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (found["id"], [(node["html"][:80], node["failureSummary"][-180:]) for node in found["nodes"]][:3])
        for found in violations
        if found["impact"] != "minor"
    ]


def settled(page):
    """Wait until a page has drawn every figure, and neither mouse nor focus shows a tooltip."""
    page.mouse.move(0, 0)
    page.keyboard.press("Escape")
    wait_until(page, "() => [...document.querySelectorAll('.lrlab-figure')].every((node) => node._fullLayout)")
    idle(page)
    # Streamlit fades an element that it is about to replace.
    wait_until(page, "() => document.getAnimations().every((one) => one.playState !== 'running')")


def check_findings(page):
    """Check a settled page with axe, again if needed: an element that waits for its script is pale for a moment."""
    for _ in range(TRIES):
        settled(page)
        if not (found := findings(page)):
            return
        page.wait_for_timeout(1000)
    assert not found


def check_ticks(page):
    """Check that each tick shows its value, is at least 12 px high and touches no other."""
    # Names are turned, so that their upright boxes may overlap.
    numbers = [tick for tick in page.evaluate(TICKS) if not any(letter.isalpha() for letter in tick["text"])]
    ticks = [tick for tick in numbers if tick["text"].strip()]
    for tick in ticks:
        assert tick["size"] >= 12, tick
        value = 10 ** tick["value"] if tick["type"] == "log" else tick["value"]
        shown = float(tick["text"].replace(",", "").replace("−", "-"))
        assert shown == pytest.approx(value, rel=2e-3, abs=1e-12), tick
    for k, one in enumerate(ticks):
        for other in ticks[:k]:
            if one["figure"] == other["figure"]:
                (left, top, right, bottom), (l2, t2, r2, b2) = one["box"], other["box"]
                apart = left >= r2 or l2 >= right or top >= b2 or t2 >= bottom
                assert apart or one["box"] == other["box"], (one, other)


def check_names(fills, background):
    """Check that the names at the ends of curves have a contrast of 4.5:1, as small text needs."""
    assert fills
    for fill in fills:
        color = "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", fill))
        assert contrast(color, background) >= 4.5, fill


NARROW = """() => [...document.querySelectorAll(".lrlab-figure")].every(
  ({ clientWidth, lrlab }) => clientWidth < 390 && lrlab?.drawnWidth === clientWidth && !lrlab.drawing)"""
"""Whether all figures have the width of a phone."""
NAMES = "() => [...document.querySelectorAll('.lrlab-figure .textpoint text')].map((text) => text.style.fill)"


@pytest.mark.parametrize("name", but(["converge", "map", "own data"], list(PAGES)))
def test_a_page_has_no_serious_finding_its_ticks_are_read_and_run_is_near_by_keyboard(page, address, name):
    path, title = PAGES[name]
    # Wide enough for the names at the ends of curves.
    page.set_viewport_size({"width": 1600, "height": 900})
    page.goto(f"{address}/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    if title:
        expect(page).to_have_title("lrlab" if title == "lrlab" else f"{title} - lrlab")
    check_findings(page)
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stApp")).to_have_css("background-color", "rgb(18, 22, 29)")
    if name in NEAR:
        run_by_keyboard(page)
    elif name in RUNS:
        press(page, "Run")
        over(page)
    check_findings(page)
    check_ticks(page)
    if name == "converge":
        check_names(dark := page.evaluate(NAMES), "#12161d")
        page.emulate_media(color_scheme="light")
        drawn_anew = f"(dark) => ({NAMES})().every((fill) => !dark.includes(fill))"
        wait_until(page, drawn_anew, dark)
        check_names(page.evaluate(NAMES), "#ffffff")
    if name in NEAR:
        page.get_by_role("spinbutton", name="p", exact=True).fill("9")
        page.keyboard.press("Enter")
        expect(page.get_by_text("The settings have changed since this run: press Run.")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    wait_until(page, NARROW)
    settled(page)
    check_ticks(page)


def run_by_keyboard(page):
    """Reach Run within eight tabs and press it; no figure moves meanwhile."""
    page.evaluate(WATCH, ".lrlab-figure")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    for _ in range(8):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText.trim()") == "Run":
            break
    page.keyboard.press("Enter")
    over(page)
    settled(page)
    assert (places := page.evaluate(PLACES)) and all(len(at) == 1 for at in places.values()), places


WATCH = """parts => {
  window.places = {};
  const look = () => {
    const scrolled = document.querySelector("[data-testid=stMain]").scrollTop;
    document.querySelectorAll(parts).forEach((part, count) => {
      const name = part.className.match(/st-key-converge-(\\w+)/)?.[1] ?? count;
      for (const node of new Set([part, ...part.querySelectorAll(".lrlab-figure")])) {
        const { x, y, width, height } = node.getBoundingClientRect();
        // The estimates of the last run's model, while those of this one take their place.
        if (!width && /estimate|matrices|picture/.test(name)) continue;
        // A slider appears below the figure in it.
        const grows = node === part && part.matches(".stElementContainer");
        const at = [x, y + scrolled, width, grows ? 0 : height].map(Math.round).join();
        (window.places[node === part ? name : `figure of ${name}`] ??= new Set()).add(at);
      }
    });
    return JSON.stringify(Object.values(window.places).map((seen) => [...seen].at(-1)));
  };
  window.look = look;
  window.watch = setInterval(look, 20);
}"""
PLACES = """() => (clearInterval(watch),
  Object.fromEntries(Object.entries(places).map(([name, seen]) => [name, [...seen]])))"""
"""Where each part has been since the begin of the watch."""


SOME = ("one-bit-sensing",)
OTHERS = tuple(model for model in catalog.MODELS if model not in SOME)
PARTS = ".st-key-converge-equation, .st-key-converge-verdict, " + ", ".join(
    f".stElementContainer.st-key-converge-{name}" for name in ("measured", "curves", "estimate", "matrices", "picture")
)
"""Places of figures; a model may draw its estimates as another kind of figure in the same place."""
OVER = """() => document.querySelector('.lr-run') && Object.keys(places).length >= 8
  && !document.querySelector('[class*=st-key-progress-strip]')?.innerText.match(/solvers? done/)"""
SMALLER = {"polynomial-network": "&p=40&m=1500", "one-bit-multilabel": "&m=4000", "multilabel": "&n=500"}


def whole(model):
    """Return the main parameters of a model that are whole numbers."""
    parameters = declared(catalog.MODELS[model])
    return [name for name in catalog.model_entry(model).main if parameters[name].kind is int]


@pytest.mark.parametrize("models", but([SOME], [SOME, OTHERS]), ids=["some", "others"])
def test_the_first_screen_of_every_model_has_equation_measurements_and_verdict_and_holds_still(page, address, models):
    page.set_viewport_size({"width": 1280, "height": 800})
    # The last one has a whole number to change; a model that is added may have none.
    models = sorted(models, key=lambda model: bool(whole(model)))
    for model in models:
        # Loading the app takes longer than a run: it is loaded once.
        opened(page, address, "lrlab") if model == models[0] else visit(page, address, "lrlab")
        visit(page, f"{address}/converge?model={model}&max_iter=30{SMALLER.get(model, '')}", "Run")
        for figure in range(3):
            expect(page.locator(".stMain .lrlab-figure .plot-container").nth(figure)).to_be_visible()
        expect(page.locator(".st-key-converge-equation .katex-display")).to_be_visible()
        page.evaluate("document.fonts.ready.then(() => true)")
        page.evaluate(WATCH, PARTS)
        wait_until(page, "() => { const at = look(); return at === window.at || void (window.at = at); }")
        page.evaluate("for (const name in places) delete places[name]")
        over(page)
        before = page.locator(".st-key-converge-verdict").inner_text()
        # Other data have another verdict.
        press(page, "New data")
        expect(page.locator(".st-key-converge-verdict")).not_to_have_text(before)
        expect(page.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
        verdict = page.locator(".st-key-converge-verdict strong")
        expect(verdict).to_have_text(re.compile(r"\d"))
        wait_until(page, OVER)
        idle(page)
        places = page.evaluate(PLACES)
        moved = {name: at for name, at in places.items() if len(at) > 1}
        assert len(places) >= 8 and not moved, (model, moved)
        for shown in (page.locator(".st-key-converge-equation .katex-display"), verdict):
            assert shown.evaluate("node => node.getBoundingClientRect().bottom") < 800, model
        measured = page.locator(".st-key-converge-measured .lrlab-plot")
        assert measured.bounding_box()["y"] + measured.bounding_box()["height"] < 800, model
        assert re.search(r"\d", measured.get_attribute("aria-label")), model
        # Equation and updates.
        press(page, "Why it works", "tab")
        expect(page.locator(".katex-display").nth(2)).to_be_visible()
        assert page.locator(".katex-display").count() >= 3 and not page.locator(".katex-error").count(), model
    number = page.get_by_role("spinbutton", name=re.compile(rf"^{whole(models[-1])[0]}\b"))
    number.fill(str(int(number.input_value()) + 1))
    page.keyboard.press("Enter")
    expect(page.get_by_text("changed", exact=True)).to_be_visible()
