"""The widget of notebooks in a browser: its figure grows in place, with the scripts of the pages."""

import json

import pytest

import lrlab
from lrlab.engine.live import LiveRun
from lrlab.figures import theme
from lrlab.figures.build import encoded
from lrlab.widget import STYLE, script, shown

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PAGE = """<!doctype html>
<style>STYLE</style><div id="place" style="width: 700px"></div>
<script type="module">
const address = URL.createObjectURL(new Blob([SCRIPT], { type: "text/javascript" }));
const { default: widget } = await import(address);
// As anywidget has it: values by name, and what is called when one changes.
const [state, called] = [STATE, {}];
const model = { get: (name) => state[name], on: (name, call) => (called[name] = call) };
window.change = (values) => {
  Object.assign(state, values);
  for (const name of Object.keys(values)) called[`change:${name}`]();
};
window.end = await widget.render({ model, el: document.querySelector("#place") });
</script>
"""
POINTS = "() => document.querySelector('.lrlab-figure')?.calcdata?.[0]?.length ?? 0"


def text(value):
    """Return a value as JavaScript inside a page."""
    return json.dumps(value).replace("</", "<\\/")


def test_the_widget_grows_where_it_stands_and_ends_with_a_sentence(page, tmp_path):
    trace = lrlab.solve(lrlab.spec("one-bit-sensing", n=400, p=10, noise=0.1), "pairwise-moment", tol=0.0, max_iter=30)
    run, states = LiveRun(trace.job), []
    for rows, error in ((5, ""), (30, "It went <wrong>.")):
        run.trace.rows, run.state, run.error = trace.rows[:rows], "failed" if error else "running", error
        states.append(dict(zip(("figure", "words"), shown([run], "error"), strict=True)))
    state = {**states[0], "label": "error", "template": encoded(theme.TEMPLATE)}
    html = PAGE.replace("STATE", text(state)).replace("STYLE", STYLE).replace("SCRIPT", text(script()))
    (tmp_path / "page.html").write_text(html, "utf-8")
    page.goto(f"file://{tmp_path}/page.html")
    page.wait_for_function(f"({POINTS})() === 5")
    page.evaluate("document.querySelector('.lrlab-figure').mark = true")
    page.evaluate(f"change({text(states[1])})")
    page.wait_for_function(f"({POINTS})() === 30")
    assert page.evaluate("document.querySelector('.lrlab-figure').mark"), "it is the same node"
    assert "FAILED. It went <wrong>." in page.locator(".lrlab-words").inner_text()
    assert [button.inner_text() for button in page.locator(".lrlab-files button").all()] == ["SVG", "PNG"]
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG").click()
    assert saved.value.suggested_filename.endswith(".svg")
