"""Reads tables: CSV and its relatives, in any of their separators and encodings, and parquet, as pandas' DataFrames.

pandas reads the fields. Here the separator, the decimal mark and the heading are determined, the encoding is that of
the byte order mark, UTF-8 or Windows-1252, and what cannot be read is refused with its line.
"""

import datetime
import io
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from lrlab.data.source import GROWTH, MAX_COLUMNS, WORDS_GROWTH, Source, printable, require_room
from lrlab.parameters import InputError

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", " ": "spaces"}
PATTERNS = {" ": r"\s+"}
SNIFFED = 100
"""Rows by which the separator is determined."""
MISSING = ["?", "-", "none", "na", "nan", "null"]
"""What stands for a missing value, in lower case, beside pandas' own list."""
KNOWN_MISSING = {*MISSING, "", *(word.lower() for word in pd._libs.parsers.STR_NA_VALUES)}
NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*", re.ASCII)


class Table(NamedTuple):
    """A table that was read, and how: separated by commas, say."""

    frame: pd.DataFrame
    words: str = ""


class Dialect(NamedTuple):
    """Separator and decimal mark."""

    separator: str
    decimal: str

    def fields(self, line: str) -> list[str]:
        """Return the fields of a line without quotes."""
        return line.split() if self.separator == " " else [field.strip() for field in line.split(self.separator)]

    def is_number(self, field: str) -> bool:
        """Return whether a field is a number."""
        return NUMBER.fullmatch(field.replace(self.decimal, ".") if self.decimal != "." else field) is not None

    def numeric(self, field: str) -> bool:
        """Return whether a field is a number, or stands for none."""
        return self.is_number(field) or field.lower() in KNOWN_MISSING


def read_frame(source: Source, limit_bytes: int, missing: str = "") -> Table:
    """Return the table of a CSV or parquet file; missing: what stands for a missing value, too."""
    if source.kind == "parquet":
        return Table(_parquet(source, limit_bytes))
    text, encoding = _decoded(source)
    numbers, lines = _rows(text)
    if not lines:
        raise source.refuse(1, "at least one row of values", "none", "add the rows")
    dialect = sniffed(lines)
    _require_width(source, dialect, numbers, lines, limit_bytes)
    heading = _heading(dialect, lines)
    rows = lines[1:] if heading else lines
    if not rows:
        raise source.refuse(numbers[0], "at least one row of values", "none", "add the rows")
    names = heading or [str(k + 1) for k in range(len(dialect.fields(_unquoted(lines[0]))))]
    frame = _parsed(source, dialect, rows, len(names), missing)
    frame.columns = pd.Index(_unique(source, numbers[0], names, frame))
    frame = frame[[name for name in frame.columns if name is not None]]
    _require_numbers(source, frame, numbers[len(lines) - len(rows) :], dialect)
    words = [f"separated by {SEPARATORS[dialect.separator]}"] if dialect.separator != "," else []
    words += ["decimal commas"] if dialect.decimal == "," else []
    return Table(frame, ", ".join([*words, *([encoding] if encoding else []), *([] if heading else ["no heading"])]))


def _decoded(source: Source) -> tuple[str, str]:
    """Return the text of a file and, unless it is UTF-8, its encoding."""
    raw, encoding = source.content(), "utf-8-sig"
    if b"\0" in raw:
        raise source.refuse(raw[: raw.index(b"\0")].count(b"\n") + 1, "no NUL bytes", "one", "save it as text")
    try:
        return raw.decode(encoding), ""
    except UnicodeDecodeError:
        try:
            return raw.decode("cp1252"), "Windows-1252"
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            raise source.refuse(line, "UTF-8 text", raw[error.start :][:20], "save the file as UTF-8") from None


