"""Takes the pictures of the cards from the running app, light and dark.

    streamlit run app.py &
    python benchmarks/card_pictures.py http://127.0.0.1:8501 lrlab/ui/assets/pictures [NAME ...]

writes NAME-light.webp and NAME-dark.webp for every card, or for those that are named; pictures of papers are drawn from
the shipped results, those of lessons from their steps, and with `-` in the place of the address no others are made.
Needs playwright and a chromium.
"""

import io
import json
import shutil
import sys
from math import inf
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import plotly
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from lrlab.engine.results import LocalResults
from lrlab.figures.build import Figure
from lrlab.lessons import lessons, load
from lrlab.presets import shipped
from lrlab.presets.table import redrawn
from lrlab.runs.run import run_trial
from lrlab.ui.home import cards, more_cards
from lrlab.ui.lessons import drawing
from lrlab.ui.lessons.lesson_view import DRAW as DRAWN
from lrlab.ui.shared.cards import Card

WIDE, HIGH = 520, 300
VIEW = {"width": 1000, "height": 1000}
LONGEST_MS, SETTLED_MS = 90_000, 1500
BACK, TEXT = {"light": "#ffffff", "dark": "#12161d"}, {"light": "#1c2430", "dark": "#e3e7ed"}
"""Of the pages, as .streamlit/config.toml has them."""
DRAW = """async ([data, layout]) => {
  const node = await Plotly.newPlot("figure", data, layout);
  for (const axis of ["xaxis", "yaxis"]) {
    const { type, range } = node._fullLayout[axis];
    if (type !== "log") continue;
    // At most five powers of ten have a label; where there are fewer than two, twice and five times them, too.
    const [low, high] = [Math.min(...range), Math.max(...range)];
    const step = Math.ceil((high - low) / 5), first = Math.ceil(low), powers = [];
    for (let power = first; power <= high; power += step) powers.push(power);
    const factors = powers.length < 2 ? [1, 2, 5] : [1];
    const around = powers.length < 2 ? [first - 1, first] : powers;
    const places = around.flatMap((power) => factors.map((factor) => [factor, power]));
    const number = ([factor, power]) => String(Number((factor * 10 ** power).toPrecision(1)));
    const text = (place) => Math.abs(place[1]) < 4 ? number(place) : `10<sup>${place[1]}</sup>`;
    await Plotly.relayout(node, {
      [axis + ".tickvals"]: places.map(([factor, power]) => factor * 10 ** power),
      [axis + ".ticktext"]: places.map(text),
    });
  }
}"""
FIGURE = ".lrlab-plot:has(.plot-container)"


def every() -> list[Card]:
    """Return all cards but those of papers and of lessons."""
    shown = [card for card in (*cards(), *more_cards()) if card.page not in ("papers", "learn")]
    return list({card.picture: card for card in shown}.values())


def board(browser: Browser, scheme: str) -> Page:
    """Return a page on which one figure after the other is drawn."""
    page = browser.new_page(viewport={"width": WIDE, "height": HIGH})
    page.set_content(f'<body style="margin: 0; background: {BACK[scheme]}"><div id="figure"></div>')
    page.add_script_tag(path=str(Path(plotly.__file__).parent / "package_data" / "plotly.min.js"))
    return page


def draw_lessons(page: Page, scheme: str, folder: Path, names: list[str]) -> None:
    """Draw a figure of each lesson where its slider ends: of its second step, or of a first one that has pictures."""
    for name in (name for name in lessons() if not names or f"lesson-{name}" in names):
        shown = [step.figure for step in load(name).steps if step.figure]
        figure = shown[0] if shown[0].kind == "pictures" else shown[1]
        drawn = figure.draw(figure.slider.values[-1])
        draw_figure(page, drawn, scheme, folder / f"lesson-{name}-{scheme}.webp", notes=figure.kind == "pictures")
        print("lesson", name, scheme, flush=True)
    if not names or DRAWN.picture in names:
        computed = LocalResults(run_trial, drawing.trials(), inf)
        computed.refresh()
        line = tuple((0.1 + 0.6 * np.linspace(0.0, 1.0, 13) ** 2).tolist())
        draw_figure(page, drawing.figure([], computed, line), scheme, folder / f"{DRAWN.picture}-{scheme}.webp")


