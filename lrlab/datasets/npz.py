"""numpy's .npz: X (n, d) and Y (n, L), each dense or the three arrays of a CSR matrix, and never a pickle.

Arrays by name: `X` or `X_data X_indices X_indptr X_shape`, likewise `Y` and (optional) `observed`; `feature_names` and
`label_names` if there are any. A dense Y holds 1, 0 (or -1), and nan for a label that was not observed. What an archive
declares is checked before any array is formed.
"""

import math
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array
from lrlab.datasets.dataset import Dataset, Names, pattern
from lrlab.datasets.labels import LabelChoice
from lrlab.datasets.text import Source, require_columns, require_room
from lrlab.parameters import InputError

CSR = ("data", "indices", "indptr", "shape")
TABLES = ("X", "Y", "observed")
LISTS = ("feature_names", "label_names")
KNOWN = {*TABLES, *LISTS, *(f"{table}_{part}" for table in TABLES for part in CSR)}
LAST_CHARACTER, HALVES = 0x10FFFF, 0xD800 // 0x800
"""Of Unicode; halves of pairs of UTF-16, from 0xD800 to 0xDFFF, stand for no character either."""


class Declared(NamedTuple):
    """What the header of an array declares."""

    shape: tuple[int, ...]
    itemsize: int


Check = Callable[[Mapping[str, Declared], Callable[[str], Array]], None]
"""Raises ValueError where declared shapes do not fit; may read small arrays by name."""


