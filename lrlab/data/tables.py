"""Reads CSV with any separator and encoding, and parquet, as DataFrames.

pandas reads the fields. This module recognizes the separator, the decimal mark and the heading, and names the line of
a row that it cannot read.
"""

import datetime
import io
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lrlab.data.files import GROWTH, Source, number
from lrlab.parameters import InputError, counted

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", "::": "double colons", ",": "commas", " ": "spaces"}
THOUSANDS = {
    ".": re.compile(r"\s*[-+]?[1-9]\d{0,2}([, ])\d{3}(?:\1\d{3})*(?:\.\d*)?\s*", re.ASCII),
    ",": re.compile(r"\s*[-+]?[1-9]\d{0,2}([. ])\d{3}(?:\1\d{3})*(?:,\d*)?\s*", re.ASCII),
}
"""Numbers with thousands separators, by the decimal mark."""
CURRENCIES = "$€£¥"
SIGNS = str.maketrans(dict.fromkeys("\xa0\u202f\u2009'’", " ") | {"−": "-"} | dict.fromkeys(CURRENCIES, ""))
"""Other forms of a space between thousands and of a minus sign; currency signs do not count."""
SWAPPED = str.maketrans(".,", ",.")
OPEN_FIELD = re.compile(r'(?:^|[,;|:\t ])"[^"]*$')
"""The end of a line with a field in quotes that goes on in the next line."""
SNIFFED = 100
"""Number of rows that decide the separator."""
FAULTS = ["#div/0!", "#name?", "#null!", "#num!", "#ref!", "#value!"]
"""What a spreadsheet writes instead of a value."""
MISSING = ["?", "-", "none", "na", "nan", "null", *FAULTS]
"""Marks of a missing value, in lower case, in addition to pandas' list."""
KNOWN_MISSING = {*MISSING, "", *(word.lower() for word in pd._libs.parsers.STR_NA_VALUES)}


class Dialect(NamedTuple):
    """Separator and decimal mark."""

    separator: str = ","
    decimal: str = "."

    def fields(self, line: str) -> list[str]:
        """Return the fields of a line, without quotes around them."""
        if '"' in line:
            inside = r"\s" if self.separator == " " else re.escape(self.separator)
            line = re.sub(r'"[^"]*"', lambda field: re.sub(inside, "_", field[0][1:-1]), line)
        return line.split() if self.separator == " " else [field.strip() for field in line.split(self.separator)]

    def plain(self, field: str) -> str:
        """Return a number without thousands separators and currency signs, with a decimal point."""
        field = field.translate(SIGNS)
        if mark := THOUSANDS[self.decimal].fullmatch(field):
            field = field.replace(mark[1], "")
        return field.translate(SWAPPED) if self.decimal == "," else field

    def is_number(self, field: str) -> bool:
        """Return whether a field is a finite number; 1,288 is none before the decimal mark is known."""
        return (self.decimal == "," or "," not in field) and number(self.plain(field)) is not None

    def numeric(self, field: str) -> bool:
        """Return whether a field is a number, or a missing one."""
        return self.is_number(field) or field.lower() in KNOWN_MISSING

    def parsed(self, lines: Sequence[str], width: int, **options: object) -> pd.DataFrame:
        """Return the fields of lines, read by pandas."""
        separator = r"\s+" if self.separator == " " else self.separator
        if separator == "::":
            # pandas is fast with a single character only.
            lines, separator = [line.replace("::", "\t") for line in lines], "\t"
        look = {"header": None, "index_col": False, "skipinitialspace": True, "skip_blank_lines": False, **options}
        with warnings.catch_warnings():
            # pandas only warns of a row whose quotes give more fields, and drops the last ones.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(io.StringIO("\n".join(lines)), sep=separator, names=range(width), **look)


