"""numpy's .npz: X (n, d) and Y (n, L), each dense or the three arrays of a CSR matrix, and never a pickle.

Arrays by name: `X` or `X_data X_indices X_indptr X_shape`, likewise `Y` and (optional) `observed`; `feature_names` and
`label_names` if there are any. A dense Y holds 1, 0 (or -1), and nan for a label that was not observed. What an archive
declares is checked before any array is formed.
"""

import math
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from lrlab.arrays import Array, Matrix
from lrlab.data.dataset import Dataset, Names, pattern
from lrlab.data.labels import LabelChoice
from lrlab.data.source import Source, require_columns, require_room
from lrlab.parameters import InputError

CSR = ("data", "indices", "indptr", "shape")
TABLES = ("X", "Y", "observed")
LISTS = ("feature_names", "label_names")
KNOWN = {*TABLES, *LISTS, *(f"{table}_{part}" for table in TABLES for part in CSR)}
PLAIN, NUMBERS = "fiubU", "fiubcU"
"""Kinds of numpy's types: names and real numbers, and complex ones too."""
DIRECTORY_ENTRY = b"PK\x01\x02"
MOST_MEMBERS, DIRECTORY_BYTES = 1000, 2**24
"""Of an archive, and the end of it in which its directory names them: to read a directory of 60,000 takes seconds."""
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
    arrays = read_arrays(source, limit_bytes, KNOWN.__contains__, partial(_require_fit, source, limit_bytes))
    X, Y, observed = (_table(source, arrays, table) for table in TABLES)
    if X is None or (Y is None and not (choice and choice.optional)):
        missing = "X" if X is None else "Y"
        raise InputError("file", "an .npz with arrays X and Y", f"no {missing}", f"save it with {missing}=...")
    if not np.isfinite(X.data if issparse(X) else X).all():
        raise InputError("file", "an .npz with finite numbers in X", "nan or inf", "fill the values in")
    names, label_names = (names_of(arrays, name) for name in LISTS)
    if Y is None:
        data = Dataset(X, csr_array((X.shape[0], 0)), feature_names=names)
    else:
        given = choice.names if choice and choice.names else label_names
        data = Dataset(X, *_labels(source, Y, observed, limit_bytes), names, given)
    return data.rows(slice(0, source.limit)) if source.limit else data


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