def _rows(text: str) -> tuple[list[int], list[str]]:
    """Return rows, with the numbers of their lines: blank lines and comments (#) are none.

    Of comments before the first row the last one is a heading if it has as many words as that row, as numpy writes it.
    """
    numbers, lines, comment = list[int](), list[str](), ""
    joined, begun = list[str](), 0
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), 1):
        if joined or line.count('"') % 2:
            # A quoted field goes on in the next line.
            begun = begun if joined else number
            joined.append(line)
            if len(joined) == 1 or line.count('"') % 2 == 0:
                continue
            line, number, joined = "\n".join(joined), begun, []
        if line.lstrip().startswith("#") and not line.lstrip().startswith("#N/A"):
            comment = line.lstrip(" #") if not lines else comment
        elif line.strip(" ,;|\t"):
            numbers.append(number)
            lines.append(line)
    if joined:
        numbers.append(begun)
        lines.append("\n".join(joined))
    if comment and lines:
        dialect = sniffed(lines)
        fields = dialect.fields(comment)
        if len(fields) == len(dialect.fields(lines[0])) and not any(map(dialect.is_number, fields)):
            return [1, *numbers], [comment, *lines]
    return numbers, lines


def _unquoted(line: str) -> str:
    return re.sub(r'"[^"]*"', lambda field: re.sub(r"[\s,;|]", "_", field[0][1:-1]), line) if '"' in line else line


def sniffed(lines: Sequence[str]) -> Dialect:
    """Return the dialect in which rows have equally many fields, more than one, and the most numbers."""
    sample = [_unquoted(line) for line in lines[:SNIFFED]]
    best, most = Dialect(",", "."), (False, -1.0)
    for separator in SEPARATORS:
        for decimal in ".,":
            dialect = Dialect(separator, decimal)
            rows = [dialect.fields(line) for line in sample]
            counts = [len(row) for row in rows]
            if separator == decimal or max(counts) < 2:
                continue
            alike = max(counts.count(count) for count in set(counts) if count > 1) / len(counts)
            fields = [field for row in rows[1:] or rows for field in row]
            numeric = sum(map(dialect.numeric, fields)) / max(1, len(fields))
            # Points are likelier than commas, and what comes first among the separators than what comes later.
            score = (alike > 0.9, numeric + (decimal == ".") * 1e-9)
            if score > most:
                best, most = dialect, score
    return best


