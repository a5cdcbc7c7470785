"""The embedded engine as its server sees it: processes that are started, asked for their address, and ended."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lrlab.runs.memory import memory_limit

INTERPRETER = 300 * 2**20
"""Bytes that an idle worker takes: the interpreter and the libraries."""
HOST = Path(__file__).with_name("host.py")
PARENT = Path(__file__).parents[2]
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
ERROR = re.compile(r"^\w*(Error|Exception)\b.*")


class Embedded:
    """The embedded scheduler and workers, in processes of their own; gone with this one."""

    def __init__(self, workers: int) -> None:
        """Start them: `workers` of them, or one a core where that is 0."""
        self.memory = memory_limit()
        self.folder = tempfile.mkdtemp(prefix="lrlab-")
        settings = {
            "memory": self.memory + INTERPRETER,
            "workers": workers,
            "folder": self.folder,
            "parent": os.getpid(),
        }
        paths = [str(PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._log = Path(self.folder) / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(HOST), json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)},
            )

    def address(self) -> str:
        """Return where the scheduler listens, once it does."""
        line = self._process.stdout.readline()
        if not line:
            why = self.last_words()
            self.close()
            raise RuntimeError(f"The engine could not be started{why and ': ' + why}.")
        return json.loads(line)["address"]

    @property
    def alive(self) -> bool:
        """Whether they are there."""
        return self._process.poll() is None

    def last_words(self) -> str:
        """Return the last error in their log, or nothing."""
        errors = [line for line in self._log.read_text(errors="replace").split("\n") if ERROR.match(line)]
        return errors[-1].strip().rstrip(".")[:200] if errors else ""

    def close(self) -> None:
        """End them."""
        self._process.terminate()
        try:
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
