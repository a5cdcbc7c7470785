"""Writes a figure as a PDF of one page, from the SVG that a browser has drawn of it: text stays text, lines stay lines.

A tab posts the SVG to `/live/TOKEN/pdf?title=...`, as large as it is to be in print. A worker writes the PDF, under its
limits of memory and time; in it an SVG cannot refer to files or addresses.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from lrlab.engine.engine import get_engine
from lrlab.engine.stream import collect
from lrlab.parameters import InputError
from lrlab.ui.live.channel import get_channel
from lrlab.ui.live.headers import COOKIE, same_origin

MOST_BYTES = 16 * 2**20
"""Of an SVG; the largest heat maps of the pages have 3 MiB."""
WRITE_SECONDS = 30.0
LONGEST_TITLE = 500
SUPERSCRIPTS, SUBSCRIPTS = "⁻ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹", "ᵢⱼₑ"
PLAIN = str.maketrans(SUPERSCRIPTS + SUBSCRIPTS, "−T0123456789ije")
SHIFTED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]*[⁻ᵀ][⁰¹²³⁴⁵⁶⁷⁸⁹]*|[ᵢⱼₑ]+")
"""Letters that the font does not have: full ones, smaller and shifted, take their place."""
PAGE = """
#set document(title: sys.inputs.title)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.title)
"""


async def answer(request: Request) -> Response:
    """Return the PDF of a posted SVG; 403 for what is no tab of this browser, 413 and 422 where there can be none."""
    known = get_channel().has_tab(request.path_params["token"], request.cookies.get(COOKIE, ""))
    if not (known and same_origin(request)):
        return PlainTextResponse("this tab is not known here", 403)
    svg = bytearray()
    async for part in request.stream():
        svg += part
        if len(svg) > MOST_BYTES:
            return PlainTextResponse(f"the figure has more than {MOST_BYTES // 2**20} MiB", 413)
    title = request.query_params.get("title", "")[:LONGEST_TITLE]
    try:
        pdf = await run_in_threadpool(_on_worker, (bytes(svg), title))
    except (InputError, RuntimeError) as error:
        return PlainTextResponse(str(error).rstrip("."), 422)
    return Response(pdf, media_type="application/pdf")


def _on_worker(figure: tuple[bytes, str]) -> bytes:
    [pdf] = collect(get_engine().map(write, [figure], item_seconds=WRITE_SECONDS))
    return bytes(pdf)


def write(figure: tuple[bytes, str]) -> bytes:
    """Return the PDF of an SVG and a title; InputError where it is no SVG."""
    import typst

    svg, title = figure
    try:
        inputs = {"svg": SHIFTED.sub(_shifted, svg.decode()), "title": title}
        fonts = typst.Fonts(include_system_fonts=False, font_paths=_fonts())
        pdf = typst.compile(PAGE.encode(), font_paths=fonts, sys_inputs=inputs)
    except (typst.TypstError, UnicodeDecodeError) as error:
        raise InputError("figure", "an SVG", str(error).partition("\n")[0], "reload the page") from None
    assert isinstance(pdf, bytes)
    return pdf


def _shifted(letters: re.Match[str]) -> str:
    side = "super" if letters[0][0] in SUPERSCRIPTS else "sub"
    return f'<tspan baseline-shift="{side}" font-size="70%">{letters[0].translate(PLAIN)}</tspan>'


def _fonts() -> list[str]:
    # Source Sans, the font of the pages; what it lacks is taken from the fonts that typst brings.
    package = find_spec("font_source_sans_pro")
    assert package is not None and package.origin is not None
    return [str(Path(package.origin).parent / "files")]
