"""Uploads by a client of its own, beyond any widget: bounded for a tab and for the server, freed where removed."""

import asyncio
import urllib.request
import uuid
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

from tests.load.server import serve
from tests.load.visitor import Visitor
from tests.waiting import aside

pytestmark = pytest.mark.slow
MIB = 2**20


class Client:
    """A client that puts and removes files of a session, with the token that any browser gets."""

    def __init__(self, address):
        self._host = urlsplit(address).netloc
        with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
            cookies = dict(c.split(";")[0].split("=", 1) for c in answer.headers.get_all("set-cookie"))
        token = cookies["_streamlit_xsrf"]
        self._headers = {"Cookie": f"_streamlit_xsrf={token}", "X-Xsrftoken": token}

    def put(self, session, size, file="", chunked=False):
        """Return the status of putting a file of so many bytes."""
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'
        body = head + bytes(size) + b"\r\n--x--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        content = (body[k : k + MIB] for k in range(0, len(body), MIB)) if chunked else body
        return self._status("PUT", session, file or str(uuid.uuid4()), content, kind)

    def remove(self, session, file):
        """Return the status of removing a file."""
        return self._status("DELETE", session, file, None, {})

    def _status(self, method, session, file, body, headers):
        connection = HTTPConnection(self._host, timeout=60)
        try:
            path = f"/_stcore/upload_file/{session}/{file}"
            connection.request(
                method, path, body, {**self._headers, **headers}, encode_chunked=not isinstance(body, bytes | None)
            )
            return connection.getresponse().status
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server():
    with serve({"LRLAB_UPLOAD_MIB": "3"}) as started:
        yield started


def with_tabs(server, count, work):
    """Call work(sessions) while so many tabs are open."""

    async def opened():
        tabs = [Visitor(server.address, "home") for _ in range(count)]
        for tab in tabs:
            await tab.open()
        try:
            return await asyncio.to_thread(work, [tab.session for tab in tabs])
        finally:
            for tab in tabs:
                await tab.close()

    return aside(asyncio.run, opened())


@pytest.mark.attempt(
    "files that no widget asked for, put by a client of its own: 60 of 1 MiB, in pieces, empty ones",
    "413 beyond the bound, 204 again once some are removed",
)
def test_a_tab_keeps_no_more_than_the_bound(server):
    client = Client(server.address)

    def attempt(sessions):
        (session,) = sessions
        before = server.memory_bytes()
        statuses = [client.put(session, MIB, f"f{k}", chunked=bool(k % 2)) for k in range(60)]
        assert statuses == [204, 204, *[413] * 58]
        assert server.memory_bytes() < before + 40 * MIB
        assert client.put(session, MIB, "f0") == 413, "what replaces another is there beside it at first"
        assert client.put("0" * 32, MIB) == 400, "a session that there is not"
        assert client.remove(session, "f0") == client.remove(session, "f0") == 204
        assert client.put(session, MIB // 2) == 204
        statuses = [client.put(session, 0, f"empty{k}") for k in range(500)]
        assert 413 in statuses, "an empty file takes memory, too"

    with_tabs(server, 1, attempt)


@pytest.mark.attempt("the same from twelve tabs", "413 beyond the bound of the server")
def test_all_tabs_together_keep_no_more_than_theirs_and_those_that_end_make_room(server):
    client = Client(server.address)

    def fill(sessions):
        return [[client.put(session, MIB) for _ in range(2)] for session in sessions]

    statuses = sum(with_tabs(server, 12, fill), [])
    assert 413 in statuses and 6 < statuses.count(204) <= 23
