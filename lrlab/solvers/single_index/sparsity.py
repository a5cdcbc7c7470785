"""How many entries of a signal a sparse solver keeps: one option, declared once."""

from typing import Annotated

from lrlab.parameters import Parameter

Kept = Annotated[
    int,
    Parameter(
        meaning="non-zero entries kept; 0 for the signal's own number, p for all", symbol="ŝ", low=0, high=10_000
    ),
]


def entries_kept(problem, kept: int) -> int:
    """Return the number of entries to keep: `kept`, or the signal's own where it is 0."""
    return kept or problem.sparsity
