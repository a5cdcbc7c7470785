"""Starts and ends the processes of the embedded engine: a scheduler and its workers."""

import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lrlab.runs.memory import memory_limit
from lrlab.settings import number

IDLE_WORKER_BYTES = 300 * 2**20
"""Memory of an idle worker: the interpreter and the libraries."""
CLOSE_SECONDS = 2.0
MOST_SPARE_WORKERS = 64
"""Workers beyond the cores: one for followed jobs alone, one for work that has no task under way, see `dispatch`."""
HOST_SCRIPT = Path(__file__).with_name("host.py")
PACKAGE_PARENT = Path(__file__).parents[2]
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
ERROR_LINE = re.compile(r"^\w*(Error|Exception)\b:.*")


class Embedded:
    """The embedded scheduler and workers, in processes of their own, which end with this one."""

    def __init__(self, workers: int) -> None:
        """Start them: `workers` of them, or where that is 0 one per core and spare ones."""
        from dask.system import CPU_COUNT

        self.spare = 0 if workers else int(min(number("LRLAB_SPARE_WORKERS"), MOST_SPARE_WORKERS))
        self.memory = memory_limit()
        self.folder = tempfile.mkdtemp(prefix="lrlab-")
        settings = {
            "memory": self.memory + IDLE_WORKER_BYTES,
            "workers": workers or CPU_COUNT + self.spare,
            "folder": self.folder,
            "parent": os.getpid(),
        }
        paths = [str(PACKAGE_PARENT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._log = Path(self.folder) / "log"
        # Processes that write at once write one after another.
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(HOST_SCRIPT), json.dumps(settings)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)},
            )

    def address(self) -> tuple[str, dict[str, str]]:
        """Return the scheduler's address, once it listens, and certificate and key; RuntimeError if it cannot start."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self.not_started()
        answer = json.loads(line)
        return answer["address"], answer["tls"]

    def not_started(self, reason: str = "") -> RuntimeError:
        """End what there is of the processes, and return the sentence with what their log, or else `reason`, says."""
        # The first error of a chain is the cause of the others.
        reason = shared_memory_error() or self.logged_error(0) or reason
        self.close()
        return RuntimeError(f"The engine could not be started{reason and ': ' + reason.rstrip('.')}.")

    @property
    def alive(self) -> bool:
        """Whether the processes run."""
        return self._process.poll() is None

    def logged_error(self, place: int = -1) -> str:
        """Return an error in their log, by default the last, or nothing."""
        errors = [line for line in self._log.read_text(errors="replace").split("\n") if ERROR_LINE.match(line)]
        return errors[place].strip().rstrip(".")[:200] if errors else ""

    def close(self) -> None:
        """End them."""
        assert self._process.stdout is not None
        self._process.terminate()
        try:
            self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def shared_memory_error() -> str:
    """Return what is wrong with the semaphores that processes share and what to do, or nothing."""
    try:
        multiprocessing.Lock()
    except OSError as error:
        reason = error.strerror or error
        return f"workers need /dev/shm ({reason}); mount it writable, as by `mount -t tmpfs tmpfs /dev/shm`"
    return ""
