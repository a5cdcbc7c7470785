r"""Reads ARFF of Mulan, MEKA and Weka, dense or sparse, with labels among the attributes (scipy reads no sparse ARFF).

A sparse row omits the first value of each attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. A label `?` is
unknown; lrlab rejects a feature `?`. A feature with two listed values becomes one column of 0 and 1, one with more
values becomes a column per value. lrlab drops a feature whose values name the rows, and notes it.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import io
import re
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array, csr_array, hstack

from lrlab.arrays import Matrix
from lrlab.data.dataset import Dataset, dataset_of
from lrlab.data.files import GROWTH, Source, label_value, number, printable
from lrlab.data.labels import FORMS, LabelChoice
from lrlab.parameters import InputError

QUOTED = re.compile(r"""\\(.)|(?<![^\s,{])'((?:[^'\\]|\\.)*+)'|(?<![^\s,{])"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
OPEN = re.compile(r"""(?<![^\s,{])['"]""")
ATTRIBUTE = re.compile(r"\s*+@attribute\s++([^\s{]++)\s*+(\{.*\}|[a-z]++)\s*+", re.IGNORECASE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
HIDDEN = {ord(mark): 0xE000 + k for k, mark in enumerate(" \t\r\n,{}%'\"\\")}
"""Placeholders for special characters in quoted text, so that rows can be split."""
SHOWN = {code: mark for mark, code in HIDDEN.items()}
NUMBERS, LABEL = ("numeric", "real", "integer"), "label"


class Attribute(NamedTuple):
    """An attribute: its name, its line, its kind, and its listed values (none for numbers)."""

    name: str
    line: int
    kind: str
    values: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        """Whether values are numbers, so that a sparse row omits 0."""
        return not self.values or self.values == ("0", "1")


def read_arff(source: Source, choice: LabelChoice | None) -> Dataset:
    """Read an ARFF file."""
    lines = source.lines()
    attributes, relation, start = _header(source, lines)
    labels = (choice or LabelChoice()) if choice and (choice.names or choice.count) else _stated(attributes, relation)
    if labels is None:
        raise InputError("labels", FORMS, "nothing", "say which attributes are labels")
    chosen = labels._replace(optional=choice.optional if choice else False).places([one.name for one in attributes])
    data = [(k, row.strip()) for k, row in enumerate(lines[start:], start + 1)]
    data = [(k, _plain(source, k, row)) for k, row in data if row and row[0] != "%"]
    if not data:
        raise source.refuse(start, "rows after @data", "none", "add the rows")
    sparse = data[0][1].startswith("{")
    if strange := next((one for one in data if one[1].startswith("{") != sparse), None):
        need = "rows like the first one, " + ("{index value, ...}" if sparse else "value, value, ...")
        raise source.refuse(strange[0], need, strange[1], "write all rows in one form")
    columns = (_sparse if sparse else _dense)(source, attributes, data)
    return _dataset(source, attributes, chosen, [k for k, _ in data], columns, sparse)


def _header(source: Source, lines: list[str]) -> tuple[list[Attribute], str, int]:
    """Return the attributes, the name of the relation, and the number of the line @data."""
    source.require_few(sum(line.count(",") for line in lines[:1000] if "@" in line), "attributes and values")
    attributes, relation, named = list[Attribute](), "", dict[str, int]()
    for k, line in enumerate(lines, 1):
        word = line.strip().partition(" ")[0].partition("\t")[0].lower()
        if word == "@data":
            if not attributes:
                raise source.refuse(k, "@attribute lines before @data", line, "declare the columns first")
            return attributes, relation, k
        if word == "@relation":
            relation = line
        elif word == "@attribute":
            one = _attribute(source, k, line)
            if one.name in named:
                need = f"a name that line {named[one.name]} does not use"
                raise source.refuse(k, need, one.name, "rename one of the two attributes")
            named[one.name] = k
            attributes.append(one)
            source.require_few(len(attributes), "attributes and values")
        elif word and not word.startswith("%"):
            remedy = "remove the line, or put @data on a separate line before the first row"
            raise source.refuse(k, "@relation, @attribute, @data or a % comment", line, remedy)
    remedy = "add a line @data before the rows"
    raise source.refuse(len(lines), "@data after the attributes", "the end of the file", remedy)


def _attribute(source: Source, k: int, line: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(_plain(source, k, line).partition("%")[0])
    kind = match[2].lower() if match else ""
    if match is None or not (kind.startswith("{") or kind in (*NUMBERS, LABEL)):
        need = "`@attribute name numeric` or `@attribute name {value, value}`"
        remedy = "remove attributes of text, dates or tables" if kind else "put names with spaces or commas in quotes"
        raise source.refuse(k, need, line, remedy)
    values = tuple(value.strip().translate(SHOWN) for value in match[2][1:-1].split(",")) if kind[0] == "{" else ()
    if len(set(values)) < len(values) or ("" in values and '""' not in line and "''" not in line):
        need = "different values between braces, separated by commas,"
        raise source.refuse(k, need, line, "quote values with spaces, commas, % or braces")
    return Attribute(match[1].translate(SHOWN), k, kind, values)


def _plain(source: Source, k: int, line: str) -> str:
    """Return line k without quotes and escapes, with placeholders for special characters of quoted text."""
    if "'" not in line and '"' not in line and "\\" not in line:
        return line
    text = QUOTED.sub(lambda m: re.sub(r"\\(.)", r"\1", m[1] or m[2] or m[3] or "").translate(HIDDEN), line)
    if OPEN.search(text):
        raise source.refuse(k, "quotes that are closed", line, "close the quotes, or escape them by a backslash")
    return text


def _stated(attributes: list[Attribute], relation: str) -> LabelChoice | None:
    """Return the labels that a file declares: attributes of type label, or MEKA's `-C n`."""
    if typed := tuple(one.name for one in attributes if one.kind == LABEL):
        return LabelChoice(names=typed)
    count = int(stated[1]) if (stated := MEKA.search(relation)) else 0
    return LabelChoice(count=abs(count), first=count > 0) if count else None


def _dense(source: Source, attributes: list[Attribute], data: list[tuple[int, str]]) -> list[pd.Series]:
    """Return each attribute as a column of numbers or words."""
    width, rows = len(attributes), list[str]()
    source.require_room(len(data) * width * GROWTH, "values")
    for k, row in data:
        rows.append(row if "," in row or width == 1 else ",".join(row.split()))
        if rows[-1].count(",") != width - 1:
            raise source.refuse(k, f"{width} values separated by commas", row, "give one value for each attribute")
    words: dict[int, type] = {k: str for k, one in enumerate(attributes) if not one.numeric}
    look = {"header": None, "names": range(width), "skipinitialspace": True, "keep_default_na": False}
    text = io.StringIO("\n".join(rows))
    frame = pd.read_csv(text, na_values=["?"], dtype=words, low_memory=False, quoting=3, **look)
    return [frame[k] for k in range(width)]


def _sparse(source: Source, attributes: list[Attribute], data: list[tuple[int, str]]) -> list[pd.Series]:
    """Return the words that rows state of each attribute, indexed by row."""
    width, flat, owners = len(attributes), list[str](), list[int]()
    source.require_columns(width)
    for i, (k, row) in enumerate(data):
        body = row[1:-1].strip()
        words = body.replace(",", " ").split()
        places = words[::2]
        paired = row.endswith("}") and len(words) == (body.count(",") + 1) * 2 * bool(body)
        known = all(word.isdecimal() and len(word) < 10 and int(word) < width for word in places)
        if not paired or not known or len(set(places)) < len(places):
            need = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
            remedy = "write pairs `index value` in braces, and quote values with spaces, commas or braces"
            raise source.refuse(k, need, row, remedy)
        flat += words
        owners += [i] * len(places)
    stated = pd.Series(flat[1::2], owners, dtype=object)
    groups = dict(iter(stated.groupby(np.array(flat[::2], dtype=np.int64))))
    return [groups.get(k, stated[:0]) for k in range(width)]


def _dataset(
    source: Source,
    attributes: list[Attribute],
    labels: list[int],
    lines: list[int],
    columns: list[pd.Series],
    sparse: bool,
) -> Dataset:
    """Return features and labels of the columns; a sparse file keeps its features sparse."""
    n, parts, names, notes, marks = len(lines), list[Matrix](), list[str](), list[str](), dict[int, Any]()
    special = sum(max(1, len(one.values)) for one in attributes if not one.numeric)
    source.require_room(n * (special + len(labels)) * GROWTH // 2, "labels and columns of listed values")
    for k, (one, column) in enumerate(zip(attributes, columns, strict=True)):
        codes = _codes(source, one, k in labels, lines, column)
        if k in labels:
            first = label_value(one.values[0]) if one.values else 0.0
            marks[k] = codes.reindex(range(n), fill_value=first).to_numpy()
            continue
        if one.numeric:
            place = codes.index, np.zeros(len(codes), dtype=np.int64)
            parts.append(csc_array((codes, place), shape=(n, 1)) if sparse else codes.to_numpy()[:, None])
            names.append(one.name)
            continue
        places = codes.reindex(range(n), fill_value=0.0).to_numpy().astype(int)
        values = list(map(number, one.values))
        if len(values) > 10 and len(np.unique(places)) > n / 2:
            notes.append(f"lrlab leaves attribute {printable(one.name)[:60]} out: it is nearly unique per row.")
        elif len(values) == 2:
            # {1,0} gives its value; two words give 1 for the second.
            parts.append(np.array([0.0, 1.0] if None in values else values, dtype=np.float64)[places][:, None])
            names.append(one.name if None not in values else f"{one.name}={one.values[1]}")
        else:
            parts.append((places[:, None] == np.arange(len(values))).astype(np.float64))
            names.extend(f"{one.name}={value}" for value in one.values)
    if not parts:
        raise InputError("attributes", "at least one feature", "none", "leave one attribute that is not a label")
    X: Matrix = csr_array(hstack(list(map(csc_array, parts)), format="csr")) if sparse else np.hstack(parts)
    if sparse:
        X.eliminate_zeros()
    on = np.column_stack([marks[k] for k in labels] or [np.zeros((n, 0))])
    return dataset_of(X, on, None, tuple(names), tuple(attributes[k].name for k in labels)).noted(notes)


def _codes(source: Source, one: Attribute, is_label: bool, lines: list[int], words: pd.Series) -> pd.Series:
    """Return words as numbers: 1, 0 and nan for labels, indices for listed values, else the numbers themselves."""
    if is_label and (strange := next((value for value in one.values if label_value(value) is None), "")):
        need = f"a label with values 0 and 1 (or false and true) for {one.name}"
        raise source.refuse(one.line, need, strange, "check which attributes are labels")
    if is_label or not one.numeric:
        code: Any = label_value if is_label else {value: float(k) for k, value in enumerate(one.values)}.get
        kinds = {word: code(str(word).translate(SHOWN).strip()) for word in pd.unique(words)}
        codes, wrong = words.map(kinds).astype(np.float64), words.map({w: c is None for w, c in kinds.items()})
    else:
        codes = pd.to_numeric(words, errors="coerce").astype(np.float64)
        wrong = ~np.isfinite(codes) | (bool(one.values) & ~codes.isin((0.0, 1.0)))
    if np.any(wrong):
        at = int(np.argmax(np.asarray(wrong, dtype=bool)))
        word = "?" if pd.isna(words.iloc[at]) else str(words.iloc[at]).translate(SHOWN)
        remedy = "fill the value in, or remove the row" if word in ("", "?") else "correct it, or check the labels"
        need = "1, 0 or ?" if is_label else "one of its listed values" if one.values else "a number"
        need = f"{need} for attribute {printable(one.name)[:60]}"
        raise source.refuse(lines[int(words.index[at])], need, word, remedy)
    return codes
