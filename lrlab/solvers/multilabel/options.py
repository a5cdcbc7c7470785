"""Options and sizes that solvers of labels share."""

from functools import partial
from typing import Annotated, Any

from lrlab.models.protocols import LabelData
from lrlab.solver_entry import InputError, Options, choice, number, solver

Regularization = Annotated[float, number(0, 1e9, "regularization strength", symbol="λ", scale="log")]
Ridge = Annotated[float, number(1e-6, 1e9, "regularization strength of ‖w‖² / 2 per label", symbol="λ", scale="log")]
Penalty = Annotated[
    str, choice("trace", "frobenius", help="nuclear norm ‖Z‖∗ as in the paper, or ‖Z‖² / 2 as in ridge regression")
]
FittedRank = Annotated[int, number(0, 10_000, "rank of the estimate; 0 takes the rank of the problem", symbol="k")]
Steps = Annotated[int, number(1, 10_000, "most conjugate gradients for the factor of features; few of them regularize")]


def rank_of(problem: LabelData, fitted_rank: int) -> int:
    """Return the rank of the estimate, at most the largest rank of any W."""
    # Batches of signs need not be read for their size.
    size = getattr(problem, "size", None) or (problem.X.shape[1], problem.Y.shape[1])
    return min(fitted_rank or problem.rank, *size)


def refuse_rank(spec: Any, options: Options) -> None:
    """Refuse ranks that no W of the problem's size has."""
    if int(options["fitted_rank"]) > (most := min(spec.size)):
        sizes = ("d1", "d2") if "d1" in spec.values() else ("d", "labels")
        remedy = f"lower fitted_rank, or raise {' and '.join(sizes)}"
        raise InputError("fitted_rank", f"at most min({', '.join(sizes)}) = {most}", options["fitted_rank"], remedy)


def refuse_single_labels(spec: Any, options: Options) -> None:
    """Refuse samples of one-bit labels with one label each."""
    if spec.observation != "full":
        raise InputError("observation", "full for this solver", spec.observation, "set observation=full")


def factor_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in factors of the estimate and in their images."""
    return min(int(options["fitted_rank"]) or spec.rank, *spec.size) * (spec.n + sum(spec.size))


def table_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in an estimate of full rank and in its images."""
    return min(spec.size) * (spec.values().get("n", spec.values().get("m")) + sum(spec.size))


def gram_numbers(spec: Any, options: Options) -> int:
    """Return the numbers in the smaller of X^T X and X X^T, and in X^T Y."""
    return min(spec.n, spec.d) ** 2 + spec.d * spec.labels


label_solver = partial(solver, family="multilabel", memory=0.1)
low_rank_solver = partial(label_solver, oracle="rank", matrix=factor_numbers, refuse=refuse_rank)
table_solver = partial(
    solver, family="one-bit-multilabel", memory=0.4, matrix=table_numbers, refuse=refuse_single_labels
)
stream_solver = partial(
    solver, family="one-bit-multilabel", streams=True, memory=0.05, matrix=lambda spec, options: spec.d1 * spec.d2
)