def draw_papers(page: Page, scheme: str, folder: Path, names: list[str]) -> None:
    """Draw the first figure of each shipped result, and the paper's where that prints its numbers; without legends."""
    for name in (name for name in shipped.names() if not names or f"paper-{name}" in names):
        run = shipped.load(name)
        assert run is not None
        figures = {name: run.panels[0].figure}
        if drawn := redrawn(name):
            # What the paper prints of the same panel, or of its first where ours is of another data set.
            figures[f"{name}-printed"] = drawn.get(run.panels[0].title) or next(iter(drawn.values()))
        for part, figure in figures.items():
            draw_figure(page, figure, scheme, folder / f"paper-{part}-{scheme}.webp")
        print("paper", name, scheme, flush=True)


def draw_figure(page: Page, drawn: Figure, scheme: str, path: Path, *, notes: bool = False) -> None:
    """Draw one figure as a picture, with the names of its axes; notes: and with the texts in it."""
    figure = json.loads(drawn.to_json())
    left_out = ("height",) if notes else ("annotations", "height")
    layout = {key: value for key, value in figure["layout"].items() if key not in left_out}
    for axis in (value for key, value in layout.items() if key.startswith(("xaxis", "yaxis"))):
        axis |= {"automargin": True} | ({} if axis.get("type") == "log" else {"nticks": 6})
        axis["title"] = {"text": axis.get("title", {}).get("text", ""), "font": {"size": 15}, "standoff": 6}
    # The names of curves need room to the right of the plot.
    ends = [line for one in figure["data"] if one.get("meta") == "end" for line in one["text"][1].split("<br>")]
    right = 10 + max((24 + 8 * len(end) for end in ends), default=0)
    layout |= {
        "width": WIDE,
        "height": HIGH,
        "showlegend": False,
        "margin": {"l": 12, "r": right, "t": 50 if notes else 10, "b": 8},
    }
    layout |= {"font": {"size": 15, "color": TEXT[scheme]}, "paper_bgcolor": BACK[scheme], "plot_bgcolor": "#0000"}
    page.evaluate(DRAW, [figure["data"], layout])
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.save(path, quality=82, method=6)


def take(page: Page, base: str, card: Card, path: Path) -> None:
    """Open a card's page, wait until its run is over, and save the first figure."""
    page.goto(f"{base}/{card.page}?{urlencode(card.address)}")
    page.locator(FIGURE).first.wait_for(timeout=LONGEST_MS)
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    if cancel.count():
        page.wait_for_timeout(SETTLED_MS)
        page.wait_for_function(
            "() => ![...document.querySelectorAll('button')].some((b) => b.innerText === 'Cancel')",
            timeout=LONGEST_MS,
        )
    page.wait_for_timeout(SETTLED_MS)
    # Of a run the curves, or the picture that is recovered; of other pages the first figure.
    place = f".st-key-converge-{'picture' if 'truth' in card.address else 'curves'} " if card.page == "converge" else ""
    figure = page.locator(place + FIGURE).first
    figure.scroll_into_view_if_needed()
    # Lines and ticks; titles of axes and the legend would be too small to be read. Pictures have titles between them.
    part = ".main-svg" if "truth" in card.address else ".cartesianlayer"
    box = figure.locator(part).first.bounding_box()
    assert box is not None
    area = {"x": box["x"] - 4, "y": box["y"] - 4, "width": box["width"] + 8, "height": box["height"] + 8}
    picture = Image.open(io.BytesIO(page.screenshot(clip=area))).convert("RGB")  # type: ignore[arg-type]
    scale = min(WIDE / picture.width, HIGH / picture.height)
    size = round(scale * picture.width), round(scale * picture.height)
    board = Image.new("RGB", (WIDE, HIGH), picture.getpixel((1, 1)))
    board.paste(picture.resize(size, Image.Resampling.LANCZOS), ((WIDE - size[0]) // 2, (HIGH - size[1]) // 2))
    board.save(path, quality=82, method=6)


def main(base: str, folder: Path, names: list[str]) -> None:
    """Take the pictures of all cards, or of those that are named."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = board(browser, scheme)
            draw_papers(page, scheme, folder, names)
            draw_lessons(page, scheme, folder, names)
            page.close()
            if base == "-":
                continue
            context = browser.new_context(viewport=VIEW, color_scheme=scheme, device_scale_factor=1)
            for card in (card for card in every() if not names or card.picture in names):
                page = context.new_page()
                try:
                    take(page, base, card, folder / f"{card.picture}-{scheme}.webp")
                    print(card.picture, scheme, flush=True)
                except Exception as error:
                    print(card.picture, scheme, "FAILED:", str(error).splitlines()[0], flush=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
