"""A server for load tests, and its processor time and memory."""

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

ROOT = Path(__file__).parents[2]


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

    def share_of_a_core(self, seconds: float) -> float:
        """Return the share of a core that the server takes over so many seconds."""
        before = self.cpu_seconds()
        time.sleep(seconds)
        return (self.cpu_seconds() - before) / seconds


@contextmanager
def serve(environment: Mapping[str, str] | None = None, script: str = "app.py") -> Iterator[Server]:
    """Start the app on a free port of this machine with a temporary store, and end it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    # As `make app` does: the package is compiled once, not at every start.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        settings = {"LRLAB_STORE": f"{folder}/trials.sqlite", "PYTHONPATH": str(ROOT), **(environment or {})}
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**inherited, **settings}
        )
        try:
            wait_until_healthy(Server(address, process))
            yield Server(address, process)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_healthy(server: Server, seconds: float = 60.0) -> None:
    """Return once the server answers; TimeoutError after so many seconds."""
    deadline = time.monotonic() + seconds
    while server.process.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise TimeoutError("the app did not start")
