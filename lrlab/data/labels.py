"""Which columns of a file are labels: an XML file, a list of names, or a count at either end."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.parsers import expat

from lrlab.data.source import MAX_NAMES, Source
from lrlab.parameters import InputError, nearest

Labels = str | Path | int | Iterable[str] | None

FORMS = "an XML file, a text file of names, last:N or first:N"
COUNT = re.compile(r"(?:(first|last):)?([0-9]{1,9})", re.ASCII)
HINTS = 5000
"""Names among which a near one is looked for: the search is slow among millions."""


class LabelChoice(NamedTuple):
    """Names of labels with the lines that name them, or how many columns at which end.

    optional: the file may have none of them, as rows have whose labels are to be predicted.
    known: names of the labels of the other file; where all of them are columns, they are taken wherever they stand.
    """

    names: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()
    source: Source | None = None
    count: int = 0  # type: ignore[assignment]
    first: bool = False
    optional: bool = False
    known: tuple[str, ...] = ()

    def places(self, columns: Sequence[str], source: Source) -> list[int]:
        """Return the places of the labels among a file's columns, in the order in which labels are listed."""
        if self.names:
            places = self._named(columns)
        elif len(self.known) == self.count and set(self.known) <= set(columns):
            index = {name: place for place, name in enumerate(columns)}
            places = [index[name] for name in self.known]
        else:
            edge = self.count if self.first else len(columns) - self.count
            places = list(range(edge)) if self.first else list(range(max(edge, 0), len(columns)))
        if self.count >= len(columns) or len(places) >= len(columns):
            expected = f"fewer than the {len(columns)} columns of {source.path.name}"
            raise InputError("labels", expected, self.count or len(places), "leave at least one feature")
        return places

    def _named(self, columns: Sequence[str]) -> list[int]:
        index = {name: place for place, name in enumerate(columns)}
        if self.optional and not any(form in index for name in self.names for form in _forms(name)):
            return []
        places: dict[int, None] = {}
        for number, name in zip(self.lines or range(1, len(self.names) + 1), self.names, strict=True):
            place = next((index[form] for form in _forms(name) if form in index), None)
            if place is None or place in places:
                need = "the name of a column of the data file, each once,"
                remedy = nearest(name, tuple(columns[:HINTS])) or "remove the label, or add its column to the data file"
                if self.source is None:
                    raise InputError("labels", need.rstrip(","), name, remedy)
                raise self.source.refuse(number, need, name, remedy)
            places[place] = None
        return list(places)


def _forms(name: str) -> tuple[str, ...]:
    """Return a name as it stands and, should it stand as in ARFF, without its quotes and escapes."""
    bare = name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name
    return name, unescaped(name), unescaped(bare)


def unescaped(text: str) -> str:
    r"""Return text without the backslashes of ARFF: `\'` is a quote, `\n` and `\t` are white space."""
    white = {"n": "\n", "t": "\t", "r": "\r"}
    return re.sub(r"\\(.)", lambda m: white.get(m[1], m[1]), text, flags=re.DOTALL) if "\\" in text else text


def choose_labels(labels: Labels, limit_bytes: int) -> LabelChoice | None:
    """Return what a person said of the labels, read from the file that it may name; None where nothing was said."""
    if labels is None:
        return None
    if isinstance(labels, bool) or not isinstance(labels, str | Path | int | Iterable):
        raise InputError("labels", FORMS, labels, 'for example "last:6"')
    if isinstance(labels, str | Path | int):
        if counted := COUNT.fullmatch(str(labels)):
            if int(counted[2]) == 0:
                raise InputError("labels", "a count from 1", labels, "say how many columns are labels")
            return LabelChoice(count=int(counted[2]), first=counted[1] == "first")
        if isinstance(labels, int):
            raise InputError("labels", FORMS, labels, f'write "first:{-labels}" for columns at the beginning')
        return _listed(Path(labels), limit_bytes)
    names = tuple(labels)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError("labels", "one or more names", names, "list the names of label columns")
    if twice := _first_repeated(names):
        raise InputError("labels", "names, each once", names[twice], "name each label once")
    return LabelChoice(names)


def _listed(path: Path, limit_bytes: int) -> LabelChoice:
    source = Source(path, "label XML" if path.suffix.lower() == ".xml" else "label list")
    source.check_size(limit_bytes)
    if source.kind == "label XML":
        source.require_few(b">", "tags")
        entries = read_label_xml(source)
    else:
        source.require_few(b"\n", "lines", most=4 * MAX_NAMES)
        entries = [(line, source.text(line, raw).strip()) for line, raw in source.lines() if raw.strip()]
    if not entries:
        raise source.refuse(1, "at least one label", "", "list the labels")
    names = tuple(name for _, name in entries)
    if twice := _first_repeated(names):
        raise source.refuse(entries[twice][0], "names, each once,", names[twice], "name each label once")
    return LabelChoice(names, tuple(line for line, _ in entries), source)


def _first_repeated(names: Sequence[str]) -> int:
    """Return the place of the first name that has been named before; 0 where there is none."""
    known = set[str]()
    for place, name in enumerate(names):
        if name in known:
            return place
        known.add(name)
    return 0


def read_label_xml(source: Source) -> list[tuple[int, str]]:
    """Return the names in `<labels><label name="..."/></labels>` (Mulan's form, nested or flat) with their lines.

    A document type is refused where it begins, so that entities are never declared, let alone expanded.
    """
    parser, entries = expat.ParserCreate(), []

    def element(tag: str, attributes: dict[str, str]) -> None:
        local = tag.rpartition(":")[2]
        if local == "labels":
            return
        if local != "label" or not attributes.get("name"):
            example = '`<label name="...">`'
            raise source.refuse(parser.CurrentLineNumber, example, f"<{tag}>", "give each label its name")
        entries.append((parser.CurrentLineNumber, attributes["name"]))

    def doctype(*_: object) -> None:
        raise source.refuse(parser.CurrentLineNumber, "no document type", "<!DOCTYPE", "remove the DOCTYPE declaration")

    parser.StartElementHandler, parser.StartDoctypeDeclHandler = element, doctype
    try:
        with source.path.open("rb") as stream:
            parser.ParseFile(stream)
    except InputError:
        raise
    except OSError as error:
        raise source.unreadable(error) from None
    except (expat.ExpatError, LookupError, ValueError) as error:
        # Unknown encodings come as LookupError or ValueError from the codec.
        remedy = 'write <labels><label name="..."/></labels> in UTF-8'
        raise source.refuse(parser.CurrentLineNumber, "well-formed XML", str(error), remedy) from None
    return entries
