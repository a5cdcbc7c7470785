"""Pages in a real chromium under their policy, and in a frame of another site."""

import http.server
import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.load.server import serve
from tests.ui.browsing import CURVES, drawn, opened, press, visit, wait_until

PAGES = {"": "lrlab", "learn": "Learn", "spectrum": "Eigengaps", "transition": "Phase transitions",
         "papers": "Papers", "own_data": "Your data", "converge": "Run"}  # fmt: skip


@contextmanager
def course():
    """Return a page of another site that shows in a frame what its query names."""

    class Page(http.server.BaseHTTPRequestHandler):
        """A course page."""

        def do_GET(self):  # noqa: N802
            """Answer."""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            shown = self.path.partition("?")[2]
            frame = f'<iframe src="{shown}/converge?solvers=pairwise-moment" width="1200" height="800"></iframe>'
            self.wfile.write(f"<!doctype html><h1>A course</h1>{frame}".encode())

        def log_message(self, *given):
            """Write no log."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        # Another site than 127.0.0.1, where the lab is: cookies do not go there.
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def refusals(page):
    """Return a list that grows by what the policy of a page refuses."""
    words = []
    page.on("console", lambda line: words.append(line.text) if "Content Security Policy" in line.text else None)
    return words


def test_pages_work_under_their_policy(page, address, tmp_path):
    refused = refusals(page)
    opened(page, f"{address}/", PAGES[""])
    for path, title in list(PAGES.items())[1:]:
        visit(page, f"{address}/{path}", title)
    drawn(page)
    press(page, "Run")
    wait_until(page, "place => document.querySelector(place).data?.[0]?.name", CURVES)
    press(page, "Export")
    with page.expect_download() as picture:
        page.locator(".st-key-converge-curves").get_by_role("button", name="PNG").click()
    assert (file := tmp_path / "curves.png") and picture.value.save_as(file) is None and file.stat().st_size > 5000
    assert not refused


@pytest.mark.slow
@pytest.mark.soak
def test_a_site_that_is_named_shows_a_page_in_a_frame_and_follows_a_run(page):
    with course() as site, serve({"LRLAB_EMBED": site}) as lab:
        page.goto(f"{site}?{lab.address}")
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("heading", name="Run", exact=True)).to_be_visible()
        frame.get_by_role("button", name="Run", exact=True).click()
        expect(frame.locator("[data-live='converge.cards']")).to_contain_text("iterations")
        assert not [cookie for cookie in page.context.cookies() if cookie["name"] == "lrlab"]


@pytest.mark.slow
def test_other_sites_show_no_page(page, address):
    refused = refusals(page)
    with course() as site:
        page.goto(f"{site}?{address}")
        expect(page.get_by_role("heading", name="A course")).to_be_visible()
        page.wait_for_event("console", lambda line: "frame-ancestors" in line.text) if not refused else None
        assert any("frame-ancestors" in words for words in refused)
        assert page.frame_locator("iframe").get_by_role("heading", name="Run").count() == 0
