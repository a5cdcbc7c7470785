"""Asks for the password of the teacher's page."""

import os
import time

import streamlit as st

from lrlab.parameters import InputError
from lrlab.settings import is_teacher
from lrlab.ui.shared import turns

WRONG_SECONDS = 1.0
"""After how long a wrong password is answered."""
OPENED = "teacher:opened"


def opened() -> bool:
    """Return whether this tab has given the password; ask for it where it has not."""
    if not os.environ.get("LRLAB_TEACHER_PASSWORD"):
        st.info("This page is off: set LRLAB_TEACHER_PASSWORD where the server is started.")
        return False
    if st.session_state.get(OPENED):
        return True
    with st.form("teacher-form", width=400, border=False):
        given = st.text_input("Password", type="password", key="teacher-password")
        pressed = st.form_submit_button("Open")
    try:
        if pressed and is_teacher(given):
            st.session_state[OPENED] = True
            st.rerun()
    except InputError as error:
        st.error(str(error))
        return False
    if pressed:
        with turns.pause():
            time.sleep(WRONG_SECONDS)
        st.error("password must be the one that the server was given, got another one: try again")
    return False
