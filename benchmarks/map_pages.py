"""The first maps as a person sees them.

python benchmarks/map_pages.py [MODEL...]

Serves the lab with an empty store, opens *transition* in headless chromium (the one on the PATH, or the one that
PLAYWRIGHT_CHROMIUM names), lets it come to rest and presses Run: seconds from the click to a map whose cells are
measured or inferred, and to the end of the sweep, drawing, polling and the browser itself on the same cores. The
machine should have nothing else to do.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from lrlab import catalog

APP = Path(__file__).parents[1] / "app.py"
PATIENCE, READ = 120.0, 3.0
"""Seconds that a sweep may take, and for which a page is looked at before Run is pressed."""
COUNT = """figure => (figure.calcdata ?? [])
  .map(trace => trace[0]).filter(trace => trace?.trace?.type === "heatmap")
  .flatMap(trace => (trace.z ?? []).flat()).filter(value => Number.isFinite(value)).length"""
"""Cells of a map that have a colour."""


@contextmanager
def served() -> Iterator[str]:
    """Yield the address of a server whose store is empty."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(APP), "--server.port", str(port)],
            env={**os.environ, "LRLAB_STORE": str(Path(folder) / "store.sqlite"), "STREAMLIT_SERVER_HEADLESS": "true"},
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        address = f"http://127.0.0.1:{port}"
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{address}/_stcore/health", timeout=1.0)
                    break
                except OSError:
                    time.sleep(0.1)
            yield address
        finally:
            server.terminate()
            server.wait(20)


def measured(page: Page) -> tuple[float, float, int]:
    """Press Run; return the seconds to the first map and to the end, and the number of cells at first."""
    run = page.get_by_role("button", name="Run", exact=True)
    plot: Any = page.locator(".js-plotly-plot").first
    began, first, cells, under_way = time.perf_counter(), 0.0, 0, False
    run.click()
    while (now := time.perf_counter() - began) < PATIENCE:
        if not first and (cells := int(plot.evaluate(COUNT))):
            first = time.perf_counter() - began
        if not run.is_enabled():
            under_way = True
        elif under_way and first:
            return first, now, cells
        page.wait_for_timeout(50)
    return first, float("nan"), cells


def main() -> None:
    """Measure and print."""
    chromium = os.environ.get("PLAYWRIGHT_CHROMIUM") or shutil.which("chromium")
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for model in sys.argv[1:] or catalog.MODELS:
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            page.goto(f"{address}/transition?model={model}")
            page.get_by_text("trials at most").wait_for(timeout=30_000)
            page.locator(".js-plotly-plot").first.wait_for()
            page.wait_for_timeout(1000 * READ)
            first, end, cells = measured(page)
            print(f"{model:<24}first picture {first:5.2f} s, {cells} cells; contour {end:6.2f} s", flush=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
