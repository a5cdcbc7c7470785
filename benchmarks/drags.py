"""Updates per second that a browser draws while a slider of *Run* is dragged.

python -m benchmarks.drags [MODEL ...] [--seconds 4] [--repeats 3]

Each repeat loads *Run* in Chromium with the defaults of a model, drags its first slider there and back through all
positions, thirty positions per second, and counts the frames of the browser in which a figure has changed. The
milliseconds are processor time of the page's main thread per answer: they depend less on what else the machine does.
"""

import argparse
import os
import shutil
import statistics
from collections.abc import Sequence

from playwright.sync_api import CDPSession, Page, sync_playwright

from tests.server import serve

MODELS = ("compressed-sensing", "one-bit-sensing", "phase-retrieval", "rank-one-sensing", "polynomial-network")
SIZE = {"width": 1440, "height": 900}
START_MS, REST_MS = 180_000, 3000
"""Longest wait for the first figure, and the wait until the page has drawn everything, in milliseconds."""
OVER = "() => document.querySelector('.lrlab-status')?.textContent.includes('is over')"
DRAG = """async (seconds) => {
  const input = document.querySelector(".lrlab-slider input[max]");
  const figures = [...document.querySelectorAll(".lrlab-figure")].filter((node) => node.clientWidth);
  const marks = (node) => [...node.querySelectorAll(".js-line, image, .point:nth-child(-n + 20)")];
  const values = (mark) => ["d", "transform", "href"].map((name) => mark.getAttribute(name));
  const look = (node) => marks(node).map(values).join();
  const before = figures.map(look), changes = figures.map(() => 0), last = Number(input.max);
  let answers = 0, turn = Number(input.value);
  const answered = () => (answers += 1);
  addEventListener("lrlab-live", answered);
  input.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true }));
  const timer = setInterval(() => {
    turn = (turn + 1) % (2 * last);
    input.value = turn <= last ? turn : 2 * last - turn;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, 33);
  for (const end = performance.now() + 1000 * seconds; performance.now() < end; ) {
    await new Promise(requestAnimationFrame);
    figures.forEach((node, k) => {
      const now = look(node);
      changes[k] += now !== before[k];
      before[k] = now;
    });
  }
  clearInterval(timer);
  removeEventListener("lrlab-live", answered);
  input.dispatchEvent(new Event("change", { bubbles: true }));
  const names = figures.map((node) => node.closest("[class*=st-key-]").className.match(/st-key-converge-(\\S+)/)[1]);
  return [["answers", answers], ...names.map((name, k) => [name, changes[k]])];
}"""
"""Drags for some seconds; returns the number of answers, and of frames in which marks of each figure have changed."""


def drag(page: Page, address: str, model: str, seconds: float) -> dict[str, float]:
    """Return answers and changes of each figure of *Run* per second, and the milliseconds of the page per answer."""
    page.goto(f"{address}/converge?model={model}")
    page.locator(".st-key-converge-curves .plot-container").first.wait_for(timeout=START_MS)
    page.wait_for_function(OVER, timeout=START_MS)
    page.wait_for_timeout(REST_MS)
    page.evaluate(DRAG, 1.0)
    page.wait_for_timeout(REST_MS)
    meter = page.context.new_cdp_session(page)
    meter.send("Performance.enable")
    before = thread_seconds(meter)
    counts = dict(page.evaluate(DRAG, seconds))
    busy = 1e3 * (thread_seconds(meter) - before) / max(1, counts["answers"])
    return {**{name: count / seconds for name, count in counts.items()}, "ms": busy}


def thread_seconds(meter: CDPSession) -> float:
    """Return the processor seconds of a page's main thread so far."""
    metrics = meter.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "ThreadTime")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args(arguments)
    with serve() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for model in given.models:
            page = browser.new_page(viewport=SIZE)
            runs = [drag(page, server.address, model, given.seconds) for _ in range(given.repeats)]
            page.close()
            medians = ", ".join(
                f"{name} {statistics.median(run.get(name, 0.0) for run in runs):.1f}" for name in runs[0]
            )
            print(f"{model}: {medians}; load {os.getloadavg()[0]:.1f}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
