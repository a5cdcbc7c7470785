"""Writes a figure as a PDF, in which text stays text, or as a PNG, from the SVG that a browser has drawn of it.

A tab posts the SVG as large as it is to be in print (`posts.py`). An SVG cannot refer to files or addresses.
"""

import re
import struct
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from lrlab.parameters import InputError

SUPERSCRIPTS, SUBSCRIPTS = "⁻ᵀ⁰¹²³⁴⁵⁶⁷⁸⁹", "ᵢⱼₑ"
PLAIN = str.maketrans(SUPERSCRIPTS + SUBSCRIPTS, "−T0123456789ije")
SHIFTED = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]*[⁻ᵀ][⁰¹²³⁴⁵⁶⁷⁸⁹]*|[ᵢⱼₑ]+")
"""Letters that the font does not have: full ones, smaller and shifted, take their place."""
PAGE = """
#set document(title: sys.inputs.title)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.svg), format: "svg", alt: sys.inputs.title)
"""


PNG_DPI = 600
LARGEST_MM2 = 80_000
"""Of a PNG, in square millimetres: at this resolution 45 million pixels."""
SIZE = re.compile(rb'<svg[^>]*? width="([\d.]+)mm"[^>]*? height="([\d.]+)mm"')
HEADER_BYTES = 33


def write_png(figure: tuple[bytes, str]) -> bytes:
    """Return the PNG of an SVG whose width and height are in mm; InputError where it is none, or is too large."""
    size = SIZE.match(figure[0])
    if size and float(size[1]) * float(size[2]) > LARGEST_MM2:
        raise InputError(
            "figure", f"at most {LARGEST_MM2} mm2", f"{float(size[1]):g} x {float(size[2]):g} mm", "save a smaller one"
        )
    if not size:
        raise InputError("figure", "an SVG with a width in mm", "none", "reload the page")
    png, per_metre = write(figure, "png"), round(PNG_DPI / 0.0254)
    # It has its width in print from a chunk of its own, after the header.
    chunk = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    resolution = struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk))
    return png[:HEADER_BYTES] + resolution + png[HEADER_BYTES:]


def write(figure: tuple[bytes, str], kind: Literal["pdf", "png"] = "pdf") -> bytes:
    """Return the PDF, or the pixels, of an SVG and a title; InputError where it is no SVG."""
    import typst

    svg, title = figure
    try:
        inputs = {"svg": SHIFTED.sub(_shifted, svg.decode()), "title": title}
        fonts = typst.Fonts(include_system_fonts=False, font_paths=_fonts())
        file = typst.compile(PAGE.encode(), format=kind, ppi=PNG_DPI, font_paths=fonts, sys_inputs=inputs)
    except (typst.TypstError, UnicodeDecodeError) as error:
        raise InputError("figure", "an SVG", str(error).partition("\n")[0], "reload the page") from None
    assert isinstance(file, bytes)
    return file


def _shifted(letters: re.Match[str]) -> str:
    side = "super" if letters[0][0] in SUPERSCRIPTS else "sub"
    return f'<tspan baseline-shift="{side}" font-size="70%">{letters[0].translate(PLAIN)}</tspan>'


def _fonts() -> list[str]:
    # Source Sans, the font of the pages; what it lacks is taken from the fonts that typst brings.
    package = find_spec("font_source_sans_pro")
    assert package is not None and package.origin is not None
    return [str(Path(package.origin).parent / "files")]
