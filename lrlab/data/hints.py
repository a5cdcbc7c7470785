"""What you may state about a file: one declaration for the page, the shell and `lrlab.fit`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from lrlab.parameters import InputError, Parameter, choice, declared, require_known

KINDS = _, MATRIX, TRIPLES, PATTERNS, _ = ("responses", "matrix", "triples", "patterns", "labels")
COMPLETION = "inductive-completion"
"""The model of a matrix with missing entries."""
USUAL = "y, target, label, class, outcome, or the last one"
LABELED = ("missing", "labels", "test", "base")
"""Statements that rows with labels use."""


@dataclass(frozen=True, kw_only=True)
class Hints:
    """Your statements on a file, which replace guesses. Columns: names, numbers from 1, or ranges such as 5-9.

    The hidden ones name further files, or the base of svmlight; a page tells the files by their names.
    """

    kind: Annotated[str, choice(*KINDS, help="content of the file (default: by its columns)")] = ""
    model: Annotated[
        str, Parameter(meaning="model of the measurements, as listed by `lrlab models` (default: by their form)")
    ] = ""
    y: Annotated[str, Parameter(meaning=f"column of the response, by name or number (default: {USUAL})")] = ""
    Z: Annotated[
        str, Parameter(meaning="columns of second vectors of bilinear forms (rank-one-sensing), such as 5-9 or a,b")
    ] = ""
    missing: Annotated[str, Parameter(meaning="mark of a missing value, such as -1; none if nothing is missing")] = ""
    duplicates: Annotated[
        str, choice("last", "mean", help="combination of values of one entry; last: the newest by a column of times")
    ] = ""
    labels: Annotated[Any, Parameter(meaning="label columns: last:6, first:6, names a,b, or a file (XML, text)")] = ""
    test: Annotated[str, Parameter(meaning="held-out samples, in the same format (default: a fifth)", hidden=True)] = ""
    rows: Annotated[
        str, Parameter(meaning="features of the rows of a matrix, CSV: name, number or word, ...", hidden=True)
    ] = ""
    columns: Annotated[str, Parameter(meaning="features of the columns of a matrix, likewise", hidden=True)] = ""
    base: Annotated[str, choice("0", "1", help="first index in svmlight (default: by both files)", hidden=True)] = ""

    def __post_init__(self) -> None:
        """Raise InputError for a word that is not a choice."""
        for name, value in self.given.items():
            if choices := declared(Hints)[name].choices:
                require_known(value, choices, what=name)

    @property
    def given(self) -> dict[str, Any]:
        """Your statements by name, without those that you leave out."""
        return {name: value for name, value in vars(self).items() if value is not None and str(value)}


NOTHING = Hints()


def require_unused(given: Mapping[str, object], what: str, remedy: str = "leave it out") -> None:
    """Raise InputError for the first statement, since these data have nothing that it could change."""
    for name, value in given.items():
        if value:
            raise InputError(name, f"left out for {what}", value, remedy)
