"""Who is there: a key that a browser keeps, by which a server knows it again after a reload."""

import re
import secrets
from functools import cache
from typing import Any

import streamlit as st

COOKIE = "lrlab"
KEY = re.compile(r"[0-9a-f]{32}")
KEEP = """
export default ({ data }) => {
  // A year. Another tab may have been first: its key stays.
  if (!document.cookie.split("; ").some((known) => known.startsWith(`${data.name}=`))) {
    document.cookie = `${data.name}=${data.key}; path=/; max-age=31536000; SameSite=Lax`;
  }
};
"""


@cache
def _component() -> Any:
    return st.components.v2.component("lrlab_browser", html="<span></span>", js=KEEP)


def session() -> str:
    """Return the key of this browser, made where it has none."""
    key = st.session_state.get("browser:session")
    if key is None:
        told = str(st.context.cookies.get(COOKIE, ""))
        key = st.session_state["browser:session"] = told if KEY.fullmatch(told) else secrets.token_hex(16)
    return key


def keep() -> None:
    """Let the browser keep its key, once a run of a page, so that a reload finds the same one."""
    if st.context.cookies.get(COOKIE) != session():
        _component()(key="browser-session", data={"name": COOKIE, "key": session()}, height=1)
