"""Shared by all commands: exit statuses, errors on one line, strict JSON, progress."""

import argparse
import errno
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

from lrlab.parameters import InputError, counted, printable

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
OUTPUT = "Standard output"
"""Its name in messages."""
_outputs: list[TextIO | None] = []
"""Standard output of the command that runs, while all else that is printed goes to standard error."""


@contextmanager
def separate_output() -> Iterator[None]:
    """Let only `say` and `print_json` write to standard output: plugins that print write to standard error.

    A warning is one line, without the place in the code that Python would add.
    """
    # Python sets a stream that is closed at the start to None.
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (until the process ends)
    with _own_descriptor(sys.stdout) as own:
        _outputs.append(own)
        before, warnings.formatwarning = warnings.formatwarning, lambda message, *_, **__: f"{printable(message)}\n"
        with suppress(AttributeError):
            # An encoding such as cp1252 lacks characters that texts have: a code takes the place of each.
            own.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        try:
            with redirect_stdout(sys.stderr):
                yield
        finally:
            warnings.formatwarning = before
            _outputs.pop()


@contextmanager
def _own_descriptor(output: TextIO | None) -> Iterator[TextIO | None]:
    """Give the process's standard output a new descriptor, and let descriptor 1 lead to standard error.

    So libraries that write to descriptor 1, and code that prints to `sys.__stdout__`, do not reach it either.
    """
    if output is None or sys.__stdout__ is None or output is not sys.__stdout__:
        yield output
        return
    output.flush()
    saved = os.dup(1)
    try:
        with suppress(OSError):
            os.dup2(2, 1)
        with open(saved, "w", encoding=output.encoding, closefd=False) as own:
            yield own
    finally:
        with suppress(OSError):
            output.flush()
        os.dup2(saved, 1)
        os.close(saved)


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one line on standard error, with exit status 2."""

    def _print_message(self, message: str, file: Any = None) -> None:
        # Help and version, which argparse would print to the `sys.stdout` of the moment.
        say(message.rstrip("\n"))

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        # argparse appends its list of choices in its own form; the message stays whole and on one line.
        complain(f"{self.prog}: {' '.join(message.split())}: see {self.prog} --help")
        self.exit(BAD_INPUT)


def add_json(command: argparse.ArgumentParser) -> None:
    """Give a command its --json."""
    command.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def require_place(name: str, path: Path, suffix: str, *read: object) -> None:
    """Raise InputError unless a file of such a suffix can be written there and is none of those that are read."""
    if path.suffix != suffix or not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        expected = f"a {suffix} file in a folder that can be written to"
        raise InputError(name, expected, path, f"name for example results{suffix}")
    if os.path.abspath(path) in {os.path.abspath(str(file)) for file in read if file}:
        raise InputError(name, "another file than those that are read", path, "name a new one")


def output() -> TextIO | None:
    """Return standard output, None if it is closed."""
    return _outputs[-1] if _outputs else sys.stdout


def say(text: object = "", file: TextIO | None = None) -> None:
    """Print a text; all that the shell prints goes through here, for names in files may hold control characters."""
    _write(printable(text), file or output())


def complain(sentence: object) -> None:
    """Print what ended the command, on standard error as far as it can be written."""
    with suppress(OSError):
        say(sentence, sys.stderr)


def _write(text: str, file: TextIO | None, end: str = "\n", flush: bool = False) -> None:
    try:
        if file is None:
            raise OSError(errno.EBADF, "closed")
        print(text, file=file, end=end, flush=flush or file is sys.stderr)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, OUTPUT) from error


def flush() -> None:
    """Flush standard output; OSError if that fails."""
    if (file := output()) is not None:
        _write("", file, end="", flush=True)


def drop_output() -> None:
    """Drop buffered output, which would raise an error again at the end of the process."""
    with suppress(OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output().fileno())  # type: ignore[union-attr]


@contextmanager
def resumable(words: Callable[[], str]) -> Iterator[None]:
    """Add the stored trials, and how to resume, to the message of an early end."""
    try:
        yield
    except KeyboardInterrupt as end:
        raise type(end)(words()) from end
    except RuntimeError as error:
        raise RuntimeError(f"{error} {words()}") from error


def print_json(document: Any, indent: int | None = None) -> None:
    """Print a document as strict JSON; numbers that are not finite become null."""
    finite = json.loads(json.dumps(document), parse_constant=lambda name: None)
    _write(json.dumps(finite, allow_nan=False, indent=indent), output())


def add_settings(command: argparse.ArgumentParser, words: str) -> None:
    """Give a command its --set."""
    words = f"{words}; may be repeated"
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings", help=words)


def report(done: int, total: int) -> None:
    """Show how many trials are done, on standard error if it is a terminal, instead of the last progress."""
    if sys.stderr.isatty():
        _write(f"\r{done:,} of {counted(total, 'trial')}", sys.stderr, end="" if done < total else "\n")
