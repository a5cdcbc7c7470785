r"""Reads ARFF of Mulan, MEKA and Weka, dense or sparse, as a DataFrame (scipy reads no sparse ARFF and no MEKA labels).

A sparse row omits the first value of each attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. `?` is unknown.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import csv
import re
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array

from lrlab.data.dataset import LabelChoice
from lrlab.data.files import GROWTH, Source, number, printable
from lrlab.data.tables import Dialect, require_names

QUOTED = re.compile(r"""\\(.)|(?<![^\s,{])'((?:[^'\\]|\\.)*+)'|(?<![^\s,{])"((?:[^"\\]|\\.)*+)\"""", re.DOTALL)
OPEN = re.compile(r"""(?<![^\s,{])['"]""")
ATTRIBUTE = re.compile(r"\s*+@attribute\s++([^\s{]++)\s*+(\{.*\}|[a-z]++)\s*+", re.IGNORECASE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
HIDDEN = {ord(mark): 0xE000 + k for k, mark in enumerate(" \t\r\n,{}%'\"\\")}
"""Placeholders for special characters in quoted text, so that rows can be split."""
SHOWN = {code: mark for mark, code in HIDDEN.items()}
NUMBERS, LABEL = ("numeric", "real", "integer"), "label"
REMEDY = "correct the value, check the labels, and quote values with spaces, commas or braces"


class Attribute(NamedTuple):
    """An attribute: its name, its kind, and its listed values with their places (none for numbers)."""

    name: str
    kind: str
    codes: dict[str, float]

    @property
    def need(self) -> str:
        """The expected values in words."""
        return printable(f"{'one of its listed values' if self.codes else 'a number'} for attribute {self.name[:60]}")

    def coded(self, word: str) -> float | None:
        """Return a number, or the place of a listed value; nan for `?`, None for another word."""
        word = word.strip().translate(SHOWN)
        return np.nan if word == "?" else self.codes.get(word) if self.codes else number(word)

    def decoded(self, codes: pd.Series) -> pd.Series:
        """Return a column of codes as numbers, or as categories."""
        values = list(self.codes)
        if values in ([], ["0", "1"]):
            return codes
        numbers = list(map(number, values))
        if len(values) == 2 and None not in numbers:
            made = np.append(np.array(numbers, dtype=np.float64), np.nan)[codes.fillna(-1).astype(int)]
            return pd.Series(made).astype(codes.dtype)
        return pd.Series(pd.Categorical.from_codes(codes.fillna(-1).astype(int), values))


def read_arff(source: Source) -> tuple[pd.DataFrame, LabelChoice | None]:
    """Return the rows of a file, and the labels that it states, by attributes of type label or by MEKA's `-C n`.

    Columns of listed values are categories, or numbers if there are two numbers. A sparse file has sparse columns.
    """
    whole, _ = source.lines()
    source.require_few(sum(line.lstrip()[:10].lower() == "@attribute" for line in whole), "attributes")
    lines = {k: line for k, text in enumerate(whole, 1) if (line := text.strip()) and line[0] != "%"}
    start = next((k for k, line in lines.items() if line.lower().startswith("@data")), 0)
    header = {k: line for k, line in lines.items() if k < start or not start}
    named = {k: line for k, line in header.items() if line.lower().startswith("@attribute")}
    for k, line in header.items():
        if k not in named and not line.lower().startswith("@relation"):
            remedy = "remove the line, or put @data on a separate line before the first row"
            raise source.refuse(k, "@relation, @attribute, @data or a % comment", line, remedy)
    attributes = [_attribute(source, k, line) for k, line in named.items()]
    names = [one.name for one in attributes]
    require_names(source, start, names)
    rows = {k: _plain(source, k, line) for k, line in lines.items() if k > start > 0}
    if not attributes or not rows:
        need = "rows after @data" if attributes and start else "@attribute lines, and @data after the attributes"
        raise source.refuse(start or max(lines, default=0) + 1, need, "nothing", "add them")
    frame = (_sparse if next(iter(rows.values())).startswith("{") else _dense)(source, attributes, rows)
    special = sum(len(one.codes) > 1 and [*one.codes] != ["0", "1"] for one in attributes)
    source.require_room(len(rows) * special * GROWTH, "columns of listed values")
    frame = pd.concat([one.decoded(frame[k]) for k, one in enumerate(attributes)], axis=1).set_axis(names, axis=1)
    if labels := tuple(one.name for one in attributes if one.kind == LABEL):
        return frame, LabelChoice(labels)
    stated = MEKA.search(next((line for line in header.values() if line.lower().startswith("@relation")), ""))
    return frame, LabelChoice(count=abs(int(stated[1])), first=int(stated[1]) > 0) if stated else None


def _attribute(source: Source, k: int, line: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(_plain(source, k, line).partition("%")[0])
    kind = match[2].lower() if match else ""
    if match is None or not (kind.startswith("{") or kind in (*NUMBERS, LABEL)):
        need = "`@attribute name numeric` or `@attribute name {value, value}`"
        remedy = "remove attributes of text, dates or tables" if kind else "put names with spaces or commas in quotes"
        raise source.refuse(k, need, line, remedy)
    values = [value.strip().translate(SHOWN) for value in match[2][1:-1].split(",")] if kind[0] == "{" else []
    codes = {value: float(place) for place, value in enumerate(values)}
    if len(codes) < len(values):
        raise source.refuse(k, "different values between braces", line, "quote values with spaces, commas or braces")
    return Attribute(match[1].translate(SHOWN), kind, codes)


def _plain(source: Source, k: int, line: str) -> str:
    """Return line k without quotes and escapes, with placeholders for special characters of quoted text."""
    if "'" not in line and '"' not in line and "\\" not in line:
        return line
    text = QUOTED.sub(lambda m: re.sub(r"\\(.)", r"\1", m[1] or m[2] or m[3] or "").translate(HIDDEN), line)
    if OPEN.search(text):
        raise source.refuse(k, "quotes that are closed", line, "close the quotes, or escape them by a backslash")
    return text


def _dense(source: Source, attributes: list[Attribute], rows: dict[int, str]) -> pd.DataFrame:
    """Return the codes of rows `value, value, ...`."""
    width, texts = len(attributes), list[str]()
    source.require_room(len(rows) * width * GROWTH, "values")
    for k, row in rows.items():
        texts.append(row if "," in row or width == 1 else ",".join(row.split()))
        if texts[-1].count(",") != width - 1:
            remedy = "give one value for each attribute, and write all rows in one form"
            raise source.refuse(k, f"{width} values separated by commas", row, remedy)
    words = {k: str for k, one in enumerate(attributes) if one.codes}
    look = {"keep_default_na": False, "quoting": csv.QUOTE_NONE, "low_memory": False}
    frame = Dialect().parsed(texts, width, na_values=["?"], dtype=words, **look)
    for k, one in enumerate(attributes):
        if pd.api.types.is_numeric_dtype(frame[k]):
            frame[k] = frame[k].astype(np.float64)
            continue
        for place, word in frame[k].drop_duplicates().dropna().items():
            if one.coded(word) is None:
                raise source.refuse(list(rows)[place], one.need, word.translate(SHOWN), REMEDY)
        frame[k] = frame[k].map(one.coded, na_action="ignore").astype(np.float64)
    return frame


def _sparse(source: Source, attributes: list[Attribute], rows: dict[int, str]) -> pd.DataFrame:
    """Return the codes of rows `{index value, ...}`: whatever a row omits has code 0."""
    width, entries = len(attributes), list[tuple[int, int, float | None]]()
    source.require_columns(width)
    for i, (k, row) in enumerate(rows.items()):
        pairs = [pair.split() for pair in row[1:-1].split(",")] if row[1:-1].strip() else []
        places = [int(pair[0]) if len(pair) == 2 and pair[0].isdecimal() else width for pair in pairs]
        if row[0] + row[-1] != "{}" or len(set(places)) < len(places) or max(places, default=0) >= width:
            need = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
            raise source.refuse(k, need, row, REMEDY)
        values = [attributes[at].coded(pair[1]) for at, pair in zip(places, pairs, strict=True)]
        if None in values:
            raise source.refuse(k, attributes[places[values.index(None)]].need, row, REMEDY)
        entries += [(i, at, value) for at, value in zip(places, values, strict=True)]
    of, at, codes = (np.array(part) for part in zip(*entries, strict=True)) if entries else np.zeros((3, 0), dtype=int)
    return pd.DataFrame.sparse.from_spmatrix(csc_array((codes, (of, at)), shape=(len(rows), width)))
