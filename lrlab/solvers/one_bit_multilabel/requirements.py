"""What several solvers of one-bit labels require, and the memory that they need."""

from lrlab.models.one_bit_multilabel import OneBitMultilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options

BLOCK_BYTES = 2**26
"""Margins, residuals and products of the block that is read."""

QIU = "Qiu, Luo, Ye, Lin (2017)"


def moments_workspace(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of the moment, of what a block adds to it, and of its scaled copies."""
    return BLOCK_BYTES + 8 * 6 * spec.d1 * spec.d2


def table_workspace(spec: OneBitMultilabel, options: Options) -> int:
    """Return bytes of a batch as one table and what is copied of it, of signs in some forms, of matrices and images."""
    signs = 32 * spec.m * spec.d2 if spec.observation == "full" else 200 * spec.m
    matrices = 8 * 20 * spec.d1 * spec.d2 + 60 * min(spec.size) * (spec.m + sum(spec.size))
    return BLOCK_BYTES + 2 * 8 * spec.m * spec.d1 + signs + matrices


def refuse_high_rank(spec: OneBitMultilabel, options: Options) -> None:
    """Refuse ranks that no W of the problem's size has."""
    most = min(spec.size)
    if int(options["fitted_rank"]) > most:
        expected = f"at most min(d1, d2) = {most}"
        raise InputError("fitted_rank", expected, options["fitted_rank"], "lower fitted_rank, or raise d1 and d2")


def refuse_single_labels(spec: OneBitMultilabel, options: Options) -> None:
    """Refuse samples with one label each."""
    if spec.observation != "full":
        raise InputError("observation", "full for this solver", spec.observation, "set observation=full")
