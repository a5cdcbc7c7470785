"""LEML's fast products against direct ones, and on several threads (Yu et al. 2014), as quantities of theorems.

The gradient and the Hessian product of the factor W (eq. 8 and 9) on simulated rows, squared loss: fast ones (eq. 10
and 11) against products with a stored table of the rows h_j (x) x_i, and rows in parts on threads against one thread.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack

from lrlab.arrays import Array
from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.runs.job import cores
from lrlab.solvers.multilabel.label_losses import SQUARED
from lrlab.solvers.multilabel.labels import Labels
from lrlab.solvers.multilabel.leml_steps import Risk

PRODUCTS = ("gradient", "hessian")
REPEATS = 7
Action = Callable[[], Array]


def fast_products(spec: Any, features: float) -> dict[str, float]:
    """Return the speed-up of both products over direct ones, with so many nonzero features per row."""
    spec = spec.replace(density=features / spec.d)
    problem = spec.build()
    factors = _factors(spec)
    return _speed_ups(direct(problem, *factors), in_parts(problem, *factors, 1, None))


def threaded_products(spec: Any, threads: float) -> dict[str, float]:
    """Return the speed-up of both products on threads over one; nothing if there are fewer cores."""
    if threads > cores():
        return {}
    problem, factors, count = spec.build(), _factors(spec), int(threads)
    with ThreadPoolExecutor(count) as pool:
        return _speed_ups(in_parts(problem, *factors, 1, pool), in_parts(problem, *factors, count, pool))


def _factors(spec: Any) -> tuple[Array, Array, Array]:
    """Return W, a direction S and H."""
    rng = np.random.default_rng(spec.seed)
    W, S, H = (rng.standard_normal((size, spec.rank)) for size in (spec.d, spec.d, spec.labels))
    return W, S, H


def _speed_ups(slow: tuple[Action, Action], fast: tuple[Action, Action]) -> dict[str, float]:
    return {name: speed_up(*pair) for name, *pair in zip(PRODUCTS, slow, fast, strict=True)}


def speed_up(slow: Action, fast: Action) -> float:
    """Return the ratio of median times, taken in turn."""
    seconds = [[timed(action) for action in (slow, fast)] for _ in range(REPEATS + 1)][1:]
    return float(np.divide(*np.median(seconds, axis=0)))


def timed(action: Action) -> float:
    """Return the seconds that an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def in_parts(
    problem: MultilabelProblem, W: Array, S: Array, H: Array, count: int, pool: ThreadPoolExecutor | None
) -> tuple[Action, Action]:
    """Return the fast gradient at W and the Hessian product with S, of rows in parts on as many threads."""
    cuts = np.linspace(0, len(problem.Y.indptr) - 1, count + 1).astype(int)
    parts = [Risk(labels_of(problem, slice(*ends)), 0.0).of_features(H) for ends in zip(cuts, cuts[1:], strict=False)]
    products = [part.derivatives(W)[1] for part in parts]
    run: Any = map if count == 1 or pool is None else pool.map
    return (
        lambda: sum(run(lambda part: part.derivatives(W)[0], parts)),
        lambda: sum(run(lambda product: product(S), products)),
    )


def labels_of(problem: MultilabelProblem, rows: slice) -> Labels:
    """Return the labels observed of some rows."""
    part: Any = SimpleNamespace(X=problem.X[rows], Y=problem.Y[rows], mask=problem.mask[rows], intercept=False)
    return Labels(part, SQUARED)


def direct(problem: MultilabelProblem, W: Array, S: Array, H: Array) -> tuple[Action, Action]:
    """Return both with a stored table of the rows h_j (x) x_i, one for each label observed (eq. 8 and 9)."""
    rows, columns = problem.mask.nonzero()
    Z = csr_array(hstack([diags_array(H[columns, c]) @ problem.X[rows] for c in range(H.shape[1])]))
    y, w, s = problem.Y.toarray()[rows, columns], W.T.ravel(), S.T.ravel()
    shape = W.shape[::-1]
    return lambda: (Z.T @ (Z @ w - y)).reshape(shape).T, lambda: (Z.T @ (Z @ s)).reshape(shape).T