def read_npz(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    """Read the arrays; the sizes that they declare are checked before any of them is formed."""
    data = _whole(source, choice, limit_bytes)
    return data.rows(slice(0, source.limit)) if source.limit else data


def _whole(source: Source, choice: LabelChoice | None, limit_bytes: int) -> Dataset:
    arrays = read_arrays(source, limit_bytes, KNOWN.__contains__, partial(_require_fit, source, limit_bytes))
    X, Y, observed = (_table(source, arrays, table) for table in TABLES)
    bare = X is not None and Y is None and choice is not None and choice.optional
    if X is None or (Y is None and not bare):
        missing = "X" if X is None else "Y"
        raise InputError("file", "an .npz with arrays X and Y", f"no {missing}", f"save it with {missing}=...")
    if not np.isfinite(X.data if issparse(X) else X).all():
        raise InputError("file", "an .npz with finite numbers in X", "nan or inf", "fill the values in")
    if bare:
        return Dataset(X, csr_array((X.shape[0], 0)), feature_names=names_of(arrays, "feature_names"))
    Y, observed = _labels(source, Y, observed, limit_bytes)
    names = names_of(arrays, "label_names")
    if choice and choice.names:
        names = choice.names
    return Dataset(X, Y, observed, names_of(arrays, "feature_names"), names)


def save_npz(path: str | Path, data: Dataset) -> None:
    """Write a Dataset so that `read` gives the same one."""
    arrays: dict[str, NDArray] = {}
    for name, table in zip(TABLES, (data.X, data.Y, data.observed), strict=True):
        if issparse(table):
            parts = (table.data, table.indices, table.indptr, np.array(table.shape))
            arrays |= {f"{name}_{part}": array for part, array in zip(CSR, parts, strict=True)}
        elif table is not None:
            arrays[name] = table
    np.savez_compressed(path, allow_pickle=False, **arrays, **names_arrays(data))


def names_arrays(data: Dataset) -> dict[str, NDArray]:
    """Return the names that a Dataset has, as arrays by name."""
    return {name: np.array(names, dtype=np.str_) for name in LISTS if (names := getattr(data, name)) is not None}


def _require_fit(
    source: Source, limit_bytes: int, declared: Mapping[str, Declared], formed: Callable[[str], Array]
) -> None:
    """Refuse tables and names whose shapes do not fit each other, before they are formed."""
    sizes = {name: size for name in TABLES if (size := _table_size(source, name, declared, formed))}
    for table in TABLES[1:]:
        if "X" in sizes and table in sizes and sizes[table][0] != sizes["X"][0]:
            raise InputError(table, f"of as many rows as X, {sizes['X'][0]}", sizes[table][0], "give each row labels")
    require_columns(source, max((size[1] for size in sizes.values()), default=0), limit_bytes)
    for name, table in zip(LISTS, TABLES, strict=False):
        if name in declared and table in sizes and declared[name].shape != (sizes[table][1],):
            expected = f"an .npz whose {name} is a list of {sizes[table][1]} names"
            raise InputError("file", expected, f"a shape {declared[name].shape}", "name each column once, or none")


def _table_size(
    source: Source, name: str, declared: Mapping[str, Declared], formed: Callable[[str], Array]
) -> tuple[int, ...]:
    """Return rows and columns of a table, nothing where there is none."""
    parts = [declared[f"{name}_{part}"] for part in CSR if f"{name}_{part}" in declared]
    if name in declared:
        shape = declared[name].shape
        good = len(shape) == 2 and min(shape) > 0
    elif len(parts) == len(CSR):
        data, indices, indptr, size = (part.shape for part in parts)
        shape = tuple(int(length) for length in formed(f"{name}_shape")) if size == (2,) else ()
        good = len(shape) == 2 and all(0 < length < 2**31 for length in shape)
        good = good and len(data) == 1 and data == indices and indptr == (shape[0] + 1,)
    else:
        return ()
    if not good:
        expected = f"an .npz whose {name} is a dense or CSR table of numbers"
        raise InputError("file", expected, f"{source.path.name} with other shapes", f"save {name} with two axes")
    return shape


def _table(source: Source, arrays: dict[str, NDArray], name: str) -> Array | csr_array | None:
    """Return one of the tables, dense or CSR, as float64; None if it is not there."""
    parts = [arrays.get(f"{name}_{part}") for part in CSR]
    try:
        if name in arrays:
            with np.errstate(over="ignore"):
                return np.ascontiguousarray(arrays[name], dtype=np.float64)
        present = [part for part in parts if part is not None]
        if len(present) < len(parts):
            return None
        data, indices, indptr, shape = present
        if any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
            raise ValueError("indices that are no whole numbers")
        table = csr_array((data.astype(np.float64), indices, indptr), shape=tuple(int(size) for size in shape))
        table.check_format(full_check=True)
        table.sum_duplicates()
        return table
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        expected, remedy = f"an .npz whose {name} is a dense or CSR table of numbers", f"save {name} with two axes"
        raise InputError("file", expected, f"{source.path.name} ({error})", remedy) from None


def _labels(source: Source, Y, observed, limit_bytes: int) -> tuple[csr_array, csr_array | None]:
    """Return the positives and the mask; negative labels are 0 or -1, unknown ones nan."""
    entries = Y.data if issparse(Y) else Y
    if not np.isin(entries[np.isfinite(entries)], (-1, 0, 1)).all() or np.isinf(entries).any():
        raise InputError("file", "an .npz whose Y holds 1, 0, -1 or nan", "other numbers", "code the labels so")
    if observed is not None:
        if observed.shape != Y.shape:
            raise InputError("file", "an .npz with observed and Y of one size", observed.shape, "mark each label")
        observed = csr_array(observed != 0)
    missing = csr_array((np.isnan(entries), Y.indices, Y.indptr), shape=Y.shape) if issparse(Y) else np.isnan(Y)
    if missing.sum():
        require_room(source, Y.shape[0] * Y.shape[1] * 12, limit_bytes, "a mask of the labels")
        known = csr_array(~(missing.toarray() if issparse(missing) else missing))
        observed = known if observed is None else known.multiply(observed).tocsr()
    return pattern((Y > 0).nonzero(), Y.shape), observed


def names_of(arrays: Mapping[str, NDArray], name: str) -> Names | None:
    """Return a list of names, None where an archive has none of that kind."""
    if name not in arrays:
        return None
    if arrays[name].dtype.kind != "U" or arrays[name].ndim != 1:
        raise InputError("file", f"an .npz whose {name} is a list of text", arrays[name].dtype, "save a list of names")
    return tuple(arrays[name].tolist())


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
