"""The app as a server of this machine, its processor time and memory."""

import os
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.waiting import until

ROOT = Path(__file__).parents[1]


class Server(NamedTuple):
    """A running server: its address and its process."""

    address: str
    process: subprocess.Popen[bytes]

    def cpu_seconds(self) -> float:
        """Return the processor time of the server itself, without its workers."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def memory_bytes(self) -> int:
        """Return the resident memory of the server itself."""
        return int(psutil.Process(self.process.pid).memory_info().rss)


def healthy(address: str) -> bool:
    """Return whether a server answers."""
    with suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=2):
        return True
    return False


@contextmanager
def serve(environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start the app on a free port of this machine with a temporary store, and end it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    # As `make app` does: the package is compiled once, not at every start.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        settings = {"LRLAB_STORE": f"{folder}/trials.sqlite", "PYTHONPATH": str(ROOT), **(environment or {})}
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**inherited, **settings}
        )
        try:
            until(lambda: process.poll() is not None or healthy(address))
            assert process.poll() is None, "the app did not start"
            yield Server(address, process)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
