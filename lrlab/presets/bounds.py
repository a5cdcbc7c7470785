"""Formulas of theorems in preset files, for lines in figures and for positions on an axis."""

import ast
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from lrlab.arrays import Array
from lrlab.theory import spiked


def evaluated(formula: str, specs: Sequence[Any], x: ArrayLike = math.nan) -> Array:
    """Return a formula, such as "2 * noise * sqrt(p / m)" or "0.5**x", at each of the specs.

    Its names are attributes of the specs, FUNCTIONS of these, `pi`, and `x`: the positions on an axis that is not a
    parameter, such as the iteration. pandas evaluates it, with functions such as `sqrt` and `log`. pandas is no
    sandbox: formulas come from lrlab's own files.
    """
    places = np.broadcast_to(x, len(specs))
    values: dict[str, Any] = {"pi": math.pi, "x": places}
    for name in {node.id for node in ast.walk(ast.parse(formula)) if isinstance(node, ast.Name)}:
        if name in FUNCTIONS:
            values[name] = np.array([FUNCTIONS[name](*one) for one in zip(specs, places.tolist(), strict=True)])
        elif hasattr(specs[0], name):
            values[name] = np.array([getattr(spec, name) for spec in specs], float)
    numbers = pd.eval(formula, local_dict=values, global_dict={}, engine="python")
    return np.broadcast_to(np.asarray(numbers, float), len(specs))


@lru_cache(maxsize=1024)
def pairwise_limit(spec: Any) -> float:
    """Return the exact limit of Algorithm 1's error, sqrt(2 - 2 <b, b-hat>), for large p at a fixed n/p.

    Reference: `theory.spiked`.
    """
    overlap = spiked.predict(spec.link_function.moments, spec.n / spec.p).overlap
    return math.sqrt(2.0 - 2.0 * math.sqrt(overlap))


def frequent_label(spec: Any, largest: float) -> float:
    """Return the norm of a (L, d) matrix of independent entries of variance p_l / d for large L and d.

    p_l is `largest` in the first row and the same in all others, 1 in sum. The first row adds a term of rank one to the
    Gram matrix of the others, whose eigenvalues follow the law of Marchenko and Pastur; the largest one leaves these
    if R(1/P) + P exceeds their edge, R being the R-transform of that law.
    """
    rest, rows = 1.0 - largest, spec.labels - 1.0
    if largest <= rest / rows * (1.0 + math.sqrt(rows / spec.d)):
        return math.sqrt(rest) * (1.0 / math.sqrt(rows) + 1.0 / math.sqrt(spec.d))
    return math.sqrt(largest + rest / spec.d / (1.0 - rest / (rows * largest)))


FUNCTIONS: dict[str, Callable[[Any, float], float]] = {
    # The eigengap of E[M/4], its smaller eigenvalue and its larger one (Yi et al. 2015, eq. 3.1 and 3.2).
    "phi": lambda spec, x: spec.link_function.moments.phi,
    "width": lambda spec, x: 1.0 - spec.link_function.moments.mu0**2,
    "scale": lambda spec, x: FUNCTIONS["phi"](spec, x) + FUNCTIONS["width"](spec, x),
    "pairwise_limit": lambda spec, x: pairwise_limit(spec),
    "frequent_label": frequent_label,
}
"""Numbers of a spec and a position on the axis, by their names in formulas."""
