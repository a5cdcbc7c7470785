"""The store that all pages of a server share: one file, or a temporary file if that one cannot be used."""

import atexit
import os
import shutil
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from lrlab.parameters import InputError
from lrlab.store.store import Store


class SharedStore:
    """The store of a server.

    path: its file. open(): returns the store, for the calling thread. warning: empty, or the sentence why the wanted
    file cannot be used; `path` is then a temporary file, removed at the end of this process.
    """

    def __init__(self, wanted: Path) -> None:
        """Check the file once, and make it if it is missing."""
        self.path, self.warning = wanted, ""
        try:
            Store(wanted).close()
        except (InputError, RuntimeError) as error:
            folder = tempfile.mkdtemp(prefix="lrlab-store-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            self.path = Path(folder) / "temporary.sqlite"
            self.warning = f"{str(error).rstrip('.')}. Until then sweeps are stored only while this server runs."
        self.open = partial(Store, self.path)


def default_path() -> Path:
    """Return the file of the shared store: LRLAB_STORE, or `lrlab/trials.sqlite` in the user's data folder."""
    if chosen := os.environ.get("LRLAB_STORE"):
        return Path(chosen)
    usual = Path.home() / ("Library/Application Support" if sys.platform == "darwin" else ".local/share")
    return Path(os.environ.get("XDG_DATA_HOME") or usual) / "lrlab" / "trials.sqlite"


_opening = threading.Lock()
_shared = cache(SharedStore)


def get_shared_store() -> SharedStore:
    """Return the store of this process; a server opens it when it starts."""
    path = default_path()
    # Two threads would make two temporary stores.
    with _opening:
        if "LRLAB_STORE" not in os.environ:
            # If this fails, the store's warning says so.
            with suppress(OSError):
                path.parent.mkdir(parents=True, exist_ok=True)
        return _shared(path)
