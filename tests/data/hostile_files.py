"""Files without measurements: a name, the content, and the options of the shell."""

import io

import numpy as np

from tests.data import cases

SEED = 20_026


def text(header: str, rows, words: dict[tuple[int, int], str] | None = None) -> bytes:
    """Return CSV with some fields replaced."""
    lines = [[f"{value:.6g}" for value in row] for row in np.asarray(rows)]
    for (row, column), word in (words or {}).items():
        lines[row][column] = word
    return "\n".join([*([header] if header else []), *map(",".join, lines)]).encode()


def npz(**arrays) -> bytes:
    """Return an archive of arrays."""
    memory = io.BytesIO()
    np.savez(memory, **arrays)
    return memory.getvalue()


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
        "zip.csv": b"PK\x03\x04" + good,
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
    "words.npz": npz(y=np.array(["a"] * 80), A=A),
    "short.npz": npz(y=yA[:-1], A=A),
    "negative.npz": npz(y=-yA, A=A),
    "nan.npz": npz(y=np.where(yA > yA.mean(), np.nan, yA), A=A),
    "inf.npz": npz(y=yA, A=A * np.inf),
    "huge.npz": npz(y=yA, A=A * 1e200),
    "zeros.npz": npz(y=0 * yA, A=A),
    "zero A.npz": npz(y=yA, A=0 * A),
    "vector A.npz": npz(y=yA, A=A[:, 0]),
    "one.npz": npz(y=yA[:1], A=A[:1]),
    "deep.npz": npz(y=yA, A=A[None, None]),
    "masks.npz": npz(patterns=patterns, masks=masks[:-1]),
    "no masks.npz": npz(patterns=patterns),
    "large.npz": npz(patterns=np.ones((2, 120, 90)), masks=np.ones((2, 120, 90))),
    "places.npz": npz(y=yA, A=A, rows=np.arange(80)),
}
FORM = ["--model", "rank-one-sensing"]
KINDS = {
    "answers": called(["--model", "flipped-logistic"], ANSWERS),
    "bilinear": called([*FORM, "--z", "9-14"], BILINEAR)
    | called(FORM, {"no z.csv": text("", rowsB)})
    | called([*FORM, "--z", "9-14,9"], {"z twice.csv": text("", rowsB)}),
    "quadratic": called(["--model", "polynomial-network", "--y", "y"], QUADRATIC),
    "table": called(["--model", "inductive-completion"], TABLE),
    "triples": called(["--triples"], TRIPLES),
    "magnitudes": called(["--model", "phase-retrieval"], MAGNITUDES),
}
