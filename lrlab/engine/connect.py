"""Connects to schedulers: the embedded one, by its certificate, or an existing one by its address."""

import errno
import logging
import os
from typing import Any

from lrlab.engine.embedded import Embedded
from lrlab.parameters import InputError

CONNECT_SECONDS = 5.0


def reach(embedded: Embedded) -> Any:
    """Return a client of the embedded scheduler, which a busy machine may have wait, for as long as its process lives.

    RuntimeError with what that said last, where it has ended, or where this process may open no more files.
    """
    from distributed import Security

    address, tls = embedded.address()
    untyped: Any = Security
    security = untyped(require_encryption=True, **tls)
    while True:
        try:
            return client_of(address, security)
        except OSError as error:
            full = out_of_files(error)
            if full or not embedded.alive:
                raise embedded.not_started(full or str(error)) from error


def out_of_files(error: BaseException | None) -> str:
    """Return the system's words where an error, or its cause, is that too many files are open, else nothing."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
            return os.strerror(error.errno)
        error = error.__cause__ or error.__context__
    return ""


def connect(address: str) -> Any:
    """Return a client of the scheduler at the address; InputError where none answers."""
    try:
        return client_of(address)
    except (OSError, ValueError, TypeError) as error:
        remedy = "start one there with `dask scheduler`, or leave it out to run on this machine"
        raise InputError("scheduler", "an address at which a dask scheduler answers", address, remedy) from error


def client_of(address: str, security: Any = None) -> Any:
    """Return a client of the scheduler at the address, with its certificate and key where it needs them."""
    from distributed import Client

    # What the library logs about lost connections, the engine reports in one sentence where it matters.
    for name in ("distributed", "distributed.client", "distributed.core", "distributed.comm"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    logging.getLogger("tornado.application").addFilter(is_relevant)

    class StartedLater(Client):
        """One that is there before it is connected, so that it can be closed where that fails.

        Left to the garbage collector, it closes itself wherever that runs: within the start of another client, too,
        which holds the lock that closing needs.
        """

        def start(self, **kwargs: Any) -> None:
            """Leave the start to who made it."""

    made: Any = StartedLater  # untyped
    client = made(address, timeout=CONNECT_SECONDS, set_as_default=False, name="lrlab", security=security)
    try:
        super(made, client).start(timeout=CONNECT_SECONDS)
    except BaseException:
        client.close()
        raise
    return client


def is_relevant(record: logging.LogRecord) -> bool:
    """Return whether a log record is about more than callbacks of the library while this program ends."""
    return not (record.exc_info and "cannot schedule new futures" in str(record.exc_info[1]))