def read_frame(source: Source, missing: str = "") -> tuple[pd.DataFrame, str]:
    """Return the table of a CSV or parquet file, and words on its form, such as `separated by bars`.

    missing: a further mark of a missing value.
    """
    if source.kind == "parquet":
        return without(_parquet(source), missing), ""
    whole, encoding = source.lines()
    numbers, lines, comments = _rows(whole)
    dialect = sniffed(lines)
    widths = [len(dialect.fields(line)) for line in lines]
    # Lines of one field above a table describe it.
    above = next((k for k, width in enumerate(widths) if width > 1), 0)
    numbers, lines, widths = numbers[above:], lines[above:], widths[above:]
    width = max(widths[:2], default=0)
    if set(widths[1:]) == {sum(widths[:1]) + 1} and (named := _completed(dialect, lines)):
        lines[0], widths[0] = named, width
    _require_width(source, dialect, list(zip(numbers, lines, widths, strict=True)))
    with source.whole("CSV with rows of fields", "check separators and quotes"):
        heading = _heading(dialect, lines, width) if lines else []
    rows = lines[1:] if heading else lines
    if not rows:
        raise source.refuse(1, "at least one row of values", "none", "add the rows")
    marks = [form for word in MISSING for form in (word, word.upper(), word.capitalize())]
    marks += [missing] if missing not in ("", "none") else []
    with source.whole("CSV with rows of fields", "check separators and quotes"):
        frame = dialect.parsed(rows, width, decimal=dialect.decimal, na_values=marks, low_memory=False)
    names = heading or [str(k + 1) for k in range(width)]
    # Separators at the end of all lines make no columns.
    while names and not names[-1] and frame[len(names) - 1].isna().all():
        names.pop()
    require_names(source, numbers[0], names)
    _require_clear_points(source, dialect, names, rows[:SNIFFED])
    frame = frame.iloc[:, : len(names)].set_axis(names, axis=1)
    words = [f"separated by {SEPARATORS[dialect.separator]}"] if dialect.separator != "," else []
    words += ["decimal commas"] if dialect.decimal == "," else []
    words += _converted(source, frame, numbers[len(lines) - len(rows) :], dialect)
    for count, what in ((above, "line# above the table"), (comments, "comment#")):
        words += [f"without {count} {what.replace('#', 's' * (count > 1))}"] if count else []
    return frame, ", ".join([*words, *([encoding] if encoding else []), *([] if heading else ["no heading"])])


def _rows(whole: Sequence[str]) -> tuple[list[int], list[str], int]:
    """Return the numbers of lines, the lines without blank ones and comments (#), and the number of later comments.

    The last comment before the first row is a heading if it has as many words as that row, as in numpy's files.
    """
    numbers, lines, comment, later = list[int](), list[str](), "", 0
    values = ("#n/a", *FAULTS)
    for number_, line in _whole_rows(whole):
        if line.lstrip().startswith("#") and not line.lstrip().lower().startswith(values):
            comment = line.lstrip(" #") if not lines else comment
            later += bool(lines)
        elif line.strip(" ,;|\t"):
            numbers.append(number_)
            lines.append(line)
    if comment and lines:
        dialect = sniffed(lines)
        fields = dialect.fields(comment)
        if len(fields) == len(dialect.fields(lines[0])) and not any(map(dialect.is_number, fields)):
            return [1, *numbers], [comment, *lines], later
    return numbers, lines, later


