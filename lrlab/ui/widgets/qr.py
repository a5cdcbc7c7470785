"""An address as a QR code, black on white on dark pages, too: cameras read it so."""

from functools import lru_cache

import segno
import streamlit as st


@lru_cache(maxsize=64)
def picture(address: str) -> str:
    """Return the QR code of an address as SVG."""
    return segno.make(address, error="m", micro=False).svg_inline(border=2, dark="#000", light="#fff", scale=8)


def show(address: str, *, width: int = 220) -> None:
    """Show the QR code of an address, `width` pixels wide."""
    st.image(picture(address), width=width, alt=f"QR code of {address}")
