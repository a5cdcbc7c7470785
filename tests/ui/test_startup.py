"""The preparation of a server."""

import pytest
import streamlit as st

from lrlab.ui import startup


@pytest.mark.attempt("`clear_cache` by any session", "the server is prepared once")
def test_a_server_is_prepared_once_whatever_a_session_clears():
    began = startup.begin()
    # As Streamlit does when a browser sends `clear_cache`.
    st.cache_data.clear()
    st.cache_resource.clear()
    assert startup.begin() is began
    began.join()
