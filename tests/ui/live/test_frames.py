"""Pages of the lab in a frame of another site, in a real chromium."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.server import serve


@pytest.mark.slow
@pytest.mark.soak
def test_a_site_that_is_named_shows_a_page_in_a_frame_and_follows_a_run(page, tmp_path):
    course = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    # The lab is at 127.0.0.1, which is another site, so that it gets no cookies.
    site = f"http://localhost:{course.server_port}"
    Thread(target=course.serve_forever, daemon=True).start()
    with course, serve({"LRLAB_EMBED": site}) as lab:
        shown = f'<iframe src="{lab.address}/converge?solvers=pairwise-moment" width="1200" height="800"></iframe>'
        (tmp_path / "index.html").write_text(f"<!doctype html><h1>A course</h1>{shown}")
        page.goto(site)
        frame = page.frame_locator("iframe")
        expect(frame.get_by_role("heading", name="Run", exact=True)).to_be_visible()
        frame.get_by_role("button", name="Run", exact=True).click()
        expect(frame.locator("[data-live='converge.cards']")).to_contain_text("iterations")
        assert not [cookie for cookie in page.context.cookies() if cookie["name"] == "lrlab"]
        course.shutdown()
