"""A real server: a small class (`python -m benchmarks.load` measures larger ones), and pages of other sites."""

import asyncio
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from benchmarks.load.classroom import attend, predict
from tests.server import serve
from tests.waiting import aside


def test_pages_of_other_servers_do_not_reach_it(address):
    """A proxy passes on the host name of the request, which must be the name of the page."""

    async def status(origin: str) -> int:
        port, there = int(address.rpartition(":")[2]), "ws://lab.example.org/_stcore/stream"
        try:
            async with connect(there, host="127.0.0.1", port=port, subprotocols=["streamlit"], origin=origin):
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    assert aside(asyncio.run, status("https://lab.example.org")) == 101
    assert aside(asyncio.run, status("https://elsewhere.example.org")) == 403


@pytest.mark.slow
def test_a_class_runs_and_predicts_and_sees_the_answer_in_each_round(address):
    waited = aside(asyncio.run, attend(address, 4, touching=1))
    assert {name: len(values) for name, values in waited.items()} == {
        "answer to a change": 2, "first iterate": 4, "end": 4,
    }  # fmt: skip
    waited = aside(asyncio.run, predict(address, 6))
    assert [len(values) for values in waited.values()] == [2, 2 * 7]


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