def _require_width(source: Source, dialect: Dialect, numbers: list[int], lines: list[str], limit_bytes: int) -> None:
    """Refuse rows of another length, and more columns than can be handled."""
    width = len(dialect.fields(_unquoted(lines[0])))
    if width > MAX_COLUMNS:
        got = f"{printable(source.path.name)} with {width:,}"
        raise InputError("file", f"at most {MAX_COLUMNS:,} columns", got, "write svmlight or .npz")
    require_room(source, len(lines) * width * GROWTH, limit_bytes, "values")
    require_room(source, max(map(len, lines)) * WORDS_GROWTH // 8, limit_bytes, "fields in one line")
    for number, line in zip(numbers, lines, strict=True):
        fields = len(dialect.fields(_unquoted(line)))
        if '"' in line and line.count('"') % 2:
            raise source.refuse(number, "fields in closed quotes", line, "check the quotes")
        if fields != width:
            remedy = f"check separators ({SEPARATORS[dialect.separator]}) and quotes in this row"
            raise source.refuse(number, f"{width} fields", f"{fields} fields", remedy)


def _heading(dialect: Dialect, lines: list[str]) -> list[str]:
    """Return the names in the first row, nothing if it holds values.

    It holds names if no field is a number, or if the first is not and the first fields of all other rows are words.
    """
    first = [field.strip('"').strip() for field in _fields(dialect, lines[0])]
    numbers = [dialect.is_number(field) for field in first]
    if not any(numbers):
        return first if len(lines) > 1 or not all(map(dialect.numeric, first)) else []
    second = [_fields(dialect, line)[0] for line in lines[1:SNIFFED]]
    years = not first[0] and all(numbers[1:]) and len(set(first)) == len(first)
    return first if years and second and not any(map(dialect.numeric, second)) else []


def _fields(dialect: Dialect, line: str) -> list[str]:
    if '"' not in line:
        return dialect.fields(line)
    frame = pd.read_csv(
        io.StringIO(line), sep=PATTERNS.get(dialect.separator, dialect.separator), header=None, dtype=str
    )
    return ["" if pd.isna(field) else str(field) for field in frame.iloc[0]]


def _parsed(source: Source, dialect: Dialect, rows: list[str], width: int, missing: str) -> pd.DataFrame:
    """Return the values of rows; a column is of numbers if all its fields are."""
    own = [missing] if missing and missing != "none" else []
    words = [form for word in MISSING for form in (word, word.upper(), word.capitalize())]
    try:
        return pd.read_csv(
            io.StringIO("\n".join(rows)),
            sep=PATTERNS.get(dialect.separator, dialect.separator),
            decimal=dialect.decimal,
            header=None,
            names=range(width),
            index_col=False,
            na_values=[*words, *own],
            skipinitialspace=True,
            skip_blank_lines=False,
            low_memory=False,
        )
    except (ValueError, pd.errors.ParserError) as error:
        raise source.refuse(1, "rows of fields", " ".join(str(error).split()), "check separators and quotes") from None


def _unique(source: Source, line: int, names: list[str], frame: pd.DataFrame) -> list[str | None]:
    """Return names that differ; columns that trail without a name and without values are left out (None)."""
    kept = max((place for place, name in enumerate(names, 1) if name), default=0)
    for place in range(kept, len(names)):
        if frame[place].notna().any():
            need = f"a name for column {place + 1}, which has values,"
            raise source.refuse(line, need, "nothing", "name the column, or remove its values")
    for name in (shown := names[:kept]):
        if shown.count(name) > 1:
            raise source.refuse(line, "names that differ", name, "rename one of the two columns")
    return [*shown, *[None] * (len(names) - kept)]


def _require_numbers(source: Source, frame: pd.DataFrame, numbers: Sequence[int], dialect: Dialect) -> None:
    """Refuse a word in a column of numbers, with its line."""
    for name, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            continue
        words = column.dropna().astype(str)
        # Numbers that lie beyond double precision, or are not finite, are no words either.
        figures = words.map(
            lambda word: dialect.is_number(word) or word.strip().lstrip("+-").lower() in ("inf", "infinity")
        )
        if figures.mean() > 0.5 and not figures.all():
            place = words.index[int(np.argmin(figures.to_numpy()))]
            need = f"a number in column {str(name)[:60]}, as in most rows,"
            raise source.refuse(numbers[place], need, words[place], "correct it, or write words in all rows")


def _parquet(source: Source, limit_bytes: int) -> pd.DataFrame:
    """Return the table of a parquet file."""
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(source.path) as file:
            require_room(source, 16 * file.metadata.num_rows * file.metadata.num_columns, limit_bytes, "columns")
            frame = file.read().to_pandas()
    except InputError:
        raise
    except Exception as error:
        # A damaged file makes pyarrow raise a dozen kinds of error.
        got = f"{printable(source.path.name)} ({' '.join(str(error).split())[:200]})"
        raise InputError("file", "a whole parquet file", got, "write it anew, with plain columns") from None
    if not len(frame) or len(set(frame.columns)) < len(frame.columns):
        got = "no rows" if not len(frame) else "two columns of one name"
        raise InputError("file", "a parquet table with rows and names that differ", got, "write it anew")
    for name, column in frame.items():
        numeric = pd.api.types.is_numeric_dtype(column)
        if not numeric and not column.dropna().map(lambda value: isinstance(value, str | datetime.date)).all():
            raise InputError(f"column {name}", "of numbers or of words", column.dtype, "convert it")
    named = frame.index.name is not None or not isinstance(frame.index, pd.RangeIndex)
    frame = frame.reset_index(names=frame.index.name or "") if named else frame
    return frame.rename(columns=str)
