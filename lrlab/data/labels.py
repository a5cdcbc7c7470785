"""Chooses the label columns of a file by an XML file, a list of names, or a count at either end."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from lrlab.data.files import Source
from lrlab.parameters import InputError, nearest

Labels = str | Path | int | Iterable[str] | None

FORMS = "an XML file, a text file of names, last:N or first:N"
COUNT = re.compile(r"(?:(first|last):)?([0-9]{1,9})", re.ASCII)
MAX_NAMES = 2**20
"""Most names in a list."""


class LabelChoice(NamedTuple):
    """Names of labels, or a count of columns at one end; `optional` if the file may lack labels."""

    names: tuple[str, ...] = ()
    count: int = 0  # type: ignore[assignment]
    first: bool = False
    optional: bool = False

    def places(self, columns: Sequence[str]) -> list[int]:
        """Return the places of the labels in a file's columns, in the order of the choice."""
        index = {name: place for place, name in enumerate(columns)}
        forms = [next((form for form in _forms(name) if form in index), "") for name in self.names]
        if self.optional and not any(forms):
            return []
        for name, form in zip(self.names, forms, strict=True):
            if not form:
                # Searching millions of names is slow.
                remedy = nearest(name, tuple(columns[:5000])) or "remove the label, or add its column to the data file"
                raise InputError("labels", "the name of a column of the data file, each once", name, remedy)
        edge = self.count if self.first else max(0, len(columns) - self.count)
        ends = range(edge) if self.first else range(edge, len(columns))
        places = [index[form] for form in forms] if self.names else list(ends)
        if len(set(places)) < len(places) or max(self.count, len(places)) >= len(columns):
            expected, got = f"fewer than the {len(columns)} columns of the file", self.count or len(places)
            raise InputError("labels", expected, got, "name each once, and leave at least one feature")
        return places


def _forms(name: str) -> tuple[str, ...]:
    """Return a name, and the name without the quotes and escapes of ARFF."""
    bare = name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name
    return name, re.sub(r"\\(.)", r"\1", name), re.sub(r"\\(.)", r"\1", bare)


def choose_labels(labels: Labels, limit_bytes: int) -> LabelChoice | None:
    """Return the choice of label columns, from a file if `labels` names one; None without labels."""
    if labels is None:
        return None
    if counted := COUNT.fullmatch(str(labels)):
        if int(counted[2]) == 0 or isinstance(labels, bool):
            raise InputError("labels", "a count from 1", labels, "say how many columns are labels")
        return LabelChoice(count=int(counted[2]), first=counted[1] == "first")
    if not isinstance(labels, str | Path | Iterable):
        raise InputError("labels", FORMS, labels, 'for example "last:6" or "first:6"')
    names = tuple(_listed(Path(labels), limit_bytes) if isinstance(labels, str | Path) else labels)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InputError("labels", "one or more names", names, "list the names of label columns")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError("labels", "names, each once", name, "name each label once")
    return LabelChoice(names)


def _listed(path: Path, limit_bytes: int) -> list[str]:
    """Return the names in a text file, one per line, or in Mulan's XML, nested or flat."""
    source = Source(path, "label XML" if path.suffix.lower() == ".xml" else "label list", limit_bytes)
    raw = source.content()
    if source.kind == "label list":
        source.require_few(raw.count(b"\n"), "lines", MAX_NAMES)
        return [line.strip() for line in source.lines() if line.strip()]
    source.require_few(raw.count(b">"), "tags", MAX_NAMES)
    if b"<!DOCTYPE" in raw:
        # Entities in a document type may grow without bound.
        raise source.refuse(1, "no document type", "<!DOCTYPE", "remove the DOCTYPE declaration")
    try:
        root = ElementTree.fromstring(raw)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        remedy = 'write <labels><label name="..."/></labels> in UTF-8'
        raise source.refuse(getattr(error, "position", (1, 0))[0], "well-formed XML", str(error), remedy) from None
    return [element.get("name", "") for element in root.iter() if element.tag.rpartition("}")[2] == "label"]
