"""The first screen of every model, in a real chromium: all of it is in sight, and nothing moves in a run."""

import re

import pytest
from playwright.sync_api import expect

from lrlab import catalog
from lrlab.parameters import declared
from tests.thorough import but
from tests.ui.browsing import idle, opened, over, press, visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOME = ("one-bit-sensing",)
OTHERS = tuple(model for model in catalog.MODELS if model not in SOME)
PARTS = ".st-key-converge-equation, .st-key-converge-verdict, " + ", ".join(
    f".stElementContainer.st-key-converge-{name}" for name in ("measured", "curves", "estimate", "matrices", "picture")
)
"""Places of figures; a model may draw its estimates as another kind of figure in the same place."""
WATCH = """parts => {
  window.places = {};
  const look = () => {
    let now = "";
    for (const part of document.querySelectorAll(parts)) {
      const name = part.className.match(/st-key-converge-(\\w+)/)[1];
      for (const node of [part, ...part.querySelectorAll(".lrlab-figure")]) {
        const { x, y, width, height } = node.getBoundingClientRect();
        // The estimates of the last run's model, while those of this one take their place.
        if (!width && /estimate|matrices|picture/.test(name)) continue;
        // A slider appears below the figure in it.
        const grows = node === part && part.matches(".stElementContainer");
        const at = [x, y, width, grows ? 0 : height].map(Math.round).join();
        (window.places[node === part ? name : `figure of ${name}`] ??= new Set()).add(at);
        now += ` ${at}`;
      }
    }
    return now;
  };
  window.look = look;
  window.watch = setInterval(look, 50);
}"""
OVER = """() => document.querySelector('.lr-run') && Object.keys(places).length >= 8
  && !document.querySelector('[class*=st-key-progress-strip]')?.innerText.includes('solvers done')"""
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
        places = page.evaluate("(clearInterval(watch), Object.entries(places).map(([name, at]) => [name, [...at]]))")
        moved = {name: at for name, at in places if len(at) > 1}
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
