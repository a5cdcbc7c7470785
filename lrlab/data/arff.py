r"""Reads ARFF of Mulan, MEKA and Weka, dense or sparse, as a DataFrame (scipy reads no sparse ARFF and no MEKA labels).

A sparse row omits the first value of each attribute: 0 for numbers and for {0,1}, but 1 for {1,0}. `?` is unknown.
Format: https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import re
from array import array
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csc_array

from lrlab.data.dataset import LabelChoice
from lrlab.data.files import COLUMN_BYTES, GROWTH, Source, number, printable
from lrlab.data.tables import require_names
from lrlab.parameters import counted

WORD = re.compile(r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|([^\s,{}'"][^\s,{}]*+)""", re.DOTALL)
"""A word in quotes, or without; spaces, commas and braces separate words."""
ATTRIBUTE = re.compile(rf"@attribute\s++({WORD.pattern})\s*+(\{{.*?\}}|[a-z]++)\s*+(%.*)?", re.IGNORECASE)
MEKA = re.compile(r"-C\s++(-?\d{1,9})\b", re.ASCII)
KINDS = ("numeric", "real", "integer", "label")
NUMBERS: tuple[list[str], ...] = ([], ["0", "1"])
"""Lists of values whose places are the numbers themselves."""
REMEDY = "correct the value, write all rows in one form, and quote values with spaces, commas or braces"


class Attribute(NamedTuple):
    """An attribute: its name, its kind, and its listed values (none for numbers)."""

    name: str
    kind: str
    values: dict[str, int]

    def coded(self, word: str) -> float | None:
        """Return a number, or the place of a listed value; nan for `?`, None for another word."""
        return np.nan if word == "?" else self.values.get(word) if self.values else number(word)

    def decoded(self, codes: pd.Series) -> pd.Series:
        """Return codes as numbers, or as categories for a list of other than two numbers."""
        if [*self.values] in NUMBERS:
            return codes
        places, numbers = codes.fillna(-1).astype(int), list(map(number, self.values))
        if len(numbers) == 2 and None not in numbers:
            return pd.Series(np.array([*numbers, np.nan], dtype=np.float64)[places]).astype(codes.dtype)
        return pd.Series(pd.Categorical.from_codes(places, list(self.values)))


def read_arff(source: Source) -> tuple[pd.DataFrame, LabelChoice | None]:
    """Return the rows of a file, and the labels that it states, by attributes of type label or by MEKA's `-C n`.

    Columns of listed values are categories, or numbers if there are two numbers. A sparse file has sparse columns.
    """
    whole = {k: line for k, text in enumerate(source.lines()[0], 1) if (line := text.strip()) and line[0] != "%"}
    marks = {k: line.split(maxsplit=1)[0].lower() for k, line in whole.items() if line[0] == "@"}
    start = next((k for k, mark in marks.items() if mark == "@data"), 0)
    header = {k: line for k, line in whole.items() if k < start or not start}
    source.require_few(sum(marks.get(k) == "@attribute" for k in header), "attributes")
    if other := next((k for k in header if marks.get(k) not in ("@attribute", "@relation")), 0):
        remedy = "remove the line, or put @data on a separate line before the first row"
        raise source.refuse(other, "@relation, @attribute, @data or a % comment", whole[other], remedy)
    attributes = [_attribute(source, k, line) for k, line in header.items() if marks[k] == "@attribute"]
    names, rows = [one.name for one in attributes], {k: line for k, line in whole.items() if k > start > 0}
    require_names(source, start, names)
    if not attributes or not rows:
        need = "rows after @data" if attributes and start else "@attribute lines, and @data after the attributes"
        raise source.refuse(start or max(whole, default=0) + 1, need, "nothing", "add them")
    special = sum([*one.values] not in NUMBERS for one in attributes)
    source.require_room(len(rows) * special * GROWTH, "columns of listed values")
    codes = _codes(source, attributes, rows)
    frame = pd.concat([one.decoded(codes[k]) for k, one in enumerate(attributes)], axis=1).set_axis(names, axis=1)
    if labels := tuple(one.name for one in attributes if one.kind == "label"):
        return frame, LabelChoice(labels)
    stated = next(filter(None, (MEKA.search(line) for k, line in header.items() if marks[k] == "@relation")), None)
    return frame, LabelChoice(count=abs(int(stated[1])), first=int(stated[1]) > 0) if stated else None


def _attribute(source: Source, k: int, line: str) -> Attribute:
    match = ATTRIBUTE.fullmatch(line)
    kind = match[5].lower() if match else ""
    if match is None or not (kind.startswith("{") or kind in KINDS):
        need = "`@attribute name numeric` or `@attribute name {value, value}`"
        remedy = "remove attributes of text, dates or tables, and put names with spaces or commas in quotes"
        raise source.refuse(k, need, line, remedy)
    values = _words(source, k, match[5]) if kind.startswith("{") else []
    if len(set(values)) < len(values):
        raise source.refuse(k, "different values between braces", line, "quote values with spaces, commas or braces")
    return Attribute(_words(source, k, match[1])[0], kind, {value: place for place, value in enumerate(values)})


def _words(source: Source, k: int, line: str, group: int = 1) -> list[str]:
    """Return the words of line k, without quotes and escapes; commas, if any, separate groups of words."""
    words, rest = ["".join(groups) for groups in WORD.findall(line)], WORD.sub("", line)
    if rest.removeprefix("{").removesuffix("}").strip(" \t,"):
        raise source.refuse(k, "closed quotes and braces", line, "close quotes, or escape them by a backslash")
    if rest.count(",") not in (0, len(words) // group - 1):
        raise source.refuse(k, "values between all commas", line, REMEDY)
    return [re.sub(r"\\(.)", r"\1", word) for word in words] if "\\" in line else words


def _codes(source: Source, attributes: list[Attribute], rows: dict[int, str]) -> pd.DataFrame:
    """Return numbers, and the places of listed values; nan for `?`, and 0 for whatever a sparse row omits."""
    width, sparse = len(attributes), next(iter(rows.values())).startswith("{")
    source.require_room(width * (COLUMN_BYTES if sparse else len(rows) * GROWTH), "values")
    owners, places, codes = array("q"), array("q"), array("d")
    for owner, (k, row) in enumerate(rows.items()):
        words, at = _words(source, k, row, 2 if sparse else 1), list(range(width))
        if sparse:
            at, words = [int(word) if word.isdecimal() else width for word in words[::2]], words[1::2]
        if len(at) != len(words) or len({*at, width}) <= len(at) or sparse != (row[0] + row[-1] == "{}"):
            pairs = f"pairs `index value` in braces, indices from 0 to {width - 1} once each,"
            raise source.refuse(k, pairs if sparse else f"{counted(width, 'value')} separated by commas", row, REMEDY)
        for place, word in zip(at, words, strict=True):
            if (code := attributes[place].coded(word)) is None:
                one = "one of its listed values" if attributes[place].values else "a number"
                need = printable(f"{one} for attribute {attributes[place].name[:60]}")
                raise source.refuse(k, need, word, REMEDY)
            codes.append(code)
        places.extend(at)
        owners.extend([owner] * len(at))
    if sparse:
        return pd.DataFrame.sparse.from_spmatrix(csc_array((codes, (owners, places)), shape=(len(rows), width)))
    return pd.DataFrame(np.reshape(codes, (len(rows), width)))
