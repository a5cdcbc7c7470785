"""An address as a QR code, black on white on dark pages, too: cameras read it so."""

import segno
import streamlit as st


def show(address: str, *, width: int = 220) -> None:
    """Show the QR code of an address, `width` pixels wide."""
    picture = segno.make(address, error="m", micro=False).svg_inline(border=2, dark="#000", light="#fff", scale=8)
    st.image(picture, width=width, alt=f"QR code of {address}")
