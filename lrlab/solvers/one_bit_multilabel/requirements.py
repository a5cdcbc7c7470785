"""What several solvers of one-bit labels require, and the matrices that they form."""

from functools import partial

from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel import requirements as multilabel

refuse_high_rank = partial(multilabel.refuse_high_rank, sizes=("d1", "d2"))


def refuse_single_labels(spec: OneBitMultilabel, options: Options) -> None:
    """Refuse samples with one label each."""
    if spec.observation != "full":
        raise InputError("observation", "full for this solver", spec.observation, "set observation=full")


def table_numbers(spec: OneBitMultilabel, options: Options) -> int:
    """Return the numbers in an estimate of full rank and in its images."""
    return min(spec.size) * (spec.m + sum(spec.size))


one_bit_entry = partial(SolverEntry, families=("one-bit-multilabel",))
stream_entry = partial(
    one_bit_entry,
    streams=True,
    memory=0.05,
    matrix=lambda spec, options: spec.d1 * spec.d2,
    refuse=refuse_high_rank,
)
table_entry = partial(one_bit_entry, memory=0.4, matrix=table_numbers, refuse=refuse_single_labels)
