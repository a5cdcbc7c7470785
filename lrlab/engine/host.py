"""The embedded engine's own process: a scheduler, and single-threaded workers, on this machine alone.

Run by path, not as a module, so that neither this process nor the children that multiprocessing starts from it import
the program that started it (under Streamlit that would run the page again). It ends with the process that started
it, however that one ends, and takes its workers and its folder with it.

    python -P host.py '{"memory": bytes per worker, "workers": number, "folder": path, "parent": pid}'

One line of JSON on standard output says where the scheduler listens, and with which certificate and key it is reached:
{"address": ..., "workers": ..., "tls": ...}. They are made anew at each start and are in memory alone: whoever may open
the port, as other users of this machine may, is not heard without them.
"""

import asyncio
import json
import logging
import multiprocessing
import os
import shutil
import signal
import sys
import threading
import time
from contextlib import suppress
from multiprocessing import forkserver, util
from typing import Any, NoReturn, TextIO

LOCALHOST = "127.0.0.1"
PRELOAD = "lrlab.engine.worker"
LAZY_IMPORTS = [name for name in os.environ.get("LRLAB_PRELOAD", "sklearn.linear_model").split(",") if name]
"""What a solver imports when it is called, so that the package is quick to import, and a worker before."""
PARENT_CHECK_SECONDS, MEMORY_CHECK_SECONDS = 0.2, 0.1
REMOVALS, REMOVAL_SECONDS = 3, 0.02
_ending = threading.RLock()
WATCHES_MEMORY = os.path.exists("/proc/self/statm")
"""Whether this process looks after the memory of its workers itself, see `watch_memory`."""

CONFIG: dict[str, Any] = {
    # A job that outgrows its worker is not tried again on the others: it would end them too.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": 1.0,
    **({"distributed.worker.memory.monitor-interval": "1h"} if WATCHES_MEMORY else {}),
    # Memory that is released after every array has to be requested, page by page, for the next one.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None,
    # The statistical profiler interrupts a solver a hundred times a second.
    "distributed.worker.profile.enabled": False,
    "logging": {"distributed": "error"},
    # Every message with an estimate is stored as an event: few, so that memory does not grow.
    "distributed.admin.low-level-log-length": 50,
    # The library's own health checks, fifty times a second in every process, take time from the workers.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}


def fork_workers() -> None:
    """Fork workers from a process that has imported all they need: they start in 0.1 s and share its memory.

    Only on Linux: elsewhere the system's libraries do not survive a fork, and each worker imports for itself.
    """
    if sys.platform != "linux":
        return
    # As the default method, which the library takes for None. Given its name, it would have this process import numpy,
    # pandas and more, which only workers need.
    multiprocessing.set_start_method("forkserver")
    multiprocessing.set_forkserver_preload(["distributed", PRELOAD, *LAZY_IMPORTS])
    # It imports for a second or two: at once, beside this process, and not when the first worker is asked for.
    forkserver.ensure_running()

    import dask

    dask.config.set({"distributed.worker.multiprocessing-method": None})


def end(folder: str = "") -> NoReturn:
    """End all workers and this process, and remove the folder if it is named."""
    # Where workers are killed, the thread that serves fails and comes here as well: it must not cut the removal off.
    _ending.acquire()
    if threading.current_thread() is threading.main_thread():
        # Elsewhere the main thread gets the signal and waits above.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.name == "posix" and os.getpgrp() == os.getpid():
        # The whole group: of a worker that is being started only the process that forks it knows.
        os.killpg(0, signal.SIGTERM)
    else:
        for worker in multiprocessing.active_children():
            worker.kill()
    if folder:
        remove(folder)
    shutil.rmtree(util.get_temp_dir(), ignore_errors=True)
    os._exit(0)


def remove(folder: str) -> None:
    """Remove a folder in which processes that were ended a moment ago may still make a file."""
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(REMOVAL_SECONDS)


def end_with(parent: int, folder: str) -> NoReturn:
    """End when the process that started this one has ended: an orphan gets another parent."""
    while os.getppid() == parent:
        time.sleep(PARENT_CHECK_SECONDS)
    end(folder)


async def watch_memory(nannies: list[Any], memory: int) -> None:
    """End workers that outgrow their limit of memory, and let clients know.

    A nanny's own look takes half a millisecond; ten a second at four workers were 2% of a core, at rest, too. A look at
    /proc takes a tenth of that time.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    while True:
        await asyncio.sleep(MEMORY_CHECK_SECONDS)
        for nanny in nannies:
            # A worker that starts or ends has no process for a moment.
            with suppress(OSError, TypeError), open(f"/proc/{nanny.pid}/statm", "rb") as statm:
                if page * int(statm.read().split()[1]) > memory:
                    nanny.log_event("worker-restart-memory", {"worker": nanny.worker_address})
                    os.kill(nanny.pid, signal.SIGKILL)


async def serve(memory: int, workers: int, folder: str, answer: TextIO) -> None:
    """Say in `answer` where, and serve until the process is ended."""
    from distributed import Nanny, Scheduler
    from distributed.security import Security

    untyped: Any = Security
    security = untyped.temporary()
    quiet: dict[str, Any] = {"dashboard": False, "dashboard_address": f"{LOCALHOST}:0"}
    quiet |= {"protocol": "tls", "security": security}
    scheduler = await Scheduler(host=LOCALHOST, port=0, **quiet)
    tls = {name: getattr(security, name) for name in ("tls_ca_file", "tls_client_cert", "tls_client_key")}
    with answer:
        print(json.dumps({"address": scheduler.address, "workers": workers, "tls": tls}), file=answer)
    settings: dict[str, Any] = {
        "nthreads": 1,
        "memory_limit": memory,
        "local_directory": folder,
        "host": LOCALHOST,
        "preload": [PRELOAD],
    }
    nannies = [Nanny(scheduler.address, name=k, **settings, **quiet) for k in range(workers)]
    await asyncio.gather(*nannies)
    watch = asyncio.create_task(watch_memory(nannies, memory)) if WATCHES_MEMORY else None
    await scheduler.finished()
    if watch:
        watch.cancel()


def main() -> None:
    """Read the settings, watch for the end of the parent process, serve."""
    settings = json.loads(sys.argv[1])
    folder = settings["folder"]
    # Whether the engine ends is the server's decision: Ctrl-C in a terminal reaches all processes of a group.
    if os.name == "posix" and os.getpgrp() != os.getpid():
        os.setpgid(0, 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, frame: end(folder))
    threading.Thread(target=end_with, args=(settings["parent"], folder), daemon=True).start()
    # The pipe is for one line, which nobody reads beyond: whatever a worker prints goes to the log.
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    fork_workers()

    import dask

    dask.config.set({**CONFIG, "temporary-directory": folder})
    try:
        asyncio.run(serve(settings["memory"], settings["workers"], folder, answer))
    except Exception:
        # The folder stays for the server, which reads the reason there.
        logging.getLogger("distributed").exception("the engine's processes cannot continue")
    end("" if os.getppid() == settings["parent"] else folder)


if __name__ == "__main__":
    main()
