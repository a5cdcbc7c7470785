"""Prepares a server once, in the background: imports, engine, store, garbage collection."""

import gc
import logging
import threading
from functools import cache


@cache
def begin() -> threading.Thread:
    """Import what every run needs, start the engine, and exclude all of that from garbage collection.

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
    from lrlab.settings import profile
    from lrlab.store.store import get_shared_store

    if profile() == "classroom":
        log = logging.getLogger("lrlab.jobs")
        log.addHandler(logging.StreamHandler())
        log.setLevel(logging.INFO)
    try:
        # The workers start while this process imports what pages need.
        engine = get_engine()
    except InputError:
        # No scheduler answers at the given address: the first Run shows the error.
        engine = None

    # The first table needs it; no first page does.
    import pandas  # noqa: F401

    # Opening a large store takes time: before the first request.
    get_shared_store()
    if engine is not None:
        engine.warm()
    # Pages compute little, and idle BLAS threads would spin on the cores that workers need. Permanently: this server
    # runs no solver itself.
    threadpool_limits(1)
    gc.collect()
    gc.freeze()
