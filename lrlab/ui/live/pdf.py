"""Writes a figure as a PDF, with selectable text, from the SVG that a browser has drawn.

A tab posts the SVG as large as it is to be in print (`routes.py`). An SVG cannot refer to files or addresses.
"""

import re
from importlib.util import find_spec
from pathlib import Path

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


def write(figure: tuple[bytes, str]) -> bytes:
    """Return the PDF of an SVG and a title; InputError if it is not an SVG."""
    import typst

    svg, title = figure
    try:
        inputs = {"svg": SHIFTED.sub(_shifted, svg.decode()), "title": title}
        fonts = typst.Fonts(include_system_fonts=False, font_paths=_fonts())
        file = typst.compile(PAGE.encode(), format="pdf", font_paths=fonts, sys_inputs=inputs)
    except (typst.TypstError, UnicodeDecodeError) as error:
        raise InputError("figure", "an SVG", str(error).partition("\n")[0], "reload the page") from None
    assert isinstance(file, bytes)
    return file


def _shifted(letters: re.Match[str]) -> str:
    side = "super" if letters[0][0] in SUPERSCRIPTS else "sub"
    return f'<tspan baseline-shift="{side}" font-size="70%">{letters[0].translate(PLAIN)}</tspan>'


def _fonts() -> list[str]:
    # Source Sans, the font of the pages; typst's fonts supply missing characters.
    package = find_spec("font_source_sans_pro")
    assert package is not None and package.origin is not None
    return [str(Path(package.origin).parent / "files")]
