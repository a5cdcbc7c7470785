"""Answers what a tab posts to be made a file, a PDF, PNG or GIF, by a worker, under its limits of memory and time.

Addresses are `/live/TOKEN/KIND?title=...`; see `pdf.py` and `gif.py` for what is posted.
"""

from collections.abc import Callable, Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lrlab.engine.engine import get_engine
from lrlab.engine.stream import collect
from lrlab.parameters import InputError
from lrlab.ui.live import gif, pdf
from lrlab.ui.live.channel import get_channel
from lrlab.ui.live.headers import COOKIE, same_origin

MOST_BYTES = 16 * 2**20
"""Of what is posted; the largest heat maps of the pages have 3 MiB as SVG, 80 pictures of them as much."""
WRITE_SECONDS = 30.0
LONGEST_TITLE = 500
Write = Callable[[tuple[bytes, str]], bytes]
KINDS: Mapping[str, tuple[str, Write]] = {
    "pdf": ("application/pdf", pdf.write),
    "png": ("image/png", pdf.write_png),
    "gif": ("image/gif", gif.write),
}
"""The media type of each kind of file, and what writes it from what is posted and a title."""


async def answer(request: Request) -> Response:
    """Return the file; 404: no such kind; 403: no tab of this browser; 413, 422: what is no figure, or too large."""
    if (kind := request.path_params["kind"]) not in KINDS:
        return PlainTextResponse("there is no such kind of file", 404)
    known = get_channel().has_tab(request.path_params["token"], request.cookies.get(COOKIE, ""))
    if not (known and same_origin(request)):
        return PlainTextResponse("this tab is not known here", 403)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            return PlainTextResponse(f"the figure has more than {MOST_BYTES // 2**20} MiB", 413)
    title = request.query_params.get("title", "")[:LONGEST_TITLE]
    media_type, write = KINDS[kind]
    try:
        file = await run_in_threadpool(_on_worker, write, (bytes(content), title))
    except (InputError, RuntimeError) as error:
        return PlainTextResponse(str(error).rstrip("."), 422)
    return Response(file, media_type=media_type)


def _on_worker(write: Write, posted: tuple[bytes, str]) -> bytes:
    [file] = collect(get_engine().map(write, [posted], item_seconds=WRITE_SECONDS))
    return bytes(file)
