"""Solvers of ratings: their settings, the ranks and ridges to try, and how one is started on a table."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lrlab import catalog
from lrlab.fits.biased_als import Line, biased_als, memory_bytes
from lrlab.fits.implicit import WEIGHTED, weighted_als
from lrlab.fits.settings import checked_options
from lrlab.models.completion import InductiveCompletion
from lrlab.models.ratings_problem import Factors, RatingsProblem, RatingTable
from lrlab.parameters import InputError, declared, require_known, settle
from lrlab.protocol import Iterate, Iterates, Problem, Stop
from lrlab.runs.memory import memory_limit, memory_words, require_memory
from lrlab.solver_entry import SolverEntry

MODEL = InductiveCompletion.model
OWN = "biased-als"
"""The solver that is fitted with its biases; those of the catalogue leave them to `RatingsProblem`."""
BIASES = "biases"
RANKS = (5, 10, 20)
"""Ranks that are tried by the solver whose factors shrink by themselves."""
DOUBLED = (1, 2, 4, 8, 16)
"""Ranks that are tried by others, up to the first one that is no better."""
FACTOR_SHARES = (0.25, 0.5, 1.0)
"""Ridges of both factors that are tried, in units of the one that shrinks noise of the ratings' size to 0."""
MATRIX_SHARES = (0.3, 0.03, 3.0, 0.003)
"""Ridges of W that are tried, in units of the one that weighs as much as the ratings on average."""


class Candidate(NamedTuple):
    """A rank and the options of the solver."""

    rank: int
    options: Mapping[str, Any]


PENALTIES = ("ridge", "shrinkage")
OWN_OPTIONS = {OWN: biased_als, BIASES: None, WEIGHTED: weighted_als}
"""Solvers that the catalogue does not have, and what declares their options."""


@dataclass
class RatingsRun(Problem):
    """Ratings of which a solver fits a part of low rank: a problem that says what its estimates predict.

    share: weight in 0..1 of the fit beside the line of biases, for solvers that the catalogue has.
    """

    table: RatingTable
    line: Line
    solver: str
    rank: int
    share: float = 1.0

    @cached_property
    def completion(self) -> RatingsProblem:
        """The ratings as solvers of inductive completion take them."""
        return RatingsProblem(self.table, self.rank, *self.line)

    def factors(self, estimate: Any) -> Factors:
        """Return an estimate as factors with biases."""
        return estimate if self.solver in (OWN, BIASES) else self.completion.factors(estimate, self.share)

    def score(self, estimate: Any) -> dict[str, float]:
        """Return the errors on training and on test ratings."""
        return self.table.score(self.factors(estimate))

    @property
    def entry(self) -> SolverEntry:
        """The solver, of problems of this kind."""
        if self.solver not in (OWN, BIASES):
            entry = catalog.solver(self.solver, MODEL)
            return replace(entry, run=lambda problem, **options: entry.run(problem.completion, **options))
        run = _biased_als if self.solver == OWN else _alone
        return SolverEntry(name=self.solver, title="", summary="", update="", run=run, workspace=lambda *_: 0)


def _biased_als(problem: RatingsRun, **options: Any) -> Iterator[Iterate]:
    return biased_als(problem.table, problem.rank, **options)


def _alone(problem: RatingsRun, *, rng: np.random.Generator) -> Iterates:
    yield Iterate(problem.line.factors)
    return Stop.FINISHED


def solvers() -> list[str]:
    """Return the names of all solvers of ratings, the default first."""
    return [OWN, BIASES, WEIGHTED, *(entry.name for entry in catalog.solvers_for(MODEL))]


def ratings_options(solver: str, settings: dict[str, object]) -> dict[str, Any]:
    """Return all options of a solver of ratings, checked."""
    if solver not in OWN_OPTIONS:
        require_known(solver, tuple(solvers()), what="solver")
        return checked_options(MODEL, solver, settings)
    known = OWN_OPTIONS[solver]
    for name in settings:
        require_known(name, declared(known) if known else (), what=f"option of {solver}")
    return settle(known, settings) if known else {}


def require_fits(table: RatingTable, solver: str, rank: int, options: dict[str, Any], line: Line) -> int:
    """Return the largest rank; InputError where a rank is larger, or a solver refuses the table or its size."""
    most = min(table.size)
    problem = None
    if solver != OWN:
        problem = RatingsProblem(table, 1, *line)
        most = min(problem.operator.shape)
    if not 0 <= rank <= most:
        words = "users and items" if solver == OWN else "independent features, the constant among them"
        expected = f"in 0..{most}, the smaller number of {words}"
        raise InputError("rank", expected, rank, f"take a rank of at most {most}, or leave it 0")
    if problem is None:
        needed = memory_bytes(table, rank or min(most, max(RANKS)))
        if needed > memory_limit():
            expected = f"such that a fit takes at most {memory_words(memory_limit())}"
            raise InputError("ratings", expected, memory_words(needed), "lower the rank, or set LRLAB_MEMORY_GIB")
        return most
    problem.rank = rank or min(most, max(DOUBLED))
    entry = catalog.solver(solver, MODEL)
    try:
        alike = problem.drawn_alike
    except InputError:
        size = f"{table.size[0]:,} users and {table.size[1]:,} items with {problem.operator.shape} features"
        raise InputError("solver", f"one that takes {size}", solver, f"take {OWN}") from None
    try:
        entry.refuse(alike, options)
    except InputError as error:
        if error.name == "features":
            # There are no features to be set here, only files of them.
            raise InputError("solver", "one that uses features, as they are given", solver, f"take {OWN}") from None
        raise
    require_memory(alike, entry, options)
    return most


def _factor_ridge(table: RatingTable, line: Line, rmse: float) -> float:
    """Return the norm of noise of the ratings' size at the rated places: a ridge of both factors shrinks it to 0."""
    (n1, n2), m = table.size, len(table.b)
    return rmse * (math.sqrt(m / n1) + math.sqrt(m / n2))


def _matrix_ridge(table: RatingTable, line: Line, rmse: float) -> float:
    """Return the weight of ||W||_F^2 at which it is as large as ||A(W)||^2 on average."""
    return 1.0 / RatingsProblem(table, 1, *line).operator.scale


RIDGES = {
    OWN: (FACTOR_SHARES, _factor_ridge),
    "als": (FACTOR_SHARES, _factor_ridge),
    "altmin": (MATRIX_SHARES, _matrix_ridge),
}


def candidate_ranks(solver: str, rank: int, most: int, features: bool) -> list[int]:
    """Return the ranks that are tried in turn: the given one, or some up to the largest possible one."""
    if rank:
        return [rank]
    if solver != OWN:
        ranked = "rank" in catalog.solver(solver, MODEL).knows
        return sorted({min(most, one) for one in DOUBLED}) if ranked else [1]
    # Rank 0 with features is more than biases alone: new members have biases by what they are.
    return [0] * features + sorted({min(most, one) for one in RANKS})
