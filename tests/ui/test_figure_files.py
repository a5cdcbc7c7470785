"""Files of figures: their width in print, their letters, the ticks of their axes."""

import re
import struct
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.figures.test_figures import contrast
from tests.ui.browsing import drawn, opened
from tests.ui.live.test_pdf import expanded, size_of


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.soak
def test_a_figure_is_saved_in_the_width_of_a_column(page, address):
    opened(page, f"{address}/converge?n=400&p=8&max_iter=30&solvers=pairwise-moment,gamp&run=1", "Run")
    drawn(page)
    expect(page.get_by_text("Stopped at the iteration limit").first).to_be_visible()
    page.get_by_role("button", name="Export", exact=True).click()
    row = page.locator(".st-key-converge-curves .lrlab-files")
    for width in (85, 170):
        row.get_by_role("combobox").select_option(str(width))
        files = {}
        for kind in ("SVG", "PDF", "PNG"):
            with page.expect_download() as file:
                row.get_by_role("button", name=kind).click()
            assert file.value.suggested_filename == f"converge-curves-{width}mm.{kind.lower()}"
            files[kind] = Path(file.value.path()).read_bytes()
        svg = files["SVG"].decode()
        assert f'width="{width}mm"' in svg and "Pairwise moment" in svg
        fills = re.findall(r'class="textpoint"[^>]*><text[^>]*fill: ([^;]*);', svg)
        check_names(fills, "#ffffff") if width > 85 else None
        assert size_of(files["PDF"])[0] == pytest.approx(width, abs=0.1)
        assert b"SourceSansPro" in expanded(files["PDF"])
        [pixels] = struct.unpack(">I", files["PNG"][16:20])
        assert pixels == 4 * round(width * 96 / 25.4)


def check_names(fills, background):
    """Hold the names at ends of curves to 4.5:1, as all small text."""
    assert fills
    for fill in fills:
        colour = "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", fill))
        assert contrast(colour, background) >= 4.5, fill


def value_of(text: str) -> float:
    """Return the number that a tick shows."""
    return float(text.replace(",", "").replace("−", "-"))
