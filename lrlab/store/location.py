"""The store of the lab: one file that all pages of a server keep their trials in, or a passing one where it cannot."""

import atexit
import os
import shutil
import sys
import tempfile
import threading
from pathlib import Path

from lrlab.parameters import InputError
from lrlab.store.store import Store

LOCK_WAIT_SECONDS = 5.0
"""Seconds to wait for another process that writes: people wait in front of the page."""


class Lab:
    """The store of a server.

    path: its file. trouble: empty; or the sentence why the file that was asked for cannot be used: `path` is then a
    passing one, gone with this process.
    """

    def __init__(self, wanted: Path) -> None:
        """Look through the file once, which is made if there is none."""
        self.path, self.trouble = wanted, ""
        try:
            Store(wanted, lock_wait_seconds=LOCK_WAIT_SECONDS).close()
        except (InputError, RuntimeError) as error:
            folder = tempfile.mkdtemp(prefix="lrlab-store-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            self.path = Path(folder) / "passing.sqlite"
            self.trouble = f"{str(error).rstrip('.')}. Until then sweeps are kept only while this server runs."
            Store(self.path).close()

    def open(self) -> Store:
        """Return the store, for the calling thread."""
        return Store(self.path, known=True, lock_wait_seconds=LOCK_WAIT_SECONDS)


def default_path() -> Path:
    """Return where the lab keeps its trials: LRLAB_STORE, or `lrlab/trials.sqlite` in the user's data folder."""
    if chosen := os.environ.get("LRLAB_STORE"):
        return Path(chosen)
    usual = Path.home() / ("Library/Application Support" if sys.platform == "darwin" else ".local/share")
    return Path(os.environ.get("XDG_DATA_HOME") or usual) / "lrlab" / "trials.sqlite"


_labs: dict[Path, Lab] = {}
_opening = threading.Lock()


def get_lab() -> Lab:
    """Return the lab of this process, opened once."""
    path = default_path()
    with _opening:
        if path not in _labs:
            if "LRLAB_STORE" not in os.environ:
                _make_folder(path.parent)
            _labs[path] = Lab(path)
        return _labs[path]


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        # The store then says that it cannot be written there.
        return
