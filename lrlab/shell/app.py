"""python -m lrlab app: serves the pages, and opens a browser on them."""

import argparse
import os
import runpy
import socket
import sys
import threading
import time
import webbrowser
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lrlab
from lrlab import catalog
from lrlab.parameters import InputError
from lrlab.shell.common import DONE

ADDRESS = "127.0.0.1"
POLL_SECONDS = 0.2
"""Time between two looks whether the server has started."""


def add(commands: Any) -> None:
    """Add the command."""
    app = commands.add_parser("app", help="serve the pages on this machine, and open them in a browser")
    app.add_argument("--port", type=int, default=8501, metavar="N", help="of the server (default: 8501)")
    words = "your solvers and models; may be repeated"
    app.add_argument("--with", action="append", default=[], dest="plugins", metavar="FILE.py", help=words)
    words = "the file of stored trials (default: in the user's data folder)"
    app.add_argument("--store", type=Path, metavar="FILE", help=words)
    app.add_argument("--no-browser", action="store_false", dest="browser", help="open no browser")
    app.set_defaults(run=run_app)


def run_app(options: argparse.Namespace) -> int:
    """Serve the pages until the server is ended."""
    if find_spec("streamlit") is None:
        # As importing it would; the module that runs it has another error for that.
        raise ModuleNotFoundError("No module named 'streamlit'", name="streamlit")
    require_free(options.port)
    catalog.load(options.plugins)
    if options.store:
        os.environ["LRLAB_STORE"] = str(options.store.resolve())
    if options.browser:
        threading.Thread(target=open_browser, args=[options.port], daemon=True).start()
    place = "--server.address", ADDRESS, "--server.port", str(options.port)
    sys.argv = ["streamlit", "run", str(script()), *place]
    # Streamlit's own command in this process, so that signals reach the server. It ends by SystemExit.
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return DONE


def script() -> Path:
    """Return the file of the pages: `site/app.py` in an installed package (see setup.py), `app.py` in a checkout."""
    package = Path(lrlab.__file__).parent
    installed = package / "site" / "app.py"
    return installed if installed.exists() else package.parent / "app.py"


def require_free(port: int) -> None:
    """Raise InputError unless a server can be started on a port."""
    if not 1 <= port <= 65535:
        raise InputError("--port", "a whole number in 1..65535", port, "name another port")
    with socket.socket() as probe:
        # As servers do: a port whose last connections are still being closed is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            raise InputError("--port", f"free ({error.strerror})", port, "name another port") from None


def open_browser(port: int) -> None:
    """Open a browser on the server as soon as it accepts connections."""
    while True:
        time.sleep(POLL_SECONDS)
        with suppress(OSError), socket.create_connection((ADDRESS, port)):
            break
    webbrowser.open(f"http://{ADDRESS}:{port}")
