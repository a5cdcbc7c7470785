"""Batches of fresh samples for each iteration, as the proofs of Soltani & Hegde's family assume."""

from functools import partial
from typing import Annotated

from lrlab.models.low_rank import LowRankSpec
from lrlab.parameters import InputError, Parameter
from lrlab.solver_entry import Options, SolverEntry

MEANING = "split the samples into so many batches, one an iteration; 0: reuse all"

Batches = Annotated[int, Parameter(meaning=MEANING, low=0, high=1000)]
AddedBatches = Annotated[int, Parameter(meaning=MEANING, low=0, high=1000, added=True)]
"""The same for solvers that had trials stored before there was this option."""

network_entry = partial(SolverEntry, models=("polynomial-network",), oracle=("rank",))


def refuse_batches(spec: LowRankSpec, options: Options) -> None:
    """Refuse more batches than there are samples."""
    count, m = int(options["fresh_batches"]), spec.measurements
    if count > m:
        raise InputError("fresh_batches", f"at most the number of samples m = {m}", count, "lower it, or raise m")
