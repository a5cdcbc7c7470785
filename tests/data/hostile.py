"""Files that are meant to break a reader, for readers, shell and pages.

`CASES` has files with labels, models and pictures, each with a part of the sentence that refuses it;
`benchmarks/hostile_files.py` measures seconds and memory of each. `KINDS` has files without labels, each with the
options of the shell, for `lrlab recover` and the page Your data.
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
import pandas as pd

from lrlab.data import reading
from lrlab.data.label_task import load_model
from lrlab.models.pictures import encode
from tests.data import cases


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


def model(refusal: str, base: dict[str, Any] | None = None, **changes: Any) -> Case:
    """Return the case of a saved model with some arrays changed; None leaves one out."""
    kept = {name: part for name, part in {**(base or PARTS), **changes}.items() if part is not None}
    return Case("m.npz", npz(**kept), refusal, opened=lambda path, _: load_model(path))


def picture(content: bytes, refusal: str) -> Case:
    """Return the case of a picture."""
    return Case("f.png", content, refusal, opened=lambda path, _: encode(path.read_bytes(), 16))


def archive(refusal: str, **members: Any) -> Case:
    """Return the case of an archive of arrays."""
    return Case("f.npz", lambda: npz(**members), refusal)


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


ARFF = b"@relation r\n@attribute a numeric\n@attribute b {u,v}\n@attribute x {0,1}\n@data\n"
ONE, UNNAMED = np.ones((2, 1)), np.array([0x110000], "<u4").view("<U1")
BEYOND = {"estimate_landmarks": None, "estimate_values": np.ones(4), "estimate_columns": np.full(4, 10**6)}
BEYOND |= {"estimate_pointer": np.arange(5), "estimate_size": np.array([4, 3])}

CASES = {
    # Text: sizes that a file declares and does not have.
    "svmlight of 2e9 columns": Case("f.svm", b"1 2000000000:1\n", "columns"),
    "svmlight, index beyond 64 bits": Case("f.svm", b"1 99999999999999999999:1\n", "in line 1"),
    "svmlight, negative index": Case("f.svm", b"1 -4:1\n", "in line 1"),
    "svmlight, index twice": Case("f.svm", b"1 4:1 4:1\n", "increasing order"),
    "svmlight, a word": Case("f.svm", b"1 1:1\n\n2 1:a\n", "in line 3"),
    "svmlight, nan": Case("f.svm", b"1 4:nan\n", "in line 1"),
    "svmlight in .txt, a sign": Case("f.txt", b"+1 1:1\n-1 2:1\n", "write labels as whole numbers from 0, or"),
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
    "ARFF of 200,000 attributes": Case(
        "f.arff",
        lambda: b"".join(b"@attribute a%d real\n" % k for k in range(2 * 10**5)) + b"@data\n{0 1}\n",
        "at most 100,000 attributes",
        1,
    ),
    "CSV of 200,000 columns": Case("f.csv", lambda: b"1," * (2 * 10**5) + b"1\n", "at most 100,000 columns", 1),
    "ARFF, a word for a number": Case("f.arff", ARFF + b"1,u,1\nx,u,0\n", "a number for attribute a in line 7", 1),
    "ARFF of text": Case("f.arff", ARFF.replace(b"numeric", b"string") + b"1,u,1\n", "remove attributes of text", 1),
    "ARFF, labels of words": Case("f.arff", ARFF.replace(b"0,1", b"p,q") + b"1,u,p\n", "which columns are labels", 1),
    "ARFF without labels": Case("f.arff", ARFF + b"1,u,1\n", "labels must be an XML file"),
    "ARFF, a name twice": Case("f.arff", ARFF.replace(b"b {", b"a {"), "names that differ", 1),
    "ARFF, truncated row": Case("f.arff", ARFF + b"{0 1,", "in line 6", 1),
    "ARFF, negative index": Case("f.arff", ARFF + b"{-1 1}\n", "in line 6", 1),
    "ARFF, large index": Case("f.arff", ARFF + b"{99 1}\n", "in line 6", 1),
    "ARFF, open quote": Case("f.arff", b"@attribute '" + b"a" * 10**6 + b"\n@data\n", "in line 1", 1),
    "ARFF, backslashes": Case("f.arff", b"@attribute '" + b"\\'" * 10**5 + b"\n@data\n", "in line 1", 1),
    "ARFF, binary": Case("f.arff", bytes(range(1, 256)) * 40, "in line", 1),
    "ARFF in UTF-16": Case("f.arff", "@relation r\n@attribute a\n@data\n".encode("utf-16"), "numeric` or", 1),
    "half a UTF-16 character": Case("f.csv", "a,x\n1,0\n".encode("utf-16") + b"\xd8", "UTF-16", 1),
    "CSV, open quote": Case("f.csv", b'a,x\n1,"' + b"1,2\n" * 10**5, "closed quotes", 1),
    "CSV, labels that are unknown": Case("f.csv", b"1,2,0,?\n1,2,1,?\n", "trailing separators", 1),
    "CSV, unnamed last column": Case("f.csv", b"a,b,x,\n1,2,0,1\n", "a name for column 4", 1),
    "CSV, labels of 7": Case("f.csv", b"a,l\n1,1\n2,7\n", "label l must be 1, 0 or nothing", 1),
    "CSV, labels alone": Case("f.csv", b"a,l\n1,1\n", "fewer than the 2 columns", 2),
    "CSV, a label of no column": Case("f.csv", b"a,l\n1,1\n", "the name of a column", ["m"]),
    "CSV, nan": Case("f.csv", b"a,x\nnan,0\n", "column a must be a finite number", 1),
    "CSV of no encoding": Case("f.csv", b"caf\x81\xe9,x\n1,0\n", "UTF-8 text in line 1", 1),
    "CSV, a broken byte below good ones": Case(
        "f.csv", "\ufeffÁ,x\n1,0\n".encode() + b"\xff,1\n", "UTF-8 text in line 3", 1
    ),
    "gzip bomb in a plain name": Case("f.csv", lambda: gzip_bomb(2**27), "unpacked", 1),
    "gzip, truncated": Case("f.csv", gzip.compress(b"a,x\n1,0\n" * 1000)[:-9], "whole gzip", 1),
    "gzip in gzip": Case("f.csv.gz", gzip.compress(gzip.compress(b"a,x\n1,0\n")), "no NUL bytes", 1),
    "xz": Case("f.arff", lzma.compress(ARFF), "no NUL bytes", 1),
    "labels without end": Case("f.arff", ARFF + b"1,u,0\n", "a regular file", Path("/dev/zero")),
    # Archives of arrays.
    "npz, declared beyond its bytes": archive("do not fit", X=header((10**9, 4)), Y=ONE),
    "npz, shape beyond 64 bits": archive("whole .npz", X=header((10**30, 10**30)), Y=ONE),
    "npz of no dimension": archive("X", X=np.array(1.0), Y=ONE),
    "npz, names that are too many": archive("label_names", X=ONE, Y=ONE, label_names=zeros(10**6, "<U1")),
    "npz, rows that differ": archive("rows", X=zeros(10**7, "|i1", (10**7, 1)), Y=ONE),
    "npz of no rows": archive("X", X=np.ones((0, 3)), Y=np.ones((0, 1))),
    "npz, pickle": archive("plain arrays", X=np.array([[object]], dtype=object), Y=ONE),
    "npz, structured": archive("plain arrays", X=np.zeros((2, 1), "f8,f8"), Y=ONE),
    "npz, names beyond Unicode": archive("whole .npz", X=ONE, Y=ONE, label_names=UNNAMED),
    "npz, infinite": archive("finite", X=ONE * np.inf, Y=ONE),
    "npz, a header of code": archive(".npz", X=b"\x93NUMPY\x01\x00\x10\x00__import__('os')"[:26], Y=ONE),
    "npz, header of nested brackets": archive("whole .npz", X=b"\x93NUMPY\x01\x00`\xea" + b"(" * 60000, Y=ONE),
    "npz, truncated": Case("f.npz", npz(X=ONE, Y=ONE)[:-30], "whole .npz"),
    "npz, wrong checksum": Case("f.npz", flipped(npz(X=np.ones((2, 1)), Y=ONE)), "whole .npz"),
    "npz, a member twice": Case("f.npz", lambda: twice(ONE), "whole .npz"),
    "npz, labels of 7": archive("1, 0 and -1, nan if unknown", X=ONE, Y=ONE * 7),
    # Models.
    "model of 2e9 features": model("sizes", sizes=np.array([2 * 10**9, 2, 0, 0, 1])),
    "model of sizes beyond 64 bits": model("sizes", sizes=np.array([2**64 - 1, 2, 0, 0, 0], np.uint64)),
    "model of three sizes": model("sizes that no model has", sizes=np.ones(3)),
    "model of another class": model("fit --save", kind=np.array("Popen")),
    "model without an estimate": model("fit --save", estimate_s=None),
    "model, factors that do not fit": model("fit --save", estimate_V=np.eye(5, 1)),
    "model of nan": model("numbers below", estimate_s=np.array([np.nan])),
    "model that overflows": model("numbers below", estimate_s=np.array([1e308])),
    "model, names that are too few": model("label_names", label_names=np.array(["x"])),
    "model of a later version": model("version", lrlab_model=np.array(9)),
    "kernel of lrlab 0.3": model("0.3", KERNEL, estimate_kernel=np.array([0.0, 1, 2])),
    "model of scaled rows": model("no longer supports", scaling=np.array("rows")),
    "kernel without units": model("units", KERNEL, estimate_units=np.zeros(3)),
    "kernel of another centre": model("broadcast", KERNEL, estimate_centre=np.zeros(9)),
    "kernel, landmarks beyond the table": model("fit --save", KERNEL, **BEYOND),
    "compressed labels, endless": model("settings", COMPRESSED, estimate_settings=np.array([1, 1, 1, 1e300])),
    # Pictures.
    "PNG of 60,000 x 60,000": picture(png(60_000, 60_000, b"x" * 1000), "50 megapixels"),
    "PNG, truncated": picture(png(2000, 2000, zlib.compress(bytes(9))), "PNG or JPEG"),
    "no picture": picture(b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG or JPEG"),
}


def twice(array: Any) -> bytes:
    """Return an archive with two members of one name."""
    import warnings

    stream = io.BytesIO(npz(X=array, Y=array))
    with zipfile.ZipFile(stream, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        archive.writestr("X.npy", npy(array))
    return stream.getvalue()


SEED = 20_026


def text(header: str, rows, words: dict[tuple[int, int], str] | None = None) -> bytes:
    """Return CSV with some fields replaced."""
    lines = [[f"{value:.6g}" for value in row] for row in np.asarray(rows)]
    for (row, column), word in (words or {}).items():
        lines[row][column] = word
    return "\n".join([*([header] if header else []), *map(",".join, lines)]).encode()


def broken_texts(header: str, rows) -> dict[str, bytes]:
    """Return what may be wrong with any CSV, of rows that are right otherwise."""
    good, one = text(header, rows), {(2, 1): "oops"}
    return {
        "empty.csv": b"",
        "header alone.csv": header.encode(),
        "blank.csv": b"\n\n\n",
        "word.csv": text(header, rows, one),
        "short row.csv": good + b"\n1,2",
        "long row.csv": good + b"\n" + b"1," * 50 + b"1",
        "open quote.csv": good + b'\n"1,2',
        "nul.csv": good + b"\n1,\0,2",
        "latin.csv": good.replace(b"\n", b"\n\xe9\xff,", 1),
        "binary.csv": bytes(range(256)) * 20,
        "twice.csv": b"a,a," + good,
        "packed.csv.gz": b"\x1f\x8b\x08damaged",
        "zip.csv": npz(good=good),
        "one row.csv": text(header, rows[:1]),
        "infinite.csv": text(header, rows, {(1, 0): "inf"}),
        "huge.csv": text(header, rows, {(1, 0): "1e300"}),
        "name.unknown": good,
        "named.parquet": good,
        "named.npz": good,
        "words alone.csv": b"\n".join(b"a,b,c" for _ in range(9)),
    }


def called(options: list[str], files: dict[str, bytes]) -> dict[str, tuple[bytes, list[str]]]:
    """Return files with the options of the shell."""
    return {name: (content, options) for name, content in files.items()}


X, y, _ = cases.answers(SEED, n=60)
XB, ZB, yB, _ = cases.bilinear(SEED, m=60)
XQ, yQ, _ = cases.quadratic(SEED, m=60)
given, _ = cases.gaps(SEED, n1=12, n2=9)
A, yA, _ = cases.magnitudes(SEED, m=80)
patterns, masks, _ = cases.patterns(SEED)
rows, rowsB = np.column_stack([X, y]), np.column_stack([XB, ZB, yB])
NAMES, HEADER = "a,b,c,d,e,f,y", ",".join([*(f"x{k}" for k in range(8)), "y"])

ANSWERS = {
    **broken_texts(NAMES, rows),
    "gap.csv": text(NAMES, rows, {(4, 2): ""}),
    "three answers.csv": text(NAMES, np.column_stack([X, np.arange(60) % 3])),
    "one column.csv": text("a,y", np.column_stack([X[:, 0], y])),
    "constant.csv": text("a,b,y", np.column_stack([np.ones((60, 2)), y])),
}
DATES = pd.DataFrame({"a": pd.date_range("2020", periods=3), "b": [[1], [2], [3]], "y": [1, 0, 1]})
BILINEAR = {"few columns.csv": text("a,b,y", rowsB[:, [0, 9, 14]])}
QUADRATIC = {
    "no y.csv": text(HEADER.replace(",y", ",b"), np.column_stack([XQ, yQ])),
    "zeros.csv": text(HEADER, np.column_stack([XQ, 0 * yQ])),
}
TABLE = {
    **broken_texts("", given),
    "all gaps.csv": b"a,b\n,\n,\n?,?",
    "one column.csv": b"a\n1\n2\n\n3",
    "one entry.csv": b"a,b\n1,\n,\n?,",
}
del TABLE["header alone.csv"]  # Without a header it is the empty file.
TRIPLES = {
    "two columns.csv": b"r,c\na,b\na,c",
    "twice.txt.csv": b"r,c,v\na,b,1\na,b,2\nc,d,3",
    "worded values.csv": b"r,c,v\na,b,good\na,d,bad",
    "unnamed.csv": b"r,c,v\n1,2,3\n,3,4",
}
MAGNITUDES = {
    "empty.npz": b"",
    "text.npz": b"1,2,3",
    "cut.npz": npz(y=yA, A=A)[:5000],
    "no y.npz": npz(A=A),
    "no A.npz": npz(y=yA),
    "two.npz": npz(y=yA, A=A, X=A),
    "objects.npz": npz(y=np.array([{}], dtype=object), A=A),
    "negative.npz": npz(y=-yA, A=A),
    "no masks.npz": npz(patterns=patterns),
    "places.npz": npz(y=yA, A=A, rows=np.arange(80)),
}
FORM = ["--model", "rank-one-sensing"]
KINDS = {
    "answers": called(["--model", "flipped-logistic"], ANSWERS) | called([], {"dates.parquet": DATES.to_parquet()}),
    "bilinear": called([*FORM, "--z", "9-14"], BILINEAR)
    | called(FORM, {"no z.csv": text("", rowsB)})
    | called([*FORM, "--z", "9-14,9"], {"z twice.csv": text("", rowsB)}),
    "quadratic": called(["--model", "polynomial-network", "--y", "y"], QUADRATIC),
    "table": called(["--model", "inductive-completion"], TABLE),
    "triples": called(["--triples"], TRIPLES),
    "magnitudes": called(["--model", "phase-retrieval"], MAGNITUDES),
}
