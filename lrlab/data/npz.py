"""Reads numpy's .npz without pickles, and checks the sizes in each header before it forms an array.

Rows with labels have X (n, d) and Y (n, L), each dense or the parts of a CSR matrix, `X_data X_indices X_indptr
X_shape`, and optionally `observed`, `feature_names` and `label_names`. Y holds 1, 0 or -1, and nan for an unknown
label.
"""

import math
import zipfile
from collections.abc import Callable, Mapping

import numpy as np
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Matrix, Vector
from lrlab.data.dataset import Dataset, Names, dataset_of, table_of
from lrlab.data.files import Source
from lrlab.data.labels import LabelChoice
from lrlab.parameters import InputError

TABLES, LISTS = ("X", "Y", "observed"), ("feature_names", "label_names")
KNOWN = {*LISTS, *(f"{table}{part}" for table in TABLES for part in ("", "_data", "_indices", "_indptr", "_shape"))}
PLAIN, NUMBERS = "fiubU", "fiubcU"
"""Kinds of numpy's types: names with real numbers, and also complex ones."""
MOST_MEMBERS, DIRECTORY_BYTES = 1000, 2**24
"""Most arrays of an archive, and the length of its end that names them: reading 60,000 names takes seconds."""


def read_npz(source: Source, choice: LabelChoice | None) -> Dataset:
    """Return the rows of an archive."""
    arrays = read_arrays(source, KNOWN.__contains__)
    X, Y, observed = (_table(source, arrays, table) for table in TABLES)
    if X is None or (Y is None and not (choice and choice.optional)):
        missing = "X" if X is None else "Y"
        raise InputError("file", "an .npz with arrays X and Y", f"no {missing}", f"save it with {missing}=...")
    if not np.isfinite(X.data if issparse(X) else X).all():
        raise InputError("file", "an .npz with finite numbers in X", "nan or inf", "fill the values in")
    names, label_names = (names_of(arrays, name) for name in LISTS)
    if Y is None:
        return Dataset(X, csr_array((X.shape[0], 0)), feature_names=names)
    if observed is not None:
        if observed.shape != Y.shape:
            raise InputError("file", "an .npz with observed and Y of one size", observed.shape, "mark each label")
        observed = csr_array(observed != 0)
    if np.isnan(Y.data if issparse(Y) else Y).any():
        source.require_room(Y.shape[0] * Y.shape[1] * 12, "a mask of the labels")
    return dataset_of(X, Y, observed, names, choice.names if choice and choice.names else label_names)


def names_arrays(data: Dataset) -> dict[str, Vector]:
    """Return the names in a Dataset as arrays by name."""
    return {name: np.array(names, dtype=np.str_) for name in LISTS if (names := getattr(data, name)) is not None}


def names_of(arrays: Mapping[str, Vector], name: str) -> Names | None:
    """Return a list of names, or None if the archive has none of that kind."""
    if name not in arrays:
        return None
    if arrays[name].dtype.kind != "U" or arrays[name].ndim != 1:
        raise InputError("file", f"an .npz whose {name} is a list of text", arrays[name].dtype, "save a list of names")
    return tuple(arrays[name].tolist())


def _table(source: Source, arrays: Mapping[str, Vector], name: str) -> Matrix:
    """Return a table, dense or CSR, as float64, or None if the archive lacks it."""
    try:
        places = [arrays[f"{name}_{part}"] for part in ("indices", "indptr", "shape") if f"{name}_{part}" in arrays]
        if any(part.dtype.kind not in "iu" for part in places):
            raise ValueError("indices that are not whole numbers")
        table = table_of(arrays, name)
        if table is None:
            return None
        if table.ndim != 2 or not all(0 < length < 2**31 for length in table.shape):
            raise ValueError("no two axes")
        source.require_columns(table.shape[1])
        if not issparse(table):
            with np.errstate(over="ignore"):
                return np.ascontiguousarray(table, dtype=np.float64)
        table = csr_array(table, dtype=np.float64)
        table.check_format(full_check=True)
        table.sum_duplicates()
        return table
    except InputError:
        raise
    except (ValueError, TypeError, OverflowError, IndexError, KeyError) as error:
        expected, remedy = f"an .npz whose {name} is a dense or CSR table of numbers", f"save {name} with two axes"
        raise InputError("file", expected, f"{source.path.name} ({error})", remedy) from None


def read_arrays(source: Source, wanted: Callable[[str], bool], kinds: str = PLAIN) -> dict[str, Vector]:
    """Return the wanted arrays of an archive; InputError unless they are plain, of these kinds, and fit memory."""
    size = source.size()
    try:
        with source.path.open("rb") as stream:
            stream.seek(max(0, size - DIRECTORY_BYTES))
            source.require_few(stream.read().count(b"PK\x01\x02"), "arrays", MOST_MEMBERS)
        with zipfile.ZipFile(source.path) as archive:
            members = [(info.filename.removesuffix(".npy"), info) for info in archive.infolist()]
            infos = {name: info for name, info in members if wanted(name)}
            if len(infos) < sum(wanted(name) for name, _ in members):
                raise ValueError("an array twice")
            # Memory for the arrays as stored and as float64.
            source.require_room(sum(_size(archive, *one, kinds) for one in infos.items()), "arrays")
            return {name: _formed(archive, name, info) for name, info in infos.items()}
    except InputError:
        raise
    except Exception as error:
        # A damaged archive makes zipfile, its decompressors and numpy's header parser raise a dozen kinds of error.
        expected, remedy = "a whole .npz of plain arrays", "write it with numpy.savez, without objects"
        raise InputError("file", expected, f"{source.path.name} ({error or type(error).__name__})", remedy) from None


def _formed(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> Vector:
    """Return an array of an archive; ValueError if it is not whole, or has invalid characters."""
    with archive.open(info) as stream:
        array: Vector = np.lib.format.read_array(stream, allow_pickle=False)
        # Reading to the end compares the checksum, which numpy may not do.
        if stream.read(1):
            raise ValueError(f"{name}: more bytes than entries")
    if array.dtype.kind == "U":
        # numpy takes any number for a character; UTF-8 does not.
        "".join(array.ravel().tolist()).encode()
    return array


def _size(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo, kinds: str) -> int:
    """Return the bytes in an array's header; ValueError if the archive holds fewer."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        shape, _, dtype = readers[version](stream)
    if dtype.kind not in kinds or min(shape, default=0) < 0:
        raise ValueError(f"{name}: {dtype} is not a type of numbers or names")
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"{name}: its entries do not fit {info.file_size} bytes")
    return math.prod(int(size) for size in shape) * (dtype.itemsize + 8)
