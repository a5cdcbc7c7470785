"""Takes the pictures of the README and the tour from the running app.

    streamlit run app.py &
    python benchmarks/readme_pictures.py http://127.0.0.1:8501 assets

Needs playwright and a chromium.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import expect, sync_playwright

LONGEST_MS, SETTLED_MS = 120_000, 1500
PAGE, ALONE = {"width": 1280, "height": 800}, {"width": 1000, "height": 620}
"""Of a whole page, and of its figures alone."""
PICTURES = {
    "converge": ("converge?", PAGE),
    "spectrum": ("spectrum?embed=true&model=one-bit-phase-retrieval", ALONE),
    "transition": ("transition?embed=true&model=polynomial-network&solvers=gauss-newton,ep-rom", ALONE),
}
"""Addresses, whose runs begin by themselves, and sizes of the window."""


def main(base: str, folder: Path) -> None:
    """Take all pictures, each once its run is over."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (address, size) in PICTURES.items():
            page = browser.new_page(viewport=size)  # type: ignore[arg-type]
            page.goto(f"{base}/{address}&run=1")
            expect(page.locator(".lrlab-status").first).to_contain_text("The run is over.", timeout=LONGEST_MS)
            page.wait_for_timeout(SETTLED_MS)
            # Of few colors: two fifths of the bytes.
            picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(256)
            picture.save(folder / f"{name}.png", optimize=True)
            page.close()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
