"""Opens files for all readers within a memory limit: text, and numpy's .npz without pickles. Errors name the line."""

import bz2
import codecs
import gzip
import io
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedIOBase, BufferedReader
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lrlab.arrays import Vector
from lrlab.parameters import InputError

File = str | PathLike[str]
Names = tuple[str, ...]
LIMIT_BYTES = 4 * 2**30
"""Limit on the memory that reading a file may take."""
GROWTH = 20
"""Bytes of memory that one byte of text may take; 4 to 8 are usual."""
COLUMN_BYTES = 64
"""Least bytes of memory per column, for vectors over all columns."""
MAX_COLUMNS = 100_000
"""Most columns of a table."""
MAX_RATIO, RATIO_FROM = 200, 2**26
"""Beyond RATIO_FROM bytes, a packed file that grows by more than the ratio holds no data."""
UNPACKERS: dict[bytes, Callable[[BufferedReader], BufferedIOBase]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
LISTS = ("feature_names", "label_names")
PLAIN, NUMBERS = "fiubU", "fiubcU"
"""Kinds of numpy's types: names with real numbers, and also complex ones."""


class Source(NamedTuple):
    """A file to read, and the name of its format."""

    path: Path
    kind: str

    @contextmanager
    def whole(self, what: str, remedy: str) -> Iterator[None]:
        """Turn any error into an InputError: a damaged file makes libraries raise a dozen kinds of error."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            reason = str(error) or type(error).__name__
            if isinstance(error, OSError) and error.errno is not None:
                what, reason, remedy = f"readable {self.kind}", str(error.strerror), "check the path"
            elif isinstance(error, MemoryError):
                what, remedy = "of a size that fits the memory of this machine", "close other programs, or split it"
            got = f"{printable(self.path.name)} ({' '.join(reason.split())[:200]})"
            raise InputError("file", what, got, remedy) from None

    def size(self) -> int:
        """Return the size of a regular file that fits the limit."""
        with self.whole(f"readable {self.kind}", "check the path"):
            size = self.path.stat().st_size
            if not self.path.is_file():
                raise InputError("file", "a regular file", self.path.name, "name the file itself")
        self.require_room(size, "data")
        return size

    def content(self) -> bytes:
        """Return a whole text file, unpacked; InputError if it would exceed the limit."""
        size, most = self.size(), LIMIT_BYTES // GROWTH
        remedy = "pack it again, or unpack it first"
        with self.whole("a whole gzip or bzip2 file", remedy), self.path.open("rb") as file:
            opener = next((one for mark, one in UNPACKERS.items() if file.peek(8).startswith(mark)), None)
            most = min(most, max(RATIO_FROM, MAX_RATIO * size)) if opener else most
            # A read allocates what it asks for.
            content = opener(file).read(most + 1) if opener else file.read(min(size, most) + 1)
        if len(content) > most:
            expected = f"at most {megabytes(most)} unpacked (reading takes up to {GROWTH} times that)"
            remedy = "unpack it first, split it, or call lrlab.recover on arrays"
            raise InputError("file", expected, f"{self.path.name}, which is larger", remedy)
        return content

    def lines(self) -> tuple[list[str], str]:
        """Return the lines of a file, with the line endings of any system, and its encoding if it is an older one."""
        raw, faults = self.content(), list[UnicodeDecodeError]()
        wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        if not wide and b"\0" in raw:
            line = raw[: raw.index(b"\0")].count(b"\n") + 1
            raise self.refuse(line, "no NUL bytes", "one", "unpack it if it is packed, or save it as UTF-8 text")
        encodings = {"utf-16": ""} if wide else {"utf-8-sig": "", "cp1252": "Windows-1252"}
        for encoding, name in encodings.items():
            try:
                # Other line breaks, such as Unicode's, belong to a field.
                return re.split(r"\r\n|\n|\r", raw.decode(encoding)), name
            except UnicodeDecodeError as error:
                faults.append(error)
        # A good letter of UTF-8 may be a fault of Windows-1252.
        broken, at = faults[0].object, faults[0].start
        need = f"UTF-{16 if wide else 8} text"
        raise self.refuse(broken[:at].count(b"\n") + 1, need, broken[at:][:20], "save the file as UTF-8")

    def require_few(self, count: int, what: str) -> None:
        """Raise InputError for too many columns."""
        if count > MAX_COLUMNS:
            got, remedy = f"{printable(self.path.name)} with {count:,}", "leave some out, or write svmlight or .npz"
            raise InputError("file", f"at most {MAX_COLUMNS:,} {what}", got, remedy)

    def require_room(self, size: int, what: str) -> None:
        """Raise InputError for data that would exceed the limit, before they are in memory."""
        if size > LIMIT_BYTES:
            expected = f"of a size that fits the limit of {megabytes(LIMIT_BYTES)}"
            got = f"{printable(self.path.name)} with {megabytes(size)} of {what}"
            raise InputError("file", expected, got, "split it, or call lrlab.recover on arrays")

    def require_columns(self, count: int) -> None:
        """Raise InputError for too many columns, even if a file has few entries."""
        self.require_room(count * COLUMN_BYTES, f"vectors over {count:,} columns")

    def refuse(self, line: int, need: str, got: bytes | str, remedy: str) -> InputError:
        """Return the error for a line: its number, the expected form, the content and the remedy."""
        excerpt = got[:80].decode(errors="replace") if isinstance(got, bytes) else got[:80]
        expected = f"{self.kind} with {need} in line {line} of {self.path.name}"
        return InputError("file", printable(expected), printable(excerpt) or "nothing", printable(remedy))


def data_suffix(path: Path) -> str:
    """Return the suffix that names the format: .csv for rows.csv.gz."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in (".gz", ".bz2") else suffix


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


def read_arrays(source: Source, wanted: Callable[[str], bool], kinds: str = PLAIN) -> dict[str, Vector]:
    """Return the wanted arrays of an archive; InputError unless they are plain, of these kinds, and fit memory."""
    source.size()
    remedy = "write it with numpy.savez, without objects"
    with source.whole("a whole .npz of plain arrays", remedy), zipfile.ZipFile(source.path) as archive:
        infos = [info for info in archive.infolist() if wanted(info.filename.removesuffix(".npy"))]
        # Memory for the arrays as stored, as read, and as float64.
        source.require_room(sum(10 * info.file_size for info in infos), "arrays")
        arrays = {info.filename.removesuffix(".npy"): _formed(archive.read(info), kinds) for info in infos}
        if len(arrays) < len(infos):
            raise ValueError("an array twice")
        return arrays


def _formed(content: bytes, kinds: str) -> Vector:
    """Return the array in the content of a file; ValueError unless its header states the size that it has."""
    stream = io.BytesIO(content)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, fortran, dtype = readers[np.lib.format.read_magic(stream)](stream)
    if dtype.kind not in kinds or min(shape, default=0) < 0:
        raise ValueError(f"{dtype} is not a type of numbers or names")
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"entries do not fit {len(content)} bytes")
    array: Vector = np.ndarray(shape, dtype, content, stream.tell(), order="F" if fortran else "C")
    if dtype.kind == "U":
        # numpy takes any number for a character; UTF-8 does not.
        "".join(array.ravel().tolist()).encode()
    return array


def names_of(arrays: Mapping[str, Vector], name: str) -> Names | None:
    """Return a list of names, or None if the archive has none of that kind."""
    if name not in arrays:
        return None
    if arrays[name].dtype.kind != "U" or arrays[name].ndim != 1:
        raise InputError("file", f"an .npz whose {name} is a list of text", arrays[name].dtype, "save a list of names")
    return tuple(arrays[name].tolist())
