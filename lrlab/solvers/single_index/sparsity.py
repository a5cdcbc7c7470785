"""The number of non-zero entries of a sparse solver's estimate: one option, declared once."""

from typing import Annotated

from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import Parameter

SupportSize = Annotated[
    int,
    Parameter(
        meaning="non-zero entries kept; 0 for the signal's own number, p for all", symbol="ŝ", low=0, high=10_000
    ),
]


def support_size(problem: SingleIndexData, kept: int) -> int:
    """Return the number of non-zero entries: `kept`, or the signal's own number where it is 0."""
    return kept or problem.sparsity
