"""The cards of Home, own data, and telephones, in a real chromium."""

import re

import pytest
from playwright.sync_api import expect

from lrlab.ui.home import cards
from tests.thorough import but
from tests.ui.browsing import idle, opened, press, visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


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
    from lrlab.data.label_models import load_model

    opened(page, f"{address}/own_data?labels=last%3A3", "Your data")
    # While a script begins, Streamlit forgets where a file was to be sent.
    idle(page)
    upload = page.locator(".st-key-own_data-file input[type=file]")
    upload.set_input_files(rows_file(tmp_path))
    expect(page.get_by_text(re.compile("moods.arff: 80 rows, 6 features, 3 labels"))).to_be_visible()
    press(page, "Run")
    expect(page.locator(".lrlab-status").first).to_contain_text("The run is over.")
    model = page.get_by_role("button", name="Model (.npz)")
    expect(model).to_be_visible()
    with page.expect_download() as download:
        model.click()
    download.value.save_as(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").columns.names == ("mood-0", "mood-1", "mood-2")
    assert page.get_by_text("Traceback").count() == 0


def test_every_page_fits_a_telephone(page, address):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, address, "lrlab")
    for name, title in (
        ("", "lrlab"),
        ("learn?lesson=one-bit", "Why one bit is enough"),
        ("converge", "Run"),
        ("spectrum", "Eigengaps"),
        ("transition", "Phase transitions"),
        ("own_data", "Your data"),
        ("own_data?measurements=labels&run=1", "Your data"),
    ):
        visit(page, f"{address}/{name}", title)
        if name not in ("", "own_data"):
            expect(page.locator(".lrlab-figure .plot-container").first).to_be_visible()
        main = page.get_by_test_id("stMain")
        assert main.evaluate("node => node.scrollWidth <= node.clientWidth"), name


MARKS = """() => location.pathname.length > 1 && document.querySelector(
  '.stMain .lrlab-figure :is(.trace path, .heatmaplayer image, .points path)',
)"""


@pytest.mark.soak
def test_every_card_shows_data_without_another_click(page, address):
    opened(page, address, "lrlab")
    for card in cards():
        page.get_by_role("link", name=card.title, exact=True).first.click()
        wait_until(page, MARKS)
        visit(page, address, "lrlab")


@pytest.mark.parametrize("width", but([390], [390, 820]))
def test_figures_and_sliders_have_room_and_a_reload_finds_the_run_again(page, address, width):
    page.set_viewport_size({"width": width, "height": 1000})
    opened(page, f"{address}/converge?model=phase-retrieval&p=16&m=100&solvers=gauss-newton&run=1", "Run")
    # The first run of a server waits for its engine, too.
    expect(page.locator(".lr-run")).to_be_visible(timeout=60_000)
    expect(page.locator(".stMain .lrlab-figure .plot-container").nth(2)).to_be_visible()
    expect(page.get_by_role("slider", name="kept iterate")).to_be_visible()
    for selector, least in ((".lrlab-figure:visible", 280), ("input[type=range]:visible, [role=slider]:visible", 60)):
        for box in (shape.bounding_box() for shape in page.locator(f".stMain {selector}").all()):
            assert box["width"] >= least and box["x"] + box["width"] <= width, (selector, box)
    tracks = page.locator("[data-testid=stSidebar] [data-testid=stSlider]")
    assert width < 640 or all(track.bounding_box()["width"] >= 100 for track in tracks.all())
    page.reload()
    expect(page.locator(".lr-run")).to_be_visible()


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
    atlas.get_by_role("button", name="An image of low rank").click()
    expect(words).to_contain_text(re.compile("degrees of freedom.*Gauss-Newton: error"))
    atlas.get_by_role("link", name="Open this point in Run").click()
    expect(page.get_by_role("heading", name="Run", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("model=rank-one-sensing"))
