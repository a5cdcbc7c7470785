"""Implicit feedback: pairs of a user and an item without ratings, by weighted least squares beside popularity."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from lrlab.arrays import Array
from lrlab.fits.fit_result import Row
from lrlab.fits.given import run_given
from lrlab.fits.tuning import Progress
from lrlab.models.ratings_problem import Factors, RatingTable
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates, Limits, Problem, Stop
from lrlab.runs.memory import memory_limit, memory_words
from lrlab.solver_entry import SolverEntry

WEIGHTED, POPULARITY = "weighted-als", "popularity"
FIRST = 10
"""Items of a user that are judged: those with the highest scores among the ones that are not known."""
PRECISION, RECALL = f"precision@{FIRST}", f"recall@{FIRST}"
POPULAR_RECALL = f"{RECALL}_popularity"
RANKS, WEIGHTS, RIDGES = (5, 20, 40), (3.0, 30.0), (3.0, 30.0, 300.0)
"""Settings that are tried: weights and ridges at the second rank, then the other ranks with the best of them."""
PATIENCE = 3
"""A run in tuning ends where so many iterations have not raised the recall."""
BLOCK = 512
"""Users, or items, that are fitted or ranked at a time."""


def weighted_als(
    problem: "Pairs",
    *,
    weight: Annotated[float, Parameter(meaning="weight of a known pair beside an unknown one", low=0, high=1e6)] = 30.0,
    ridge: Annotated[float, Parameter(meaning="weight of squared factors", low=1e-6, high=1e9)] = 10.0,
    rng: Generator,
) -> Iterator[Iterate]:
    r"""Rank items j for users i by u_i^T v_j, from the pairs (i, j) that are known.

    minimise    F(U, V) = sum over all i, j of c_ij (p_ij - u_i^T v_j)^2 + ridge (||U||_F^2 + ||V||_F^2), p_ij = 1 and
                c_ij = 1 + weight for known pairs, p_ij = 0 and c_ij = 1 for all others
    update      u_i = (V^T V + weight S_i + ridge)^{-1} (1 + weight) s_i, s_i the sum of v_j over the known j of i, S_i
                that of v_j v_j^T; then each v_j alike
    converges   F never grows

    Yields U and V as `Factors` after each sweep: objective F, residual the relative change of V. A sweep costs
    O(m k^2 + (n1 + n2) k^3), memory is O(n k^2), n the larger of n1 and n2: unknown pairs are in V^T V alone.
    Reference: Hu, Koren & Volinsky (2008), "Collaborative filtering for implicit feedback datasets", eq. 3 and 4.
    """
    known = problem.known
    V: Array = 0.1 * rng.standard_normal((known.shape[1], problem.rank))
    while True:
        U = least_squares(known, V, weight, ridge)
        V, before = least_squares(known.T.tocsr(), U, weight, ridge), V
        rows, columns = known.nonzero()
        fit = np.einsum("ij,ij->i", U[rows], V[columns])
        known_off = (1.0 + weight) * (1.0 - fit) ** 2 - fit**2
        F = np.vdot(U.T @ U, V.T @ V) + known_off.sum() + ridge * (np.vdot(U, U) + np.vdot(V, V))
        change = float(np.linalg.norm(V - before) / (np.linalg.norm(V) or 1.0))
        yield Iterate(as_factors(U, V, np.zeros(len(V))), objective=float(F), residual=change)


def least_squares(known: csr_array, V: Array, weight: float, ridge: float) -> Array:
    """Return the vectors (n1, k) of users that fit those of items, V (n2, k)."""
    k = V.shape[1]
    squares, common = np.einsum("ia,ib->iab", V, V).reshape(len(V), k * k), V.T @ V + ridge * np.eye(k)
    blocks = [known[start : start + BLOCK] for start in range(0, known.shape[0], BLOCK)]
    systems = (common + weight * (block @ squares).reshape(-1, k, k) for block in blocks)
    sides = ((1.0 + weight) * (block @ V)[:, :, None] for block in blocks)
    return np.concatenate([np.linalg.solve(*pair)[:, :, 0] for pair in zip(systems, sides, strict=True)])


def popularity(problem: "Pairs", *, rng: Generator | None = None) -> Iterates:
    """Rank items by their number of known pairs, alike for all users."""
    n1, n2 = problem.known.shape
    yield Iterate(as_factors(np.zeros((n1, 0)), np.zeros((n2, 0)), problem.known.sum(axis=0) / n1))
    return Stop.FINISHED


def as_factors(U: Array, V: Array, bias: Array) -> Factors:
    """Return factors with biases of items; members that are not there have none."""
    nothing = np.zeros((1, 1 + U.shape[1]))
    return Factors(np.column_stack([np.zeros(len(U)), U]), np.column_stack([bias, V]), nothing, nothing)


@dataclass
class Pairs(Problem):
    """Known pairs of a table, and those to test on."""

    table: RatingTable
    rank: int = 0

    @cached_property
    def known(self) -> csr_array:
        """The known pairs (n1, n2)."""
        cells = self.table.given
        return csr_array((np.ones(len(cells.rows)), (cells.rows, cells.columns)), shape=self.table.size)

    @cached_property
    def fresh(self) -> csr_array:
        """The pairs to test on that are not known (n1, n2)."""
        cells = self.table.test
        test = csr_array((np.ones(len(cells.rows)), (cells.rows, cells.columns)), shape=self.table.size)
        return csr_array(test - test.multiply(self.known))

    def warmed(self, estimate: Factors) -> Factors:
        """Return factors in which users without pairs have the mean vector of those with pairs, as new ones have."""
        has_pairs = self.known.sum(axis=1) > 0
        mean = estimate.users[has_pairs].mean(axis=0)
        return estimate._replace(users=np.where(has_pairs[:, None], estimate.users, mean), user_map=mean[None])

    def score(self, estimate: Factors) -> dict[str, float]:
        """Return means over users with pairs to test on: of their FIRST best items, the share that is among these.

        And of these, the share that is among the FIRST best. Items that a user is known to have are left out.
        """
        users, estimate = np.flatnonzero(self.fresh.sum(axis=1)), self.warmed(estimate)
        hits, shares = 0.0, 0.0
        for block in np.split(users, range(BLOCK, len(users), BLOCK)):
            scores = estimate.items[:, 0] + estimate.users[block, 1:] @ estimate.items[:, 1:].T
            scores[self.known[block].nonzero()] = -np.inf
            best, wanted = np.argsort(-scores, axis=1, kind="stable")[:, :FIRST], self.fresh[block].toarray()
            right = np.take_along_axis(wanted, best, axis=1).sum(axis=1)
            hits, shares = hits + right.sum(), shares + (right / wanted.sum(axis=1)).sum()
        count = len(users) or math.nan
        return {PRECISION: float(hits / count / FIRST), RECALL: float(shares / count)}


def entry(rank: int) -> SolverEntry:
    """Return the solver of a rank; 0 is popularity."""
    name, run = (WEIGHTED, weighted_als) if rank else (POPULARITY, popularity)
    return SolverEntry(name=name, title="", summary="", update="", run=run, workspace=lambda *_: 0)


def search(
    table: RatingTable,
    rank: int,
    options: Mapping[str, Any],
    given: set[str],
    ending: Limits,
    seed: int,
    progress: Progress,
) -> tuple[Row, list[Row]]:
    """Return the settings that rank a tenth of the known pairs, held out, best, and all that were tried.

    rank 0 is popularity; a given rank and given options are not tuned.
    """
    [part] = table.folds(10, 1, np.random.default_rng((2, seed)))
    tried = list[Row]()

    def attempt(k: int, options: Mapping[str, Any]) -> Row:
        recalls = list[float]()

        def settled() -> bool:
            return len(recalls) > PATIENCE and max(recalls[-PATIENCE:]) <= max(recalls[:-PATIENCE])

        def watch(row: Row, iterate: Iterate) -> None:
            recalls.append(row[RECALL])

        run_given(Pairs(part, k), entry(k), options, ending, seed, watch, settled)
        best = int(np.argmax(recalls)) if recalls else 0
        tried.append({"rank": k, **options, "iterations": best + 1, RECALL: (recalls or [math.nan])[best]})
        progress(len(tried), max(row[RECALL] for row in tried))
        return tried[-1]

    most = min(table.size)
    ranks = [rank] if rank else sorted({min(most, k) for k in RANKS}, key=lambda k: abs(k - RANKS[1]))
    require_room(table.size, max(ranks))
    attempt(0, {})
    free = {"weight": WEIGHTS, "ridge": RIDGES}
    axes = [[options[name]] if name in given else values for name, values in free.items()]
    for weight, ridge in product(*axes):
        attempt(ranks[0], {"weight": weight, "ridge": ridge})
    best = max(tried[1:], key=lambda row: row[RECALL])
    for k in ranks[1:]:
        attempt(k, {name: best[name] for name in free})
    best, popular = max(tried, key=lambda row: row[RECALL]), tried[0][RECALL]
    # Popularity stays where the lead is less than a standard error of a share over these users.
    error = math.sqrt(popular * (1.0 - popular) / len(np.unique(part.test.rows)))
    return best if best[RECALL] > popular + error else tried[0], tried


def require_room(size: tuple[int, int], rank: int) -> None:
    """Raise InputError where a rank is larger than the table, or memory does not suffice for it."""
    if not 0 <= rank <= min(size):
        expected = f"in 0..{min(size)}, the smaller number of users and items"
        raise InputError("rank", expected, rank, f"take a rank of at most {min(size)}, or leave it 0")
    if (needed := 8 * rank**2 * (max(size) + 3 * BLOCK)) > memory_limit():
        expected = f"such that a fit takes at most {memory_words(memory_limit())}"
        raise InputError("rank", expected, memory_words(needed), "lower the rank, or set LRLAB_MEMORY_GIB")
