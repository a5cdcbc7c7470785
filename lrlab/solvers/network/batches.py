"""Fresh samples for each iteration of the solvers of Soltani & Hegde's family, as their proofs assume."""

from collections.abc import Iterator
from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.models.low_rank import LowRankSpec
from lrlab.operators.operator import Operator
from lrlab.parameters import InputError, Parameter
from lrlab.solver_entry import Options

MEANING = "split the samples into so many batches, one an iteration; 0: reuse all"

Batches = Annotated[int, Parameter(meaning=MEANING, low=0, high=1000)]
AddedBatches = Annotated[int, Parameter(meaning=MEANING, low=0, high=1000, added=True)]
"""The same for solvers that had trials stored before there was this option."""


def batches(operator: Operator, b: Array, count: int) -> Iterator[tuple[Operator, Array]]:
    """Yield the operator and answers of each batch; all samples, endlessly, where count is 0.

    Raises InputError where there are more batches than samples.
    """
    if count > operator.size:
        remedy = f"lower it to {operator.size} or less, or raise m"
        raise InputError("fresh_batches", f"at most the number of samples {operator.size}", count, remedy)
    while not count:
        yield operator, b
    for rows in np.array_split(np.arange(operator.size), count):
        yield operator.subset(rows), b[rows]


def refuse_batches(spec: LowRankSpec, options: Options) -> None:
    """Refuse more batches than there are samples."""
    count, m = int(options["fresh_batches"]), spec.measurements
    if count > m:
        raise InputError("fresh_batches", f"at most the number of samples m = {m}", count, "lower it, or raise m")


def batch_bytes(spec: LowRankSpec, options: Options) -> int:
    """Return the memory of a copy of one batch."""
    count = int(options["fresh_batches"])
    return spec.data_bytes // count if count else 0
