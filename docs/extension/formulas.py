"""Formulas as pictures that are drawn when the pages are built: readers load no library, and need no network."""

import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from typing import Any

import ziamath
from docutils.nodes import SkipNode

PIXELS = 17.0
"""Of a letter in the drawing."""
EM = 16.0
"""Of the drawing's pixels: formulas are as large as the text around them."""
# Each letter is a path of its own, so that several formulas of a page share no names.
ziamath.config.svg2 = False


@cache
def drawn(latex: str, inline: bool) -> str:
    """Return LaTeX as SVG in the color of the text around; of one within a line the baseline is the line's."""
    # Of a letter without braces the library makes a plain one.
    braced = re.sub(r"\\mathbb ([A-Z])", r"\\mathbb{\1}", latex)
    svg = ziamath.Latex(braced, size=PIXELS, inline=inline, color="currentColor", title=latex).svgxml()
    left, top, width, height = (float(number) for number in svg.attrib["viewBox"].split())
    svg.attrib |= {"role": "img", "width": f"{width / EM:.3f}em", "height": f"{height / EM:.3f}em"}
    if inline:
        svg.attrib["style"] = f"vertical-align: {-(top + height) / EM:.3f}em"
    return ElementTree.tostring(svg, encoding="unicode")


def visit_inline(visitor: Any, node: Any) -> None:
    """Write a formula within a line."""
    visitor.body.append(drawn(node.astext(), True))
    raise SkipNode


def visit_block(visitor: Any, node: Any) -> None:
    """Write a formula that stands alone."""
    visitor.body.append(f'<div class="formula">{drawn(node.astext(), False)}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_html_math_renderer("svg", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"parallel_read_safe": True}
