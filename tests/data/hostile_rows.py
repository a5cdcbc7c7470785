"""Files and models that are meant to break a reader, each with a part of the sentence that refuses it.

`benchmarks/hostile_files.py` measures seconds and memory of each; the tests hold sentences and memory.
"""

import gzip
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lrlab.data import reading
from lrlab.data.dataset import choose_labels
from lrlab.data.label_models import load_model
from lrlab.models.pictures import encode


class Case(NamedTuple):
    """A file by its name, what is in it, a part of its refusal, and how it is opened."""

    file: str
    content: bytes | Callable[[], bytes]
    refusal: str
    labels: Any = None
    opened: Callable[[Path, Any], Any] = reading.read

    def write(self, folder: Path) -> Path:
        """Write the file."""
        path = folder / self.file
        path.write_bytes(self.content if isinstance(self.content, bytes) else self.content())
        return path


def model(path: Path, labels: Any) -> Any:
    """Open a saved model."""
    return load_model(path)


def listed(path: Path, labels: Any) -> Any:
    """Open a list of labels."""
    return choose_labels(path, reading.LIMIT_BYTES)


def picture(path: Path, labels: Any) -> Any:
    """Open a picture."""
    return encode(path.read_bytes(), 16)


def header(shape: Any, dtype: str = "<f8", fortran: bool = False) -> bytes:
    """Return the header of a .npy file, of whatever shape and type."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": dtype, "fortran_order": fortran, "shape": shape})
    return stream.getvalue()


def npy(array: Any) -> bytes:
    """Return an array as a .npy file."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(array), allow_pickle=True)
    return stream.getvalue()


def members(count: int) -> bytes:
    """Return an archive of so many empty members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for k in range(count):
            archive.writestr(f"a{k}.npy", b"")
    return stream.getvalue()


def npz(**members: Any) -> bytes:
    """Return an archive of arrays, or of bytes as they are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name + ".npy", content if isinstance(content, bytes) else npy(content))
    return stream.getvalue()


def zeros(size: int, dtype: str = "<f8", shape: Any = None) -> bytes:
    """Return a .npy file of so many zeros, made in pieces."""
    return header(shape or (size,), dtype) + bytes(size * np.dtype(dtype).itemsize)


def gzip_bomb(size: int) -> bytes:
    """Return a gzip file of that many spaces."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=1) as packed:
        block = b" " * 2**24
        for _ in range(size // len(block)):
            packed.write(block)
    return stream.getvalue()


def png(width: int, height: int, body: bytes = b"") -> bytes:
    """Return a gray PNG that declares a size."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def flipped(archive: bytes) -> bytes:
    """Return an archive with another checksum in the header and the directory."""
    with zipfile.ZipFile(io.BytesIO(archive)) as whole:
        mark = struct.pack("<I", whole.infolist()[0].CRC)
    return archive.replace(mark, bytes(byte ^ 255 for byte in mark))


FACTORS = {"estimate_U": np.eye(3, 1), "estimate_s": np.ones(1), "estimate_V": np.eye(2, 1)}
PARTS = {
    "lrlab_model": np.array(2), "scaling": np.array("none"), "units": np.zeros(0),
    "solver": np.array("leml-squared"), "options": np.array("{}"),
    "kind": np.array("LowRank"), "sizes": np.array([3, 2, 0, 0, 0]), **FACTORS,
}  # fmt: skip
KERNEL = {
    **PARTS, "kind": np.array("KernelRank"), "estimate_U": np.ones((4, 1)),
    "estimate_centre": np.zeros(3), "estimate_units": np.ones(3), "estimate_landmarks": np.eye(4, 3),
    "estimate_offset": np.zeros(2), "estimate_threshold": np.array(0.5),
}  # fmt: skip
COMPRESSED = {
    **{name: part for name, part in PARTS.items() if not name.startswith("estimate_")},
    "kind": np.array("Compressed"), "estimate_W": np.ones((3, 1)), "estimate_Phi": np.ones((1, 2)),
    "estimate_settings": np.array([1.0, 1.0, 1.0, 1.0]),
}  # fmt: skip


def saved(base: dict[str, Any] = PARTS, **changes: Any) -> bytes:
    """Return a model with some arrays changed; None leaves one out."""
    return npz(**{name: part for name, part in {**base, **changes}.items() if part is not None})


ARFF = b"@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute x {0,1}\n@data\n"
ONE = np.ones((2, 1))

