"""What several solvers of one-bit labels require, and the memory that they need."""

from functools import partial

from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry
from lrlab.solvers.multilabel import requirements as multilabel

BLOCK_BYTES = 2**26
"""Margins, residuals and products of the block that is read."""


def moments_workspace(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of the moment, of what a block adds to it, and of its scaled copies."""
    return BLOCK_BYTES + 8 * 6 * spec.d1 * spec.d2


def power_workspace(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of the moment, or of factors and the Krylov space of its start where only products are taken."""
    if options["moment"] == "formed":
        return moments_workspace(spec, options)
    return BLOCK_BYTES + 8 * 100 * (spec.rank + 5) * (spec.d1 + spec.d2)


def table_workspace(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of a batch as one table and what is copied of it, of signs in some forms, of matrices and images."""
    signs = 32 * spec.m * spec.d2 if spec.observation == "full" else 200 * spec.m
    matrices = 8 * 20 * spec.d1 * spec.d2 + 60 * min(spec.size) * (spec.m + sum(spec.size))
    return BLOCK_BYTES + 2 * 8 * spec.m * spec.d1 + signs + matrices


refuse_high_rank = partial(multilabel.refuse_high_rank, sizes=("d1", "d2"))


def refuse_single_labels(spec: OneBitMultilabel, options: Options) -> None:
    """Refuse samples with one label each."""
    if spec.observation != "full":
        raise InputError("observation", "full for this solver", spec.observation, "set observation=full")


one_bit_entry = partial(SolverEntry, families=("one-bit-multilabel",))
stream_entry = partial(one_bit_entry, streams=True, workspace=moments_workspace, refuse=refuse_high_rank)
table_entry = partial(one_bit_entry, workspace=table_workspace, refuse=refuse_single_labels)
