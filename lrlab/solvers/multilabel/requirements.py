"""What several solvers of multi-label problems require, and the memory that they need."""

from functools import partial
from typing import Any

from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry

BLOCK_BYTES = 2**26
"""Blocks of the label table, of scores and of the features that are multiplied."""

multilabel_entry = partial(SolverEntry, families=("multilabel",))


def rank_within(spec: Multilabel, options: Options) -> int:
    """Return the rank of the estimate."""
    return min(int(options["fitted_rank"]) or spec.rank, *spec.size)


def factors_workspace(spec: Multilabel, options: Options) -> int:
    """Return bytes of some images and factors, and of the observed entries where some are not."""
    pattern = 0 if spec.complete else 16 * spec.observed_entries
    return BLOCK_BYTES + 8 * 10 * rank_within(spec, options) * (spec.n + sum(spec.size)) + pattern


def spectrum_bytes(spec: Multilabel) -> int:
    """Return bytes of the smaller of X^T X and X X^T, which sparse products first make sparse, and its eigenvectors."""
    return 40 * min(spec.n, spec.d) ** 2


def entries_workspace(spec: Multilabel, options: Options) -> int:
    """Return bytes of factors and, for every observed label, of second derivatives at the old place and the new one."""
    return factors_workspace(spec, options) + 16 * spec.observed_entries


def refuse_high_rank(spec: Any, options: Options, sizes: tuple[str, str] = ("d", "labels")) -> None:
    """Refuse ranks that no W of the problem's size has; `sizes` names the parameters that give it."""
    most = min(spec.size)
    if int(options["fitted_rank"]) > most:
        expected = f"at most min({', '.join(sizes)}) = {most}"
        remedy = f"lower fitted_rank, or raise {' and '.join(sizes)}"
        raise InputError("fitted_rank", expected, options["fitted_rank"], remedy)


low_rank_entry = partial(multilabel_entry, knows=("rank",), refuse=refuse_high_rank)
