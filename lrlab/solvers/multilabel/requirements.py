"""What several solvers of multi-label problems require, and the matrices that they form."""

from functools import partial
from typing import Any

from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.solver_entry import Options, SolverEntry

multilabel_entry = partial(SolverEntry, families=("multilabel",))


def refuse_high_rank(spec: Any, options: Options, sizes: tuple[str, str] = ("d", "labels")) -> None:
    """Refuse ranks that no W of the problem's size has; `sizes` names the parameters that give it."""
    most = min(spec.size)
    if int(options["fitted_rank"]) > most:
        expected = f"at most min({', '.join(sizes)}) = {most}"
        remedy = f"lower fitted_rank, or raise {' and '.join(sizes)}"
        raise InputError("fitted_rank", expected, options["fitted_rank"], remedy)


def images(spec: Multilabel, options: Options) -> int:
    """Return the numbers in factors of the estimate and in their images."""
    return min(int(options["fitted_rank"]) or spec.rank, *spec.size) * (spec.n + sum(spec.size))


def spectrum(spec: Multilabel, options: Options) -> int:
    """Return the numbers in the smaller of X^T X and X X^T, and in X^T Y."""
    return min(spec.n, spec.d) ** 2 + spec.d * spec.labels


low_rank_entry = partial(multilabel_entry, oracle=("rank",), memory=0.1, matrix=images, refuse=refuse_high_rank)
