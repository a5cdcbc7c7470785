"""PDFs of figures: their size, their text and their recipients; other content is refused."""

import asyncio
import re
import zlib

import pytest
from starlette.requests import Request

from lrlab.parameters import InputError
from lrlab.ui.live import exports, pdf
from tests.ui.live.asgi import HOST
from tests.waiting import aside

COOKIE = "0123456789abcdef" * 2
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="85mm" height="60mm" '
TEXT = '<text x="9" y="99" font-family="Source Sans Pro">‖b̂ − b‖, 10⁻³</text>'
SVG = f'{HEAD} viewBox="0 0 321 227"><path d="M0,0L9,9" stroke="red"/>{TEXT}</svg>'


def expanded(content):
    """Return a PDF with its streams as they were before they were packed."""
    parts = [content]
    for stream in re.finditer(rb"stream\r?\n(.*?)\r?\nendstream", content, re.S):
        try:
            parts.append(zlib.decompress(stream[1]))
        except zlib.error:
            continue
    return b"\n".join(parts)


def size_of(content):
    """Return width and height of the page of a PDF, in millimeters."""
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", expanded(content))
    return [float(points) / 72 * 25.4 for points in box.groups()]


def test_a_page_has_the_size_and_the_text_of_the_figure():
    written = pdf.write((SVG.encode(), "Errors <b>&amp;</b> #panic()"))
    assert written.startswith(b"%PDF") and size_of(written) == pytest.approx([85, 60], abs=0.1)
    parts = expanded(written)
    assert b"SourceSansPro" in parts and b"/ToUnicode" in parts, "letters can be searched and copied"
    assert b"/Subtype /Image" not in parts and b"/Subtype/Image" not in parts


@pytest.mark.attempt(
    "what is no figure, sent to be made a PDF: entities, references to files and addresses, bombs",
    "one sentence",
)
@pytest.mark.parametrize(
    "svg",
    [
        b"",
        b"<svg",
        b"\xff\xfe",
        b"<html></html>",
        f'{HEAD}><image xlink:href="/etc/passwd" width="9" height="9"/></svg>'.encode(),
        f'{HEAD}><image href="http://127.0.0.1:9/x.png" width="9" height="9"/></svg>'.encode(),
        b'<!DOCTYPE s [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;">'
        b'<!ENTITY d "&c;&c;&c;&c;&c;&c;"><!ENTITY e "&d;&d;&d;&d;&d;&d;">]><svg><text>&e;&e;&e;&e;&e;</text></svg>',
    ],
    ids=["nothing", "cut", "bytes", "HTML", "file", "address", "bomb"],
)
def test_what_is_no_figure_is_one_sentence(svg):
    with pytest.raises(InputError, match="figure must be an SVG"):
        pdf.write((svg, ""))


def posted(token, content, cookie=f"lrlab={COOKIE}", origin=f"http://{HOST}"):
    """Return the answer to a POST request."""
    headers = [(b"host", HOST.encode()), (b"origin", origin.encode()), (b"cookie", cookie.encode())]
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/live/{token}/pdf",
        "path_params": {"token": token},
        "query_string": b"title=Errors",
        "headers": headers,
    }
    parts = [{"type": "http.request", "body": part, "more_body": k < 1} for k, part in enumerate((content, b""))]

    async def receive():
        return parts.pop(0)

    return aside(asyncio.run, exports.answer(Request(scope, receive)))


@pytest.mark.usefixtures("engine")
def test_a_tab_gets_the_pdf_of_its_figure(followed):
    tab, _ = followed(cookie=COOKIE)
    answer = posted(tab.token, SVG.encode())
    assert (answer.status_code, answer.media_type) == (200, "application/pdf")
    assert size_of(answer.body) == pytest.approx([85, 60], abs=0.1)
    refused = posted(tab.token, b"<svg")
    assert refused.status_code == 422 and b"figure must be an SVG" in refused.body


@pytest.mark.parametrize(
    ("token", "cookie", "origin"),
    [
        ("another", f"lrlab={COOKIE}", f"http://{HOST}"),
        ("", f"lrlab={COOKIE[::-1]}", f"http://{HOST}"),
        ("", f"lrlab={COOKIE}", "https://elsewhere.example"),
    ],
    ids=["token", "cookie", "origin"],
)
def test_others_get_none(followed, token, cookie, origin):
    tab, _ = followed(cookie=COOKIE)
    assert posted(token or tab.token, SVG.encode(), cookie, origin).status_code == 403


def test_a_figure_of_any_size_does_not_fill_the_server(followed, monkeypatch):
    tab, _ = followed(cookie=COOKIE)
    monkeypatch.setattr(exports, "MOST_BYTES", 100)
    assert posted(tab.token, SVG.encode()).status_code == 413