CASES = {
    # Text: sizes that a file declares and does not have.
    "svmlight of 2e9 columns": Case("f.svm", b"1 2000000000:1\n", "columns"),
    "svmlight, index beyond 64 bits": Case("f.svm", b"1 99999999999999999999:1\n", "in line 1"),
    "svmlight, negative index": Case("f.svm", b"1 -4:1\n", "in line 1"),
    "svmlight, index twice": Case("f.svm", b"1 4:1 4:1\n", "increasing order"),
    "svmlight, nan": Case("f.svm", b"1 4:nan\n", "in line 1"),
    "svmlight, overflow": Case("f.svm", b"1 4:1e400\n", "in line 1"),
    "svmlight, binary": Case("f.svm", bytes(range(256)) * 40, "in line"),
    "extreme of 2e9 columns": Case("f.txt", b"1 2000000000 2000000000\n\n", "columns"),
    "extreme of 2e9 rows": Case("f.txt", b"2000000000 2 2\n\n", "rows"),
    "extreme, truncated": Case("f.txt", b"9 4 4\n0 1:1\n", "as many rows as it says"),
    "empty svmlight": Case("f.svm", b"", "at least one row"),
    "empty ARFF": Case("f.arff", b"", "@data after the attributes", 1),
    "empty npz": Case("f.npz", b"", "whole .npz"),
    "ARFF of 110,000 attributes": Case(
        "f.arff", lambda: b"@attribute a real\n" * 110_000, "at most 100,000 attributes", 1
    ),
    "XML of 1.1e6 labels": Case("f.xml", lambda: b"<labels>" + b"<label/>" * 1_100_000, "tags", opened=listed),
    "ARFF of 200,000 attributes": Case(
        "f.arff",
        lambda: b"".join(b"@attribute a%d real\n" % k for k in range(2 * 10**5)) + b"@data\n{0 1}\n",
        "at most 100,000 attributes",
        1,
    ),
    "CSV of 200,000 columns": Case("f.csv", lambda: b"1," * (2 * 10**5) + b"1\n", "at most 100,000 columns", 1),
    "npz of 60,000 members": Case("f.npz", lambda: members(60_000), "at most 1,000 arrays"),
    "ARFF, a name twice": Case("f.arff", ARFF.replace(b"b {", b"a {"), "names that differ", 1),
    "ARFF, truncated row": Case("f.arff", ARFF + b"{0 1,", "in line 6", 1),
    "ARFF, negative index": Case("f.arff", ARFF + b"{-1 1}\n", "in line 6", 1),
    "ARFF, open quote": Case("f.arff", b"@attribute '" + b"a" * 10**6 + b"\n@data\n", "in line 1", 1),
    "ARFF, backslashes": Case("f.arff", b"@attribute '" + b"\\'" * 10**5 + b"\n@data\n", "in line 1", 1),
    "ARFF, binary": Case("f.arff", bytes(range(1, 256)) * 40, "in line", 1),
    "ARFF in UTF-16": Case("f.arff", "@relation r\n@attribute a\n@data\n".encode("utf-16"), "numeric` or", 1),
    "half a UTF-16 character": Case("f.csv", "a,x\n1,0\n".encode("utf-16") + b"\xd8", "UTF-16", 1),
    "CSV, open quote": Case("f.csv", b'a,x\n1,"' + b"1,2\n" * 10**5, "closed quotes", 1),
    "CSV, trailing comma without names": Case("f.csv", b"1,2,0,\n1,2,1,\n", "trailing separators", 1),
    "CSV, unnamed last column": Case("f.csv", b"a,b,x,\n1,2,0,1\n", "a name for column 4", 1),
    "CSV, nan": Case("f.csv", b"a,x\nnan,0\n", "column a must be a finite number", 1),
    "CSV of no encoding": Case("f.csv", b"caf\x81\xe9,x\n1,0\n", "UTF-8 text in line 1", 1),
    "CSV, a broken byte below good ones": Case(
        "f.csv", "\ufeffÁ,x\n1,0\n".encode() + b"\xff,1\n", "UTF-8 text in line 3", 1
    ),
    "gzip bomb in a plain name": Case("f.csv", lambda: gzip_bomb(2**27), "unpacked", 1),
    "gzip, truncated": Case("f.csv", gzip.compress(b"a,x\n1,0\n" * 1000)[:-9], "whole gzip", 1),
    "gzip in gzip": Case("f.csv.gz", gzip.compress(gzip.compress(b"a,x\n1,0\n")), "plain text", 1),
    "xz": Case("f.arff", lzma.compress(ARFF), "xz", 1),
    "labels without end": Case("f.arff", ARFF + b"1,u,0\n", "a regular file", Path("/dev/zero")),
    # Archives of arrays.
    "npz, declared beyond its bytes": Case("f.npz", npz(X=header((10**9, 4)), Y=ONE), "do not fit"),
    "npz, shape beyond 64 bits": Case("f.npz", npz(X=header((10**30, 10**30)), Y=ONE), "whole .npz"),
    "npz of no dimension": Case("f.npz", npz(X=np.array(1.0), Y=ONE), "X"),
    "npz, names that are too many": Case(
        "f.npz", lambda: npz(X=ONE, Y=ONE, label_names=zeros(10**6, "<U1")), "label_names"
    ),
    "npz, rows that differ": Case("f.npz", lambda: npz(X=zeros(10**7, "|i1", (10**7, 1)), Y=ONE), "rows"),
    "npz of no rows": Case("f.npz", npz(X=np.ones((0, 3)), Y=np.ones((0, 1))), "X"),
    "npz, pickle": Case("f.npz", npz(X=np.array([[object]], dtype=object), Y=ONE), "plain arrays"),
    "npz, structured": Case("f.npz", npz(X=np.zeros((2, 1), "f8,f8"), Y=ONE), "plain arrays"),
    "npz, names beyond Unicode": Case(
        "f.npz", npz(X=ONE, Y=ONE, label_names=np.array([0x110000], "<u4").view("<U1")), "whole .npz"
    ),
    "npz, infinite": Case("f.npz", npz(X=ONE * np.inf, Y=ONE), "finite"),
    "npz, a header of code": Case("f.npz", npz(X=b"\x93NUMPY\x01\x00\x10\x00__import__('os')"[:26], Y=ONE), ".npz"),
    "npz, header of nested brackets": Case(
        "f.npz", npz(X=b"\x93NUMPY\x01\x00" + struct.pack("<H", 60000) + b"(" * 60000, Y=ONE), "whole .npz"
    ),
    "npz, truncated": Case("f.npz", npz(X=ONE, Y=ONE)[:-30], "whole .npz"),
    "npz, wrong checksum": Case("f.npz", flipped(npz(X=np.ones((2, 1)), Y=ONE)), "whole .npz"),
    "npz, a member twice": Case("f.npz", lambda: twice(ONE), "whole .npz"),
    "npz, labels of 7": Case("f.npz", npz(X=ONE, Y=ONE * 7), "1, 0 and -1, nan if unknown"),
    # Models.
    "model of 2e9 features": Case("m.npz", saved(sizes=np.array([2 * 10**9, 2, 0, 0, 1])), "sizes", opened=model),
    "model of sizes beyond 64 bits": Case(
        "m.npz", saved(sizes=np.array([2**64 - 1, 2, 0, 0, 0], np.uint64)), "sizes", opened=model
    ),
    "model of three sizes": Case("m.npz", saved(sizes=np.ones(3)), "sizes that no model has", opened=model),
    "model of another class": Case("m.npz", saved(kind=np.array("Popen")), "fit --save", opened=model),
    "model without an estimate": Case("m.npz", saved(estimate_s=None), "fit --save", opened=model),
    "model, factors that do not fit": Case("m.npz", saved(estimate_V=np.eye(5, 1)), "fit --save", opened=model),
    "model of nan": Case("m.npz", saved(estimate_s=np.array([np.nan])), "numbers below", opened=model),
    "model that overflows": Case("m.npz", saved(estimate_s=np.array([1e308])), "numbers below", opened=model),
    "model, names that are too few": Case("m.npz", saved(label_names=np.array(["x"])), "label_names", opened=model),
    "model of a later version": Case("m.npz", saved(lrlab_model=np.array(9)), "version", opened=model),
    "kernel of lrlab 0.3": Case("m.npz", saved(KERNEL, estimate_kernel=np.array([0.0, 1, 2])), "0.3", opened=model),
    "model of scaled rows": Case("m.npz", saved(scaling=np.array("rows")), "no longer supports: fit", opened=model),
    "kernel without units": Case("m.npz", saved(KERNEL, estimate_units=np.zeros(3)), "units", opened=model),
    "kernel of another centre": Case("m.npz", saved(KERNEL, estimate_centre=np.zeros(9)), "centre", opened=model),
    "kernel, landmarks beyond the table": Case(
        "m.npz",
        saved(
            KERNEL,
            estimate_landmarks=None,
            estimate_values=np.ones(4),
            estimate_columns=np.full(4, 10**6),
            estimate_pointer=np.arange(5),
            estimate_size=np.array([4, 3]),
        ),
        "fit --save",
        opened=model,
    ),  # fmt: skip
    "compressed labels, endless": Case(
        "m.npz", saved(COMPRESSED, estimate_settings=np.array([1, 1, 1, 1e300])), "settings", opened=model
    ),
    # Pictures.
    "PNG of 60,000 x 60,000": Case("f.png", png(60_000, 60_000, b"x" * 1000), "50 megapixels", opened=picture),
    "PNG, truncated": Case("f.png", png(2000, 2000, zlib.compress(bytes(9))), "PNG or JPEG", opened=picture),
    "no picture": Case("f.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG or JPEG", opened=picture),
}


def twice(array: Any) -> bytes:
    """Return an archive with two members of one name."""
    import warnings

    stream = io.BytesIO(npz(X=array, Y=array))
    with zipfile.ZipFile(stream, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        archive.writestr("X.npy", npy(array))
    return stream.getvalue()
