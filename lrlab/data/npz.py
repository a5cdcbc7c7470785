"""Reads numpy's .npz without pickles, and checks the size in each header before it forms an array."""

import io
import math
import zipfile
from collections.abc import Callable, Mapping

import numpy as np

from lrlab.arrays import Vector
from lrlab.data.files import Source
from lrlab.parameters import InputError

Names = tuple[str, ...]
PLAIN, NUMBERS = "fiubU", "fiubcU"
"""Kinds of numpy's types: names with real numbers, and also complex ones."""
MOST_MEMBERS, DIRECTORY_BYTES = 1000, 2**24
"""Most arrays of an archive, and the length of its end that names them: reading 60,000 names takes seconds."""


def read_arrays(source: Source, wanted: Callable[[str], bool], kinds: str = PLAIN) -> dict[str, Vector]:
    """Return the wanted arrays of an archive; InputError unless they are plain, of these kinds, and fit memory."""
    size = source.size()
    try:
        with source.path.open("rb") as stream:
            stream.seek(max(0, size - DIRECTORY_BYTES))
            source.require_few(stream.read().count(b"PK\x01\x02"), "arrays", MOST_MEMBERS)
        with zipfile.ZipFile(source.path) as archive:
            infos = [info for info in archive.infolist() if wanted(info.filename.removesuffix(".npy"))]
            # Memory for the arrays as stored, as read, and as float64.
            source.require_room(sum(10 * info.file_size for info in infos), "arrays")
            arrays = {info.filename.removesuffix(".npy"): _formed(archive.read(info), kinds) for info in infos}
        if len(arrays) < len(infos):
            raise ValueError("an array twice")
        return arrays
    except InputError:
        raise
    except Exception as error:
        # A damaged archive makes zipfile, its decompressors and numpy's header parser raise a dozen kinds of error.
        expected, remedy = "a whole .npz of plain arrays", "write it with numpy.savez, without objects"
        raise InputError("file", expected, f"{source.path.name} ({error or type(error).__name__})", remedy) from None


def _formed(content: bytes, kinds: str) -> Vector:
    """Return the array in the content of a file; ValueError unless its header states the size that it has."""
    stream, version = io.BytesIO(content), np.lib.format.read_magic(io.BytesIO(content))
    stream.seek(np.lib.format.MAGIC_LEN)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = readers[version](stream)
    if dtype.kind not in kinds or min(shape, default=0) < 0:
        raise ValueError(f"{dtype} is not a type of numbers or names")
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"entries do not fit {len(content)} bytes")
    stream.seek(0)
    array: Vector = np.lib.format.read_array(stream, allow_pickle=False)
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
