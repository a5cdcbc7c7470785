"""The embedded engine: a scheduler and single-threaded workers in a separate process, on this machine only.

That process runs this file by its path, so that neither it nor its children import the program that started it (under
Streamlit that would run the page again). It ends with that program, whose end of a pipe then closes, and takes its
workers and its folder with it. Each start makes a certificate and a key, and hands them over by a pipe: other users of
this machine may open the port, but are not heard.
"""

import asyncio
import errno
import json
import logging
import multiprocessing.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

LOCALHOST, PRELOAD = "127.0.0.1", "lrlab.engine.worker"
IDLE_WORKER_BYTES = 300 * 2**20
"""Memory of an idle worker: the interpreter and the libraries."""
MOST_SPARE_WORKERS, CLOSE_SECONDS, CONNECT_SECONDS = 64, 2.0, 5.0
LONGEST_FOLDER = 70
"""Longest path of a temporary folder, in characters: paths of sockets in it must have at most 108."""
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
CONFIG: dict[str, Any] = {
    # A job that outgrows its worker is not tried again on the others: it would end them too.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    **{f"distributed.worker.memory.{what}": False for what in ("target", "spill", "pause")},
    "distributed.worker.memory.terminate": 1.0,
    # Memory that is released after every array has to be requested, page by page, for the next one.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    # The statistical profiler interrupts a solver a hundred times per second.
    "distributed.worker.profile.enabled": False,
    # Every message with an estimate is stored as an event: few, so that memory does not grow.
    "distributed.admin.low-level-log-length": 50,
    # The library's own health checks, fifty times per second in every process, take time from the workers.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "logging": {"distributed": "error"},
}


class LocalCluster:
    """The process of the scheduler and its workers, as the program that started it sees it."""

    def __init__(self, workers: int) -> None:
        """Start `workers`, or if that is 0 one per core and spare ones."""
        from lrlab.runs.job import cores, memory_limit
        from lrlab.settings import number

        self.spare = 0 if workers else int(min(number("LRLAB_SPARE_WORKERS"), MOST_SPARE_WORKERS))
        self.memory, self.folder = memory_limit(), tempfile.mkdtemp(prefix="lrlab-")
        settings = [self.memory + IDLE_WORKER_BYTES, workers or cores() + self.spare, self.folder]
        paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._log = Path(self.folder) / "log"
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__, json.dumps(settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)},
            )

    def listening(self) -> tuple[str, dict[str, str]]:
        """Return the scheduler's address, once it listens, certificate and key; RuntimeError if it cannot start."""
        assert self.process.stdout is not None
        if line := self.process.stdout.readline():
            address, tls = json.loads(line)
            return address, tls
        raise self.not_started()

    def client(self) -> Any:
        """Return a client of the scheduler; RuntimeError with the reason if there cannot be one."""
        from distributed import Security

        address, tls = self.listening()
        untyped: Any = Security
        while True:
            try:
                return client_of(address, CONNECT_SECONDS, untyped(require_encryption=True, **tls))
            except OSError as error:
                # A busy machine may need long to answer, but no machine answers if it may open no more files.
                if (full := out_of_files(error)) or not self.alive:
                    raise self.not_started(full or str(error)) from error

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    def not_started(self, reason: str = "") -> RuntimeError:
        """End what there is, and return the sentence with the first error of the log, the cause of the others."""
        reason = shared_memory_error() or self.logged_error(0) or reason
        self.close()
        return RuntimeError(f"The engine could not be started{reason and ': ' + reason.rstrip('.')}.")

    def logged_error(self, index: int = -1) -> str:
        """Return an error in the log, by default the last, or nothing."""
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        errors = re.findall(r"^\w*(?:Error|Exception)\b:.*", text, re.M)
        return errors[index].strip().rstrip(".")[:200] if errors else ""

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def shared_memory_error() -> str:
    """Return a sentence if processes cannot share semaphores, with what to do; or nothing."""
    try:
        multiprocessing.Lock()
    except OSError as error:
        reason = error.strerror or error
        return f"workers need /dev/shm ({reason}); mount it writable, as by `mount -t tmpfs tmpfs /dev/shm`"
    return ""


