"""LEML's fast products against direct ones, and on several threads (Yu et al. 2014), as quantities of theorems.

The gradient and the Hessian product of the factor W (eq. 8 and 9) on simulated rows, squared loss: fast ones (eq. 10
and 11) against products with a stored table of the rows h_j (x) x_i, and rows in parts on threads against one thread.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from timeit import timeit
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
Actions = tuple[Callable[[], Array], Callable[[], Array]]
"""The gradient, and the Hessian product."""


def fast_products(spec: Any, features: float) -> dict[str, float]:
    """Return the speed-up of both products over direct ones, with so many nonzero features per row."""
    spec = spec.replace(density=features / spec.d)
    problem, factors = spec.build(), _factors(spec)
    return _speed_ups(direct(problem, *factors), in_parts(problem, *factors, 1))


def threaded_products(spec: Any, threads: float) -> dict[str, float]:
    """Return the speed-up of both products on threads over one; nothing if there are fewer cores."""
    if threads > cores():
        return {}
    problem, factors = spec.build(), _factors(spec)
    with ThreadPoolExecutor(int(threads)) as pool:
        return _speed_ups(in_parts(problem, *factors, 1), in_parts(problem, *factors, int(threads), pool.map))


def _factors(spec: Any) -> tuple[Array, Array, Array]:
    """Return W, a direction S and H."""
    rng = np.random.default_rng(spec.seed)
    W, S, H = (rng.standard_normal((size, spec.rank)) for size in (spec.d, spec.d, spec.labels))
    return W, S, H


def _speed_ups(slow: Actions, fast: Actions) -> dict[str, float]:
    """Return the ratios of median times, taken in turn."""
    ratios = {}
    for name, *pair in zip(PRODUCTS, slow, fast, strict=True):
        seconds = [[timeit(action, number=1) for action in pair] for _ in range(REPEATS + 1)][1:]
        ratios[name] = float(np.divide(*np.median(seconds, axis=0)))
    return ratios


def in_parts(problem: MultilabelProblem, W: Array, S: Array, H: Array, count: int, run: Any = map) -> Actions:
    """Return the fast products of rows in parts; run: `map`, or the same on threads."""
    cuts = np.linspace(0, len(problem.Y.indptr) - 1, count + 1).astype(int)
    parts = []
    for rows in map(slice, cuts, cuts[1:]):
        own: Any = SimpleNamespace(X=problem.X[rows], Y=problem.Y[rows], mask=problem.mask[rows], intercept=False)
        parts.append(Risk(Labels(own, SQUARED), 0.0).of_features(H))
    products = [part.derivatives(W)[1] for part in parts]
    return (
        lambda: sum(run(lambda part: part.derivatives(W)[0], parts)),
        lambda: sum(run(lambda product: product(S), products)),
    )


def direct(problem: MultilabelProblem, W: Array, S: Array, H: Array) -> Actions:
    """Return both with a stored table of the rows h_j (x) x_i, one for each label observed (eq. 8 and 9)."""
    rows, columns = problem.mask.nonzero()
    Z = csr_array(hstack([diags_array(H[columns, c]) @ problem.X[rows] for c in range(H.shape[1])]))
    y, w, s = problem.Y.toarray()[rows, columns], W.T.ravel(), S.T.ravel()
    shape = W.shape[::-1]
    return lambda: (Z.T @ (Z @ w - y)).reshape(shape).T, lambda: (Z.T @ (Z @ s)).reshape(shape).T