def _whole_rows(whole: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line of each row, and the row, whose fields in quotes may have several lines."""
    parts, quotes = list[str](), 0
    for number_, line in enumerate(whole, 1):
        # A spreadsheet may name the separator in the first line.
        if number_ == 1 and re.fullmatch(r'"?sep=.?"?', line):
            continue
        parts.append(line)
        quotes += line.count('"')
        if quotes % 2 and (len(parts) > 1 or OPEN_FIELD.search(re.sub(r'"[^"]*"', "", line))):
            continue
        yield number_ - len(parts) + 1, "\n".join(parts)
        parts, quotes = [], 0
    if parts:
        yield len(whole) - len(parts) + 1, "\n".join(parts)


def sniffed(lines: Sequence[str]) -> Dialect:
    """Return the dialect that gives all rows the same number of fields, more than one, and the most numbers."""
    best, most = Dialect(), (False, -1.0)
    for separator in SEPARATORS if lines else ():
        for decimal in ".,":
            dialect = Dialect(separator, decimal)
            rows = [dialect.fields(line) for line in lines[:SNIFFED]]
            counts = [len(row) for row in rows]
            spaced = separator == " " and best.separator == "\t" and most[0]
            if separator == decimal or max(counts) < 2 or spaced:
                continue
            alike = max(counts.count(count) for count in set(counts) if count > 1) / len(counts)
            fields = [field for row in rows[1:] or rows for field in row]
            numeric = sum(map(dialect.numeric, fields)) / max(1, len(fields))
            # Prefer points to commas, and the first separators to the last.
            score = (alike > 0.9, numeric + (decimal == ".") * 1e-9)
            if score > most:
                best, most = dialect, score
    return best


def _require_width(source: Source, dialect: Dialect, rows: Sequence[tuple[int, str, int]]) -> None:
    """Raise InputError for too many columns, open quotes, or rows (line number, line, width) of different widths."""
    width = rows[0][2] if rows else 0
    source.require_few(width, "columns")
    source.require_room(len(rows) * width * GROWTH, "values")
    for at, line, fields in rows:
        if line.count('"') % 2:
            raise source.refuse(at, "fields in closed quotes", line, "check the quotes")
        if fields != width:
            remedy = f"check separators ({SEPARATORS[dialect.separator]}) and quotes in this row"
            raise source.refuse(at, counted(width, "field"), counted(fields, "field"), remedy)


def _completed(dialect: Dialect, lines: list[str]) -> str:
    """Return a heading with the name that it lacks, "" if none fits: all rows have one field more.

    R leaves out the name of the row names, which differ; other programs end the rows, but not the heading, by a
    separator.
    """
    rows = [dialect.fields(line) for line in lines[1:]]
    if any(map(dialect.is_number, dialect.fields(lines[0]))):
        return ""
    if not any(row[-1] for row in rows):
        return lines[0] + dialect.separator
    names = {row[0] for row in rows if row[0].isdecimal() or not dialect.numeric(row[0])}
    return f'""{dialect.separator}{lines[0]}' if len(names) == len(rows) else ""


def _heading(dialect: Dialect, lines: list[str], width: int) -> list[str]:
    """Return the names in the first row, nothing if the row holds values.

    The row holds names if no field is a number, or if other rows start with a word, and the row starts with nothing or
    continues with whole numbers at equal steps, such as years.
    """
    row = dialect.parsed(lines[:1], width, dtype=str, na_filter=False).iloc[0]
    first = [" ".join(str(field).split()) for field in row]
    numbers = [dialect.is_number(field) for field in first]
    if not any(numbers):
        return first if len(lines) > 1 or not all(map(dialect.numeric, first)) else []
    second = [dialect.fields(line)[0] for line in lines[1:SNIFFED]]
    years = not numbers[0] and all(numbers[1:]) and len(set(first)) == len(first)
    if years and first[0]:
        whole = len(first) > 3 and all(map(str.isdecimal, first[1:]))
        years = whole and len(set(np.diff(np.array(first[1:], dtype=np.float64)))) == 1
    return first if years and second and not any(map(dialect.numeric, second)) else []


def _require_clear_points(source: Source, dialect: Dialect, names: Sequence[str], rows: Sequence[str]) -> None:
    """Raise InputError for a column with 1.200 beside 950, whose points may stand between thousands."""
    for name, *column in zip(names, *map(dialect.fields, rows), strict=False) if dialect.decimal == "." else ():
        pointed, whole = ([one for one in column if ("." in one) == point and number(one)] for point in (True, False))
        if pointed and whole and all(map(THOUSANDS[","].fullmatch, pointed)) and all(len(one) < 4 for one in whole):
            need = f"points of one meaning in column {name[:60]}"
            remedy = "leave out points between thousands, or write all decimals"
            raise source.refuse(1, need, f"{pointed[0]} beside {whole[0]}", remedy)


def require_names(source: Source, line: int, names: Sequence[str]) -> None:
    """Raise InputError for a column without a name after the first one, or a name of two columns."""
    if "" in names[1:]:
        need = f"a name for column {names.index('', 1) + 1}, which has values,"
        raise source.refuse(line, need, "nothing", "name all columns, or remove lines above their names")
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise source.refuse(line, "names that differ", twice[0], "rename one of the two columns")


def _converted(source: Source, frame: pd.DataFrame, numbers: Sequence[int], dialect: Dialect) -> list[str]:
    """Turn columns of percents and of numbers with thousands separators into numbers; return words on them.

    Raises InputError for a word in a column of numbers.
    """
    said = dict[str, None]()
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        words = column.dropna().astype(str)
        mark = "%" if words.str.endswith("%").all() else ""
        bare = words.str.removesuffix(mark)
        # One column may have decimal commas, in quotes.
        some = bare.map(THOUSANDS["."].fullmatch).isna().any()
        commas = dialect.decimal == "." and some and bare.str.fullmatch(r"\s*[-+]?\d+,\d+\s*").all()
        decimal = "," if commas else dialect.decimal
        values = pd.to_numeric(bare.map(dialect._replace(decimal=decimal).plain), errors="coerce")
        if values.notna().all():
            frame[name] = values.reindex(frame.index)
            signs = {
                "percent signs": mark,
                "currency signs": words.str.contains(f"[{CURRENCIES}]").any(),
                "decimal commas": commas,
                "thousands separators": bare.str.translate(SIGNS).map(THOUSANDS[decimal].fullmatch).notna().any(),
            }
            said |= dict.fromkeys(sign for sign, found in signs.items() if found)
        elif values.notna().mean() > 0.5:
            place = words.index[int(np.argmin(values.notna().to_numpy()))]
            need = f"a number in column {str(name)[:60]}, as in most rows,"
            remedy = f"correct it, leave the row out, or say missing={words[place][:20]} if it is missing"
            raise source.refuse(numbers[place], need, words[place], remedy)
    return list(said)


def without(frame: pd.DataFrame, missing: str) -> pd.DataFrame:
    """Return a table without a mark of a missing value, a number or a word; "" and none stand for no mark."""
    for name, column in frame.items() if missing not in ("", "none") else ():
        found = column == (number(missing) if pd.api.types.is_numeric_dtype(column) else missing)
        if found.any():
            frame[name] = column.mask(found)
    return frame


def _parquet(source: Source) -> pd.DataFrame:
    """Return the table of a parquet file."""
    from pyarrow.parquet import ParquetFile

    source.size()
    with source.whole("a whole parquet file", "write it again, with plain columns"), ParquetFile(source.path) as file:
        source.require_room(16 * file.metadata.num_rows * file.metadata.num_columns, "columns")
        frame = file.read().to_pandas()
    if not len(frame) or len(set(frame.columns)) < len(frame.columns):
        got = "no rows" if not len(frame) else "two columns of one name"
        raise InputError("file", "a parquet table with rows and names that differ", got, "write it again")
    for name, column in frame.items():
        numeric = pd.api.types.is_numeric_dtype(column)
        if not numeric and not column.dropna().map(lambda value: isinstance(value, str | datetime.date)).all():
            raise InputError(f"column {name}", "of numbers or of words", column.dtype, "convert it")
        if column.dtype == object:
            frame[name] = column.where(column.isna(), column.astype(str))
    named = frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex)
    frame = frame.reset_index(names=frame.index.name or "") if named else frame
    return frame.set_axis(list(map(str, frame.columns)), axis=1)
