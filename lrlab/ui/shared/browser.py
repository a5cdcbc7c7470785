"""Identifies a browser by a key in a cookie, so that a reload finds its runs again."""

import re
import secrets
from functools import cache
from typing import Any

import streamlit as st

COOKIE = "lrlab"
KEY = re.compile(r"[0-9a-f]{32}")
STORE_COOKIE = """
export default ({ data }) => {
  // For a year. Another tab may have stored its key first: that one stays.
  if (!document.cookie.split("; ").some((cookie) => cookie.startsWith(`${data.name}=`))) {
    document.cookie = `${data.name}=${data.key}; path=/; max-age=31536000; SameSite=Lax`;
  }
};
"""


@cache
def _component() -> Any:
    return st.components.v2.component("lrlab_browser", html="<span></span>", js=STORE_COOKIE)


def browser_key() -> str:
    """Return the key of this browser; a new one where it has none."""
    key = st.session_state.get("browser:session")
    if key is None:
        cookie = str(st.context.cookies.get(COOKIE, ""))
        key = st.session_state["browser:session"] = cookie if KEY.fullmatch(cookie) else secrets.token_hex(16)
    return key


def store_key(page: str) -> None:
    """Store the key in the browser, once per run of a page, so that a reload finds the same one."""
    if st.context.cookies.get(COOKIE) != browser_key():
        _component()(key=f"browser-session-{page}", data={"name": COOKIE, "key": browser_key()}, height=1)
