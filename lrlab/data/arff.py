r"""ARFF, dense or sparse, with the labels among its attributes (Mulan, MEKA, Weka); no library reads sparse ARFF.

A sparse row leaves out the first value of each attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. A label `?` is
unknown; a feature `?` is refused. An attribute of two listed values is one column of 0 and 1, of more values one column
per value; one that is nearly unique per row is left out, with a note.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import io
import re
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array, hstack

from lrlab.arrays import Matrix, Vector
from lrlab.data.dataset import Dataset, assemble
from lrlab.data.files import GROWTH, Source, label_value, number, printable
from lrlab.data.labels import FORMS, LabelChoice
from lrlab.parameters import InputError

QUOTED = re.compile(r"""\\(.)|(?<![^\s,{])'((?:[^'\\]|\\.)*+)'|(?<![^\s,{])"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
OPEN = re.compile(r"""(?<![^\s,{])['"]""")
ATTRIBUTE = re.compile(r"\s*+@attribute\s++([^\s{]++)\s*+(\{.*\}|[a-z]++)\s*+", re.IGNORECASE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
HIDDEN = {ord(mark): 0xE000 + k for k, mark in enumerate(" \t\r\n,{}%'\"\\")}
"""Characters of quoted text that have a meaning elsewhere, and what stands for them while rows are split."""
SHOWN = {code: mark for mark, code in HIDDEN.items()}
NUMBERS, LABEL = ("numeric", "real", "integer"), "label"


class Attribute(NamedTuple):
    """An attribute: its name, the line and kind that declare it, and the values that it lists (none: numbers)."""

    name: str
    line: int
    kind: str
    values: tuple[str, ...] = ()

    @property
    def counted(self) -> bool:
        """Whether its values are numbers, of which a sparse row leaves out 0."""
        return not self.values or self.values == ("0", "1")


def read_arff(source: Source, choice: LabelChoice | None) -> Dataset:
    """Read an ARFF file."""
    lines = source.lines()
    attributes, relation, start = _header(source, lines)
    labels = (choice or LabelChoice()) if choice and (choice.names or choice.count) else _stated(attributes, relation)
    if labels is None:
        raise InputError("labels", FORMS, "nothing", "say which attributes are labels")
    chosen = labels._replace(optional=choice.optional if choice else False).places([one.name for one in attributes])
    numbers, rows = list[int](), list[str]()
    for at, line in enumerate(lines[start:], start + 1):
        if (row := line.strip()) and row[0] != "%":
            numbers.append(at)
            rows.append(_plain(source, at, row))
    if not rows:
        raise source.refuse(start, "rows after @data", "none", "add the rows")
    sparse = rows[0].startswith("{")
    if strange := next((k for k, row in enumerate(rows) if row.startswith("{") != sparse), 0):
        need = "rows like the first one, " + ("{index value, ...}" if sparse else "value, value, ...")
        raise source.refuse(numbers[strange], need, rows[strange], "write all rows in one form")
    table = (_sparse if sparse else _dense)(source, attributes, numbers, rows)
    return _dataset(source, attributes, chosen, numbers, table)


def _header(source: Source, lines: list[str]) -> tuple[list[Attribute], str, int]:
    """Return the attributes, the name of the relation, and the number of the line @data."""
    source.require_few(sum(line.count(",") for line in lines[:1000] if "@" in line), "attributes and values")
    attributes, relation, named = list[Attribute](), "", dict[str, int]()
    for at, line in enumerate(lines, 1):
        word = line.strip().partition(" ")[0].partition("\t")[0].lower()
        if word == "@data":
            if not attributes:
                raise source.refuse(at, "@attribute lines before @data", line, "declare the columns first")
            return attributes, relation, at
        if word == "@relation":
            relation = line
        elif word == "@attribute":
            one = _attribute(source, at, line)
            if one.name in named:
                need = f"a name other than that of line {named[one.name]}"
                raise source.refuse(at, need, one.name, "rename one of the two attributes")
            named[one.name] = at
            attributes.append(one)
            source.require_few(len(attributes), "attributes and values")
        elif word and not word.startswith("%"):
            remedy = "remove the line, or put @data on a line of its own before the first row"
            raise source.refuse(at, "@relation, @attribute, @data or a % comment", line, remedy)
    raise source.refuse(
        len(lines), "@data after the attributes", "the end of the file", "add a line @data before the rows"
    )


def _attribute(source: Source, at: int, line: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(_plain(source, at, line).partition("%")[0])
    kind = match[2].lower() if match else ""
    if match is None or not (kind.startswith("{") or kind in (*NUMBERS, LABEL)):
        need = "`@attribute name numeric` or `@attribute name {value, value}`"
        remedy = "remove attributes of text, dates or tables" if kind else "put names with spaces or commas in quotes"
        raise source.refuse(at, need, line, remedy)
    values = tuple(value.strip().translate(SHOWN) for value in match[2][1:-1].split(",")) if kind[0] == "{" else ()
    if len(set(values)) < len(values) or ("" in values and '""' not in line and "''" not in line):
        need = "different values between braces, separated by commas,"
        raise source.refuse(at, need, line, "quote values with spaces, commas, % or braces")
    return Attribute(match[1].translate(SHOWN), at, kind, values)


def _plain(source: Source, at: int, line: str) -> str:
    """Return a line without quotes and escapes, in which characters of quoted text have no meaning."""
    if "'" not in line and '"' not in line and "\\" not in line:
        return line
    text = QUOTED.sub(lambda m: re.sub(r"\\(.)", r"\1", m[1] or m[2] or m[3] or "").translate(HIDDEN), line)
    if OPEN.search(text):
        raise source.refuse(at, "quotes that are closed", line, "close the quotes, or escape them by a backslash")
    return text


def _stated(attributes: list[Attribute], relation: str) -> LabelChoice | None:
    """Return the labels that a file states: by attributes of type label, or as MEKA does (-C n)."""
    if typed := tuple(one.name for one in attributes if one.kind == LABEL):
        return LabelChoice(names=typed)
    count = int(stated[1]) if (stated := MEKA.search(relation)) else 0
    return LabelChoice(count=abs(count), first=count > 0) if count else None


def _dense(source: Source, attributes: list[Attribute], numbers: list[int], rows: list[str]) -> pd.DataFrame:
    """Return the fields of rows, each column as numbers or as words."""
    width = len(attributes)
    source.require_room(len(rows) * width * GROWTH, "values")
    for k, row in enumerate(rows):
        if "," not in row and width > 1:
            rows[k] = row = ",".join(row.split())
        if row.count(",") != width - 1:
            need = f"{width} values separated by commas"
            raise source.refuse(numbers[k], need, row, "give one value for each attribute")
    words: dict[int, type] = {k: str for k, one in enumerate(attributes) if not one.counted}
    look = {"header": None, "names": range(width), "skipinitialspace": True, "keep_default_na": False}
    return pd.read_csv(io.StringIO("\n".join(rows)), na_values=["?"], dtype=words, low_memory=False, quoting=3, **look)


def _sparse(source: Source, attributes: list[Attribute], numbers: list[int], rows: list[str]) -> dict[int, pd.Series]:
    """Return the words that rows state, by attribute: series over the rows that state one."""
    width, flat, owners = len(attributes), list[str](), list[int]()
    source.require_columns(width)
    remedy = "write pairs `index value` in braces, and quote values with spaces, commas or braces"
    for k, row in enumerate(rows):
        body = row[1:-1].strip()
        words = body.replace(",", " ").split()
        places = words[::2]
        if not row.endswith("}") or len(words) != (body.count(",") + 1) * 2 * bool(body) or not all(
            word.isdecimal() and len(word) < 10 and int(word) < width for word in places
        ) or len(set(places)) < len(places):  # fmt: skip
            need = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
            raise source.refuse(numbers[k], need, row, remedy)
        flat += words
        owners += [k] * len(places)
    columns = np.array(flat[::2], dtype=np.int64)
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(width + 1))
    stated, of = np.array(flat[1::2], dtype=object)[order], np.array(owners, dtype=np.int64)[order]
    return {k: pd.Series(stated[a:b], of[a:b]) for k, (a, b) in enumerate(zip(ends[:-1], ends[1:], strict=True))}


def _dataset(
    source: Source,
    attributes: list[Attribute],
    labels: list[int],
    numbers: list[int],
    table: pd.DataFrame | dict[int, pd.Series],
) -> Dataset:
    """Return features and labels of what rows state."""
    n, width, sparse = len(numbers), len(attributes), isinstance(table, dict)
    special = sum(max(1, len(one.values)) for one in attributes if not one.counted)
    source.require_room(n * (special + len(labels)) * GROWTH // 2, "labels and columns of listed values")
    codes = [_codes(source, one, k in labels, numbers, table[k]) for k, one in enumerate(attributes)]
    whole: Matrix = None if sparse else np.column_stack(codes)
    if sparse:
        rows = np.concatenate([table[k].index for k in range(width)])
        columns = np.repeat(np.arange(width), [len(code) for code in codes])
        whole = csc_array((np.concatenate(codes), (rows, columns)), shape=(n, width))
    marks = whole[:, labels].toarray() if sparse else whole[:, labels]
    for j, k in enumerate(labels):
        if sparse and attributes[k].values and label_value(attributes[k].values[0]):
            marks[np.setdiff1d(np.arange(n), table[k].index), j] = 1.0
    parts, names, notes = list[Matrix](), list[str](), list[str]()
    features = sorted({*range(width)} - {*labels})
    for counted, group in groupby(features, lambda k: attributes[k].counted):
        block = list(group)
        if counted:
            parts.append(whole[:, block])
            names.extend(attributes[k].name for k in block)
        for k in [] if counted else block:
            one, place = attributes[k], np.ravel(whole[:, [k]].toarray() if sparse else whole[:, k]).astype(int)
            values = list(map(number, one.values))
            # Many values, different in most rows, name the rows.
            if len(values) > 10 and len(np.unique(place)) > n / 2:
                notes.append(f"Attribute {printable(one.name)[:60]} is nearly unique per row: it is left out.")
            elif len(values) == 2:
                # The column of {1,0} is its value, of two words whether it is the second one.
                parts.append(np.array([0.0, 1.0] if None in values else values, dtype=np.float64)[place][:, None])
                names.append(one.name if None not in values else f"{one.name}={one.values[1]}")
            else:
                parts.append((place[:, None] == np.arange(len(values))).astype(np.float64))
                names.extend(f"{one.name}={value}" for value in one.values)
    if not parts:
        raise InputError("attributes", "at least one feature", "none", "leave one attribute that is not a label")
    X: Matrix = csr_array(hstack(list(map(csr_array, parts)), format="csr")) if sparse else np.hstack(parts)
    if sparse:
        X.eliminate_zeros()
    return assemble(X, marks, tuple(names), tuple(attributes[k].name for k in labels)).noted(notes)


def _codes(source: Source, one: Attribute, is_label: bool, numbers: list[int], words: pd.Series) -> Vector:
    """Return words as numbers: 1, 0 and nan of a label, the place among listed values, or the number itself."""
    if is_label and (strange := next((value for value in one.values if label_value(value) is None), "")):
        need = f"a label of values 0 and 1 (or false and true) for {one.name}"
        raise source.refuse(one.line, need, strange, "check which attributes are labels")
    if is_label or not one.counted:
        code: Any = label_value if is_label else {value: float(k) for k, value in enumerate(one.values)}.get
        kinds = {word: code(str(word).translate(SHOWN).strip()) for word in pd.unique(words)}
        codes, wrong = words.map(kinds).to_numpy(np.float64), words.map({w: c is None for w, c in kinds.items()})
    else:
        codes = pd.to_numeric(words, errors="coerce").to_numpy(np.float64)
        wrong = ~np.isfinite(codes) | (bool(one.values) & ~np.isin(codes, (0.0, 1.0)))
    if np.any(wrong):
        at = int(np.argmax(np.asarray(wrong, dtype=bool)))
        word = "?" if pd.isna(words.iloc[at]) else str(words.iloc[at]).translate(SHOWN)
        remedy = "fill the value in, or remove the row" if word in ("", "?") else "correct it, or check the labels"
        need = "1, 0 or ?" if is_label else "one of its listed values" if one.values else "a number"
        need = f"{need} for attribute {printable(one.name)[:60]}"
        raise source.refuse(numbers[int(words.index[at])], need, word, remedy)
    return codes