@contextmanager
def _table_alone(source: Source, name: str) -> Iterator[None]:
    """Refuse what is no table in one sentence."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        expected, remedy = f"an .npz whose {name} is a dense or CSR table of numbers", f"save {name} with two axes"
        raise InputError("file", expected, f"{source.path.name} ({error})", remedy) from None


def _require_fit(
    source: Source, limit_bytes: int, declared: Mapping[str, Declared], formed: Callable[[str], Array]
) -> None:
    """Refuse tables and names whose shapes do not fit each other, before they are formed."""
    sizes = dict[str, tuple[int, ...]]()
    for table in TABLES:
        with _table_alone(source, table):
            sizes[table] = _size(table, declared, formed)
    rows, *widths = sizes["X"] or (0, 0)
    for table in TABLES[1:]:
        if rows and sizes[table] and sizes[table][0] != rows:
            raise InputError(table, f"of as many rows as X, {rows}", sizes[table][0], "give each row labels")
    require_columns(source, max(*widths, *sizes["Y"][1:], *sizes["observed"][1:], 0), limit_bytes)
    for name, table in zip(LISTS, TABLES, strict=False):
        if name in declared and sizes[table] and declared[name].shape != sizes[table][1:]:
            expected = f"an .npz whose {name} is a list of {sizes[table][1]} names"
            raise InputError("file", expected, f"a shape {declared[name].shape}", "name each column once, or none")


def _size(name: str, declared: Mapping[str, Declared], formed: Callable[[str], Array]) -> tuple[int, ...]:
    """Return rows and columns of a table, nothing where there is none; ValueError where its parts do not fit."""
    if name in declared:
        shape = declared[name].shape
    elif all(f"{name}_{part}" in declared for part in CSR):
        data, indices, indptr, size = (declared[f"{name}_{part}"].shape for part in CSR)
        shape = tuple(int(length) for length in formed(f"{name}_shape")) if size == (2,) else ()
        if len(data) != 1 or data != indices or indptr != (shape[0] + 1,):
            raise ValueError("parts of other shapes")
    else:
        return ()
    if len(shape) != 2 or not all(0 < length < 2**31 for length in shape):
        raise ValueError("no two axes")
    return shape


def _table(source: Source, arrays: Mapping[str, NDArray], name: str) -> Matrix:
    """Return one of the tables, dense or CSR, as float64; None if it is not there."""
    with _table_alone(source, name):
        if name in arrays:
            with np.errstate(over="ignore"):
                return np.ascontiguousarray(arrays[name], dtype=np.float64)
        if not all(f"{name}_{part}" in arrays for part in CSR):
            return None
        data, indices, indptr, shape = (arrays[f"{name}_{part}"] for part in CSR)
        if any(part.dtype.kind not in "iu" for part in (indices, indptr, shape)):
            raise ValueError("indices that are no whole numbers")
        table = csr_array((data.astype(np.float64), indices, indptr), shape=tuple(int(size) for size in shape))
        table.check_format(full_check=True)
        table.sum_duplicates()
        return table


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


def read_arrays(
    source: Source, limit_bytes: int, wanted: Callable[[str], bool], check: Check, kinds: str = PLAIN
) -> dict[str, NDArray]:
    """Return those arrays of an archive whose names are wanted; anything but plain arrays, of some kinds, is refused.

    The sizes that they declare, and by `check` their shapes, are checked before any of them is formed.
    """
    try:
        if _members(source.path) > MOST_MEMBERS:
            got = f"{source.path.name} with more"
            raise InputError("file", f"an .npz of at most {MOST_MEMBERS:,} arrays", got, "save the tables alone")
        with zipfile.ZipFile(source.path) as archive:
            members = {info: info.filename.removesuffix(".npy") for info in archive.infolist()}
            members = {info: name for info, name in members.items() if wanted(name)}
            infos = {name: info for info, name in members.items()}
            if len(infos) < len(members):
                raise ValueError("each array once is what it must hold")
            declared = {name: _declared(archive, name, info, kinds) for name, info in infos.items()}
            # The arrays as they are stored, and as float64.
            size = sum(math.prod(one.shape) * (one.itemsize + 8) for one in declared.values())
            require_room(source, size, limit_bytes, "arrays")
            check(declared, lambda name: _formed(archive, name, infos[name]))
            return {name: _formed(archive, name, info) for name, info in infos.items()}
    except InputError:
        raise
    except Exception as error:
        # A damaged archive makes zipfile, its decompressors and numpy's header parser raise a dozen kinds of error.
        expected, remedy = "a whole .npz of plain arrays", "write it with numpy.savez, without objects"
        raise InputError("file", expected, f"{source.path.name} ({error or type(error).__name__})", remedy) from None


def _members(path: Path) -> int:
    """Return how many members the end of an archive names, without reading its directory."""
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - DIRECTORY_BYTES))
        return stream.read().count(DIRECTORY_ENTRY)


def _formed(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo) -> NDArray:
    """Return an array of an archive; ValueError where it is not whole, or text of characters that do not exist."""
    with archive.open(info) as stream:
        array = np.lib.format.read_array(stream, allow_pickle=False)
        # The checksum is compared at the end of a member, which numpy need not reach.
        if stream.read(1):
            raise ValueError(f"{name}: more bytes than entries")
    if array.dtype.kind == "U":
        # numpy takes any number for a character, Python and files in UTF-8 do not.
        codes = np.frombuffer(array.astype(array.dtype.newbyteorder("=")).tobytes(), np.uint32)
        if ((codes > LAST_CHARACTER) | (codes // 0x800 == HALVES)).any():
            raise ValueError(f"{name}: text of characters that do not exist")
    return array


def _declared(archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo, kinds: str) -> Declared:
    """Return what an array's header declares, which must agree with what the archive holds."""
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in readers:
            raise ValueError(f"{name}: unknown version {version}")
        shape, _, dtype = readers[version](stream)
    if dtype.kind not in kinds or min(shape, default=0) < 0:
        raise ValueError(f"{name}: {dtype} is no type of numbers or names")
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"{name}: its entries do not fit {info.file_size} bytes")
    return Declared(tuple(int(size) for size in shape), dtype.itemsize)
