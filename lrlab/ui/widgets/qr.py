"""An address as a QR code, black on white on dark pages, too: cameras read it so."""

from urllib.parse import urlsplit

import segno
import streamlit as st

LOCAL = ("127.0.0.1", "localhost", "::1")


def show(address: str, *, width: int = 220) -> None:
    """Show the QR code of an address, `width` pixels wide, and say if no phone can open it."""
    picture = segno.make(address, error="m", micro=False).svg_inline(border=2, dark="#000", light="#fff", scale=8)
    st.image(picture, width=width, alt=f"QR code of {address}")
    if urlsplit(address).hostname in LOCAL:
        st.caption("Only this machine opens this address: see *Serve a class* in the documentation.")
