"""What all readers share: a file's lines with their numbers, its size beside the limit, and one form of refusal."""

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lrlab.data.unpacking import PIECE_BYTES, opened, unpacked_size
from lrlab.parameters import InputError

LIMIT_BYTES = 4 * 2**30
"""Default limit on the memory that reading a file may take."""
GROWTH = 20
"""Bytes of memory that a byte of text becomes at worst, in rows of one digit a number; 4 to 8 are usual."""
WORDS_GROWTH = 80
"""The same for names and for fields that are held as text."""
COLUMN_BYTES = 64
"""Bytes that a column takes at least in what is made of a table: some vectors over all columns."""
MAX_NAMES = 2**20
"""Most labels of an XML file: each takes 300 bytes and more."""
MAX_COLUMNS = 100_000
"""Most columns of CSV, or attributes and listed values of ARFF: a million take seconds to read, and no fit ends."""
MAX_LINE_BYTES = 2**25
NUMBER = rb"[-+]?+(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?+\d++)?+"
_NUMBER = re.compile(NUMBER.decode(), re.ASCII)

YES = ("true", "yes", "t", "y")
NO = ("false", "no", "f", "n")
UNKNOWN = ("?", "", "nan", "na")
Line = tuple[int, bytes]
"""The number of a line, from 1, and what stands in it."""


class Source(NamedTuple):
    """A file that is being read, and what it is read as; `limit`: how many of its rows, 0 for all."""

    path: Path
    kind: str
    limit: int = 0

    def check_size(self, limit_bytes: int, growth: int = GROWTH) -> None:
        """Refuse what is no file, and what could outgrow the limit, before anything is read."""
        try:
            regular, size = self.path.is_file(), self.path.stat().st_size
        except (OSError, ValueError) as error:
            raise self.unreadable(error) from None
        if not regular:
            raise InputError("file", "a regular file", self.path.name, "name the file itself")
        if self.limit and growth > 1:
            # Of a file of any size its first rows can be read.
            return
        if growth > 1 and size * growth <= limit_bytes:
            size = self._unpacked_size(limit_bytes // growth)
        if size * growth > limit_bytes:
            expected = f"at most {megabytes(limit_bytes / growth)} (reading takes {growth} times that at worst)"
            remedy = f"raise limit_bytes to {size * growth} if this machine has that memory, or split the file"
            raise InputError("file", expected, f"{self.path.name} of {megabytes(size)}", remedy)

    def _unpacked_size(self, most: int) -> int:
        try:
            return unpacked_size(self.path, most)
        except OSError as error:
            raise self.unreadable(error) from None

    def lines(self) -> Iterator[Line]:
        r"""Yield line numbers from 1 and lines without their ending, which may be \n, \r\n or \r."""
        number = 0
        try:
            with opened(self.path) as stream:
                while raw := stream.readline(MAX_LINE_BYTES + 1):
                    if len(raw) > MAX_LINE_BYTES or b"\0" in raw:
                        need = f"lines of at most {megabytes(MAX_LINE_BYTES)} without NUL bytes"
                        raise self.refuse(number + 1, need, raw, "save it as UTF-8 text, a row in a line")
                    for line in raw.splitlines():
                        number += 1
                        yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        except OSError as error:
            raise self.unreadable(error) from None

    def content(self) -> bytes:
        """Return all of a file as UTF-8, unpacked."""
        try:
            with opened(self.path) as stream:
                return b"".join(iter(lambda: stream.read(PIECE_BYTES), b""))
        except OSError as error:
            raise self.unreadable(error) from None

    def require_few(self, marks: bytes, what: str, end: re.Pattern[bytes] | None = None, most: int = MAX_NAMES) -> None:
        """Refuse a file with more than `most` of some characters, counted before anything is formed of it.

        end: where the part that counts ends; where it is not found, all of the file counts.
        """
        count, tail = 0, b""
        with opened(self.path) as stream:
            while piece := stream.read(PIECE_BYTES):
                last = end.search(tail + piece) if end else None
                count += sum(piece.count(marks[k : k + 1]) for k in range(len(marks)))
                if last:
                    break
                if count > most:
                    got = f"{printable(self.path.name)} with more"
                    raise InputError("file", f"at most {most:,} {what}", got, "leave some out, or write svmlight")
                tail = piece[-16:]

    def complete(self, rows: int) -> bool:
        """Return whether so many rows are all that is read."""
        return 0 < self.limit <= rows

    def text(self, line: int, raw: bytes) -> str:
        """Decode a line, which must be UTF-8."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            raise self.refuse(line, "UTF-8 text", raw, "save the file as UTF-8") from None

    def refuse(self, line: int, need: str, got: bytes | str, remedy: str) -> InputError:
        """Return the error that names the line, what was expected there, and what stands there."""
        excerpt = got[:80].decode(errors="replace") if isinstance(got, bytes) else got[:80]
        expected = f"{self.kind} with {need} in line {line} of {self.path.name}"
        return InputError("file", printable(expected), printable(excerpt) or "nothing", printable(remedy))

    def unreadable(self, error: Exception) -> InputError:
        """Return the error for a file that the system does not give."""
        reason = getattr(error, "strerror", None) or str(error)
        return InputError("file", f"readable {self.kind}", f"{printable(self.path.name)} ({reason})", "check the path")


def require_room(source: Source, size: int, limit_bytes: int, what: str) -> None:
    """Refuse tables that would outgrow the limit before they are formed."""
    if size > limit_bytes:
        expected = f"of a size that fits the limit of {megabytes(limit_bytes)}"
        got = f"{printable(source.path.name)} with {megabytes(size)} of {what}"
        raise InputError("file", expected, got, f"raise limit_bytes to {size} if this machine has that memory")


def require_columns(source: Source, count: int, limit_bytes: int) -> None:
    """Refuse more columns than vectors over them have room for, however few entries a file has."""
    require_room(source, count * COLUMN_BYTES, limit_bytes, f"vectors over {count:,} columns")


def printable(text: str) -> str:
    """Return text that any terminal and page can show: what cannot be encoded or printed becomes a question mark."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text).strip()


def megabytes(size: float) -> str:
    """Return a size in words."""
    return f"{size / 1e6:.3g} MB" if size < 1e9 else f"{size / 1e9:.3g} GB"


def number(text: str) -> float | None:
    """Return a finite decimal number, or None for anything else."""
    text = text.strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def label_value(text: str) -> float | None:
    """Return 1 for a label that applies, 0 for one that does not, nan for one not observed, None for anything else."""
    word = text.strip().lower()
    if word in UNKNOWN:
        return math.nan
    value = number(word)
    if value in (1, 0, -1):
        return float(value > 0)
    return 1.0 if word in YES else 0.0 if word in NO else None
