"""Makes a PDF of the figure that a tab posts. A worker does it, under its limits of memory and time.

Addresses are `/live/TOKEN/pdf?title=...`; `pdf.py` describes the posted SVG.
"""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lrlab.engine.engine import get_engine
from lrlab.engine.results import collect
from lrlab.parameters import InputError
from lrlab.ui.live import pdf
from lrlab.ui.live.channel import get_channel
from lrlab.ui.live.headers import COOKIE, same_origin

MOST_BYTES = 16 * 2**20
"""Limit of a posted figure; the largest heat maps of the pages have 3 MiB as SVG."""


async def answer(request: Request) -> Response:
    """Return the PDF; 403: no tab of this browser; 413, 422: the content isn't a figure, or is too large."""
    known = get_channel().has_tab(request.path_params["token"], request.cookies.get(COOKIE, ""))
    if not (known and same_origin(request)):
        return PlainTextResponse("this tab is not known here", 403)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > MOST_BYTES:
            return PlainTextResponse(f"the figure has more than {MOST_BYTES // 2**20} MiB", 413)
    title = request.query_params.get("title", "")[:500]
    try:
        file = await run_in_threadpool(_on_worker, (bytes(content), title))
    except (InputError, RuntimeError) as error:
        return PlainTextResponse(str(error).rstrip("."), 422)
    return Response(file, media_type="application/pdf")


def _on_worker(posted: tuple[bytes, str]) -> bytes:
    [file] = collect(get_engine().map(pdf.write, [posted], item_seconds=30.0))
    return bytes(file)
