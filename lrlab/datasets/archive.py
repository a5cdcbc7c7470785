"""Archives of plain arrays (.npz): what they declare is checked before any array is formed; nothing is unpickled."""

import math
import zipfile
from collections.abc import Callable, Mapping
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lrlab.arrays import Array
from lrlab.datasets.text import Source, require_room
from lrlab.parameters import InputError


class Declared(NamedTuple):
    """What the header of an array declares."""

    shape: tuple[int, ...]
    itemsize: int


LAST_CHARACTER, HALVES = 0x10FFFF, 0xD800 // 0x800
"""Of Unicode; halves of pairs of UTF-16, from 0xD800 to 0xDFFF, stand for no character either."""

Check = Callable[[Mapping[str, Declared], Callable[[str], Array]], None]
"""Raises ValueError where declared shapes do not fit; may read small arrays by name."""


def read_arrays(source: Source, limit_bytes: int, wanted: Callable[[str], bool], check: Check) -> dict[str, NDArray]:
    """Return those arrays of an archive whose names are wanted; anything but plain arrays is refused.

    The sizes that they declare, and by `check` their shapes, are checked before any of them is formed.
    """
    try:
        return _arrays(source, limit_bytes, wanted, check)
    except InputError:
        raise
    except Exception as error:
        # A damaged archive makes zipfile, its decompressors and numpy's header parser raise a dozen kinds of error.
        expected, remedy = "a whole .npz of plain arrays", "write it with numpy.savez, without objects"
        raise InputError("file", expected, f"{source.path.name} ({error or type(error).__name__})", remedy) from None


def _arrays(source: Source, limit_bytes: int, wanted: Callable[[str], bool], check: Check) -> dict[str, NDArray]:
    with zipfile.ZipFile(source.path) as archive:
        members = [(info.filename.removesuffix(".npy"), info) for info in archive.infolist()]
        infos = {name: info for name, info in members if wanted(name)}
        if len(infos) < sum(wanted(name) for name, _ in members):
            raise ValueError("each array once is what it must hold")

        def formed(name: str) -> NDArray:
            with archive.open(infos[name]) as stream:
                array = np.lib.format.read_array(stream, allow_pickle=False)
                # The checksum is compared at the end of a member, which numpy need not reach.
                if stream.read(1):
                    raise ValueError(f"{name}: more bytes than entries")
                _require_text(name, array)
                return array

        declared = {}
        for name, info in infos.items():
            with archive.open(info) as stream:
                declared[name] = _declared(name, stream, info.file_size)
        # The arrays as they are stored, and as float64.
        size = sum(math.prod(one.shape) * (one.itemsize + 8) for one in declared.values())
        require_room(source, size, limit_bytes, "arrays")
        check(declared, formed)
        return {name: formed(name) for name in infos}


def _require_text(name: str, array: NDArray) -> None:
    """Refuse text with numbers that stand for no character: numpy takes any, Python and files in UTF-8 do not."""
    if array.dtype.kind == "U":
        codes = np.frombuffer(array.astype(array.dtype.newbyteorder("=")).tobytes(), np.uint32)
        if ((codes > LAST_CHARACTER) | (codes // 0x800 == HALVES)).any():
            raise ValueError(f"{name}: text of characters that do not exist")


def _declared(name: str, stream: IO[bytes], stored: int) -> Declared:
    """Return what an array's header declares, which must agree with what the archive holds."""
    version = np.lib.format.read_magic(stream)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"{name}: unknown version {version}")
    shape, _, dtype = readers[version](stream)
    if dtype.kind not in "fiubU" or min(shape, default=0) < 0:
        raise ValueError(f"{name}: {dtype} is no type of numbers or names")
    if math.prod(shape) * dtype.itemsize > stored:
        raise ValueError(f"{name}: its entries do not fit {stored} bytes")
    return Declared(tuple(int(size) for size in shape), dtype.itemsize)
