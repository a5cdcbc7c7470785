"""Folders of uploaded files, which workers read."""

import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lrlab.engine.engine import get_engine
from lrlab.fits.uploads import Reading, carry_out
from lrlab.ui.shared import uploads

LONGEST_NAME = 80

T = TypeVar("T")


class Folder:
    """A folder for the files of one session, removed with the last reference to it or at the server's end."""

    def __init__(self) -> None:
        """Create the folder."""
        self.path = Path(tempfile.mkdtemp(prefix="lrlab-own-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def write(self, part: str, upload: Any) -> str:
        """Write an upload under its own name, and return its path in the folder; "" where there is no upload."""
        if upload is None:
            return ""
        path = self.path / part / Path(upload.name).name[-LONGEST_NAME:]
        path.parent.mkdir()
        path.write_bytes(upload.getvalue())
        return str(path.relative_to(self.path))


def read(folder: Folder, function: Callable[[Path], Any]) -> Any:
    """Return function(path of the folder), called by a worker, which may write files there."""
    reading = Reading(function, str(folder.path), {})
    if not get_engine().local:
        paths = [path for path in folder.path.rglob("*") if path.is_file()]
        reading = Reading(function, "", {str(path.relative_to(folder.path)): path.read_bytes() for path in paths})
    value, written = uploads.on_worker(carry_out, reading)
    for name, content in written.items():
        (folder.path / name).write_bytes(content)
    return value


def read_one(upload: Any, function: Callable[..., T]) -> T:
    """Return function(path of a folder, file=path in it) of a single upload, called by a worker."""
    folder = Folder()
    return read(folder, partial(function, file=folder.write("file", upload)))
