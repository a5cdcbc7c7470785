"""Opens files of text as bytes of UTF-8: gzip and bzip2 are unpacked, UTF-16 is recoded, other packings are named."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lrlab.parameters import InputError

PIECE_BYTES = 2**20
MAX_RATIO, RATIO_FROM = 200, 2**26
"""A packed file that becomes so many times as large holds no rows; tested from so many unpacked bytes on."""

UNPACKERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
OTHERS = {b"PK\x03\x04": "zip", b"\xfd7zXZ": "xz", b"7z\xbc\xaf": "7z", b"Rar!": "rar", b"\x28\xb5\x2f\xfd": "zstd"}
"""Packings by the first bytes of a file."""
PACKED_SUFFIXES = (".gz", ".bz2")
MARKS = (b"\xff\xfe", b"\xfe\xff")
"""How UTF-16 begins."""
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


class Recoded:
    """A stream of UTF-16 as one of UTF-8: whatever is read, at most so many characters or a line, is recoded."""

    def __init__(self, stream: Any) -> None:
        self._text = io.TextIOWrapper(stream, "utf-16", newline="\n")

    def read(self, size: int) -> bytes:  # noqa: D102
        return self._text.read(size).encode()

    def readline(self, size: int) -> bytes:  # noqa: D102
        return self._text.readline(size).encode()


def data_suffix(path: Path) -> str:
    """Return the suffix that names the format: of rows.csv.gz it is .csv."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in PACKED_SUFFIXES else suffix


def unpacked_size(path: Path, most: int) -> int:
    """Return the size of a file when it is unpacked, or one beyond `most`; refuse what grows as no rows do."""
    with _reported(path), path.open("rb") as packed:
        unpacker = _unpacker(packed)
        if unpacker is None:
            return path.stat().st_size
        size = 0
        with unpacker(packed) as stream:
            while size <= most and (piece := stream.read(PIECE_BYTES)):
                size += len(piece)
                if size > max(RATIO_FROM, MAX_RATIO * packed.tell()):
                    expected = f"at most {MAX_RATIO} times as large unpacked as packed"
                    raise InputError("file", expected, f"{path.name}, which is larger", "unpack it first")
        return size


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Yield the text of a file, to `read` or `readline` bytes of UTF-8."""
    with _reported(path), path.open("rb") as packed:
        unpacker = _unpacker(packed)
        stream = unpacker(packed) if unpacker else packed
        head = stream.peek(8)[:8]
        kind = next((name for mark, name in OTHERS.items() if head.startswith(mark)), "")
        if kind or (unpacker and head.startswith(tuple(UNPACKERS))):
            got = f"{path.name}, a {kind or 'twice packed'} file"
            raise InputError("file", "plain text, or that packed by gzip or bzip2", got, "unpack it first")
        yield Recoded(stream) if head.startswith(MARKS) else stream


def _unpacker(packed: IO[bytes]) -> Callable[..., Any] | None:
    head = packed.read(4)
    packed.seek(0)
    return next((unpacker for mark, unpacker in UNPACKERS.items() if head.startswith(mark)), None)


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    """Refuse what is damaged; errors of the system are left to the caller."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError("file", "UTF-16 text throughout", path.name, "save the file as UTF-8") from None
    except (*DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        expected = "a whole gzip or bzip2 file"
        raise InputError("file", expected, f"{path.name} ({error})", "pack it again, or unpack it first") from None
