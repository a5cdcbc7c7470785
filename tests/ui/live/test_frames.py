"""Pages of the lab in a frame of another site, in a real chromium."""

import http.server
import threading
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.server import serve


@contextmanager
def course():
    """Return a page of another site with a frame that shows the lab at the address in the query."""

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
        # The lab is at 127.0.0.1, which is another site, so that it gets no cookies.
        yield f"http://localhost:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


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