def out_of_files(error: BaseException | None) -> str:
    """Return the system's words if an error, or its cause, is that too many files are open, else nothing."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return os.strerror(error.errno)
        error = error.__cause__ or error.__context__
    return ""


def client_of(address: str, seconds: float, security: Any = None) -> Any:
    """Return a client of the scheduler at an address; OSError, ValueError or TypeError if none answers."""
    from distributed import Client

    # The engine reports a lost connection in one sentence if it matters.
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # Nor does anybody need to know of callbacks of the library while this program ends.
    logging.getLogger("tornado.application").addFilter(lambda record: "new futures" not in str(record.exc_info))

    client: Any = Client.__new__(Client)
    try:
        client.__init__(address, timeout=seconds, set_as_default=False, name="lrlab", security=security)
    except BaseException:
        # One that cannot connect: the garbage collector may wait forever to close it.
        client.close()
        raise
    return client


def fork_workers() -> None:
    """Fork workers from a process that has imported all they need: they start in 0.1 s and share its memory.

    Only on Linux: elsewhere the system's libraries do not survive a fork, and each worker imports for itself.
    """
    if sys.platform == "linux" and len(tempfile.gettempdir()) < LONGEST_FOLDER:
        from multiprocessing import forkserver

        import dask

        # As the default method, which the library takes for None. Given its name, the library would import numpy,
        # pandas and more into this process.
        multiprocessing.set_start_method("forkserver")
        lazy = filter(None, os.environ.get("LRLAB_PRELOAD", "sklearn.linear_model").split(","))
        multiprocessing.set_forkserver_preload(["distributed", PRELOAD, *lazy])
        forkserver.ensure_running()
        dask.config.set({"distributed.worker.multiprocessing-method": None})


def end(folder: str = "") -> NoReturn:
    """End all workers and this process, and remove the folder, if any; in the main thread."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.name == "posix":
        # The whole group: only the process that forks workers knows of one that is being started.
        os.killpg(0, signal.SIGTERM)
    for _ in range(3 if folder else 0):
        # Processes that were ended a moment ago may still make a file.
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.02)
    shutil.rmtree(multiprocessing.util.get_temp_dir(), ignore_errors=True)
    os._exit(0)


def await_end() -> None:
    """End this process when the program that started it has closed its end of standard input, or has ended."""
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)


async def serve(memory: int, workers: int, folder: str) -> None:
    """Write the scheduler's address, certificate and key to standard output, and serve."""
    from distributed import Nanny, Scheduler, Security

    untyped: Any = Security
    quiet: dict[str, Any] = {"dashboard": False, "dashboard_address": f"{LOCALHOST}:0"}
    quiet |= {"host": LOCALHOST, "protocol": "tls", "security": (security := untyped.temporary())}
    scheduler = await Scheduler(port=0, **quiet)
    tls = {name: getattr(security, name) for name in ("tls_ca_file", "tls_client_cert", "tls_client_key")}
    # Standard output carries only this line: prints of workers go to the log.
    with os.fdopen(os.dup(1), "w") as answer:
        os.dup2(2, 1)
        print(json.dumps([scheduler.address, tls]), file=answer)
    quiet |= {"nthreads": 1, "memory_limit": memory, "local_directory": folder, "preload": [PRELOAD]}
    await asyncio.gather(*(Nanny(scheduler.address, name=k, **quiet) for k in range(workers)))
    await scheduler.finished()


def main() -> None:
    """Read the settings, and serve until the program ends that started this one."""
    memory, workers, folder = json.loads(sys.argv[1])
    if os.name == "posix":
        # Only that program decides when it ends: Ctrl-C in a terminal reaches all processes of a group.
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: end(folder))
    threading.Thread(target=await_end, daemon=True).start()
    fork_workers()

    import dask

    dask.config.set({**CONFIG, "temporary-directory": folder})
    try:
        asyncio.run(serve(memory, workers, folder))
    except Exception:
        # The folder stays for the program, which reads the reason there.
        logging.getLogger("distributed").exception("the engine's processes cannot continue")
    end()


if __name__ == "__main__":
    main()
