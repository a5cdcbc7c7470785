"""What is done once a server, in the background, while the first page is read."""

import gc
import threading

import streamlit as st


@st.cache_resource(show_spinner=False)
def begin() -> threading.Thread:
    """Import what every run needs, start the engine, and take all of that out of garbage collection.

    Streamlit collects all garbage after every run of a page; with plotly, pandas and the engine imported that takes
    longer than the run itself, unless they are frozen.
    """
    thread = threading.Thread(target=_warm, name="lrlab-startup", daemon=True)
    thread.start()
    return thread


def _warm() -> None:
    from threadpoolctl import threadpool_limits

    from lrlab.engine.engine import get_engine
    from lrlab.parameters import InputError
    from lrlab.store.location import get_lab

    try:
        # The workers start while this process imports what pages need.
        engine = get_engine()
    except InputError:
        # No scheduler answers at the address that was given: the first Run says so where it can be read.
        engine = None

    # A large store is looked through before anybody asks for it.
    get_lab()
    if engine is not None:
        engine.warm()
    # What pages work out is tiny, and threads of BLAS that wait for it spin on the cores that workers need. For good:
    # this server solves nothing itself.
    threadpool_limits(1)
    gc.collect()
    gc.freeze()
