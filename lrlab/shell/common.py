"""Shared by all commands: exit statuses, errors on one line, strict JSON, progress."""

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any, NoReturn

from lrlab.parameters import InputError

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one line on standard error, with exit status 2."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        # argparse appends its list of choices in its own form; the message stays whole and on one line.
        self.exit(BAD_INPUT, f"{self.prog}: {' '.join(message.split())}: see {self.prog} --help\n")


def add_json(command: argparse.ArgumentParser) -> None:
    """Give a command its --json."""
    command.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def require_place(name: str, path: Path, suffix: str) -> None:
    """Raise InputError unless a file of such a suffix can be written there, as far as its name and folder show."""
    if path.suffix != suffix or not path.parent.is_dir():
        expected = f"a {suffix} file in a folder that exists"
        raise InputError(name, expected, path, f"name for example results{suffix}")


def print_json(document: Any, indent: int | None = None) -> None:
    """Print a document as strict JSON."""
    print(json.dumps(plain(document), allow_nan=False, indent=indent))


def add_settings(command: argparse.ArgumentParser, words: str) -> None:
    """Give a command its --set."""
    words = f"{words}; may be repeated"
    command.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="settings", help=words)


def plain(value: Any) -> Any:
    """Return a value for strict JSON: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def report(done: int, total: int) -> None:
    """Show how many trials are done."""
    show_progress(f"{done} of {total} trials", end="" if done < total else "\n")


def show_progress(words: str, end: str = "\r") -> None:
    """Show progress on standard error if it is a terminal, in place of what was shown last."""
    if sys.stderr.isatty():
        print(f"\r{words}", end=end, file=sys.stderr, flush=True)
