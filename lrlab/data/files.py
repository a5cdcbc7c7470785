"""Opens files for all readers: their text within a memory limit, and errors that name the line."""

import bz2
import gzip
import math
import re
import zlib
from collections.abc import Callable
from io import BufferedIOBase, BufferedReader
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from lrlab.parameters import InputError

File = str | PathLike[str]
LIMIT_BYTES = 4 * 2**30
"""Default limit on the memory that reading a file may take."""
GROWTH = 20
"""Bytes of memory that one byte of text may take; 4 to 8 are usual."""
COLUMN_BYTES = 64
"""Least bytes of memory per column, for vectors over all columns."""
MAX_COLUMNS = 100_000
"""Most columns of a table."""
MAX_RATIO, RATIO_FROM = 200, 2**26
"""Beyond RATIO_FROM bytes, a packed file that grows by more than the ratio holds no data."""
UNPACKERS: dict[bytes, Callable[[BufferedReader], BufferedIOBase]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
OTHERS = {b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7z", b"Rar!": "rar", b"\x28\xb5\x2f\xfd": "zstd"}
OTHERS |= dict.fromkeys(UNPACKERS, "twice packed")
"""Packings that lrlab does not open, by the first bytes of a file."""
YES, NO, UNKNOWN = ("true", "yes", "t", "y"), ("false", "no", "f", "n"), ("?", "", "nan", "na")


class Source(NamedTuple):
    """A file to read, the name of its format, and a limit on memory."""

    path: Path
    kind: str
    limit_bytes: int = LIMIT_BYTES

    def size(self) -> int:
        """Return the size of a regular file that fits the limit."""
        try:
            regular, size = self.path.is_file(), self.path.stat().st_size
        except (OSError, ValueError) as error:
            raise self.unreadable(error) from None
        if not regular:
            raise InputError("file", "a regular file", self.path.name, "name the file itself")
        self.require_room(size, "data")
        return size

    def content(self) -> bytes:
        """Return a whole text file, unpacked; InputError if it would exceed the limit."""
        size, most = self.size(), self.limit_bytes // GROWTH
        try:
            with self.path.open("rb") as packed:
                opener = next((one for mark, one in UNPACKERS.items() if packed.peek(8).startswith(mark)), None)
                most = min(most, max(RATIO_FROM, MAX_RATIO * size)) if opener else most
                large = size > most
                content = b"" if large else opener(packed).read(most + 1) if opener else packed.read()
        except (EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise self.unreadable(error) from None
            raise self.damaged(error, "pack it again, or unpack it first", "gzip or bzip2") from None
        if kind := next((name for mark, name in OTHERS.items() if content.startswith(mark)), ""):
            got = f"{self.path.name}, a {kind} file"
            raise InputError("file", "plain text, or text packed by gzip or bzip2", got, "unpack it first")
        if large or len(content) > most:
            expected = f"at most {megabytes(most)} unpacked (reading takes up to {GROWTH} times that)"
            remedy = "unpack it first, split it, or raise limit_bytes if this machine has the memory"
            raise InputError("file", expected, f"{self.path.name}, which is larger", remedy)
        return content

    def text(self) -> tuple[str, str]:
        """Return the text of a file, and its encoding unless it is UTF-8 or UTF-16."""
        raw = self.content()
        wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        if not wide and b"\0" in raw:
            line = raw[: raw.index(b"\0")].count(b"\n") + 1
            raise self.refuse(line, "no NUL bytes", "one", "save the file as UTF-8 text")
        try:
            return raw.decode("utf-16" if wide else "utf-8-sig"), ""
        except UnicodeDecodeError as error:
            try:
                return raw.decode("utf-16" if wide else "cp1252"), "Windows-1252"
            except UnicodeDecodeError:
                line, need = raw[: error.start].count(b"\n") + 1, "UTF-16 text" if wide else "UTF-8 text"
                raise self.refuse(line, need, raw[error.start :][:20], "save the file as UTF-8") from None

    def lines(self) -> list[str]:
        """Return the lines of a file."""
        return split_lines(self.text()[0])

    def require_few(self, count: int, what: str, most: int = MAX_COLUMNS) -> None:
        """Raise InputError for too many columns or names."""
        if count > most:
            got = f"{printable(self.path.name)} with {count:,}"
            raise InputError("file", f"at most {most:,} {what}", got, "leave some out, or write svmlight or .npz")

    def require_room(self, size: int, what: str) -> None:
        """Raise InputError for data that would exceed the limit, before they are in memory."""
        if size > self.limit_bytes:
            expected = f"of a size that fits the limit of {megabytes(self.limit_bytes)}"
            got = f"{printable(self.path.name)} with {megabytes(size)} of {what}"
            raise InputError("file", expected, got, f"raise limit_bytes to {size} if this machine has that memory")

    def require_columns(self, count: int) -> None:
        """Raise InputError for too many columns, even if a file has few entries."""
        self.require_room(count * COLUMN_BYTES, f"vectors over {count:,} columns")

    def refuse(self, line: int, need: str, got: bytes | str, remedy: str) -> InputError:
        """Return the error for a line: its number, the expected form, the content and the remedy."""
        excerpt = got[:80].decode(errors="replace") if isinstance(got, bytes) else got[:80]
        expected = f"{self.kind} with {need} in line {line} of {self.path.name}"
        return InputError("file", printable(expected), printable(excerpt) or "nothing", printable(remedy))

    def unreadable(self, error: Exception) -> InputError:
        """Return the error for a file that the system cannot open."""
        reason = getattr(error, "strerror", None) or str(error)
        return InputError("file", f"readable {self.kind}", f"{printable(self.path.name)} ({reason})", "check the path")

    def damaged(self, error: Exception, remedy: str, kind: str = "") -> InputError:
        """Return the error for a file that a library cannot read."""
        got = f"{printable(self.path.name)} ({' '.join(str(error or type(error).__name__).split())[:200]})"
        return InputError("file", f"a whole {kind or self.kind} file", got, remedy)


def data_suffix(path: Path) -> str:
    """Return the suffix that names the format: .csv for rows.csv.gz."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in (".gz", ".bz2") else suffix


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with the line endings of any system."""
    return re.split(r"\r\n|\n|\r", text)


def printable(text: str) -> str:
    """Return text that any terminal and page can show, with replacement characters for all others."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text).strip()


def megabytes(size: float) -> str:
    """Return a size in words."""
    return f"{size / 1e6:.3g} MB" if size < 1e9 else f"{size / 1e9:.3g} GB"


def number(text: str) -> float | None:
    """Return a finite decimal number, or None for anything else."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def label_value(text: str) -> float | None:
    """Return 1 for a positive label, 0 for a negative one, nan for an unknown one, None for anything else."""
    word = text.strip().lower()
    if word in UNKNOWN:
        return math.nan
    value = number(word)
    if value in (1, 0, -1):
        return float(value > 0)
    return 1.0 if word in YES else 0.0 if word in NO else None
