"""Bayes-optimal generalized approximate message passing."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.random import Generator

from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver
from lrlab.solvers.methods.message_passing import State, iterations
from lrlab.theory.sparse_limits import Measured, bayes_limits


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the limit of polynomial-time methods, which this one attains."""
    best = bayes_limits(spec)
    names = ("error", "overlap") if best else ()
    return {f"limit_{name}": best.get(f"limit_best_fast_{name}", best[f"limit_best_{name}"]) for name in names}


@sparse_solver(name="gamp", oracle=("noise", "sparsity"), memory=1.5, max_iter=500, predict=predict, attains=True)
def sparse_gamp(problem: SparseData, *, rng: Generator) -> Iterates:
    r"""Bayes-optimal message passing (GAMP).

    The posterior mean for Gaussian entries at random places; takes the cells of a quantizer as they are.

    .. math:: g_i = \frac{\mathbb E[z_i \mid y_i] - w_i}{V}, \qquad x \leftarrow \mathbb E\bigl[x \mid
        x + \sqrt S\, e = x_{\text{old}} + S A^\top g\bigr], \qquad w \leftarrow A x - V g

    start       x = 0
    converges   for Gaussian A and large p to the limit of polynomial-time methods (`theory.sparse_limits`)
    cost        two passes over A (n, p), and the likelihood of each measurement

    The prior has the entries other than 0 at the rate s/p, Gaussian; the channel is exact for any number of bits.

    Reference: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances.
    """
    (n, p), s = problem.shape, problem.sparsity
    # Of unit scale: indices of variance 1, and a signal of length 1.
    scale = math.sqrt(n / s)
    unit_problem = SimpleNamespace(
        X=math.sqrt(n) * problem.A, y=problem.cells if problem.bits else scale * problem.y, shape=(n, p),
        link=Measured(problem.index_noise, problem.bits), checkpoint=problem.checkpoint,
    )  # fmt: skip
    for at in iterations(unit_problem, State(np.zeros(p), 1.0, np.zeros(n)), s / p):
        x, note = math.sqrt(s) * at.state.b, f"Expected relative error {math.sqrt(at.state.V):.3g}."
        # Rounding keeps the changes of an exact solution above the tolerance, and not its misfit.
        misfit = moved(problem.y, problem.A @ x) if problem.noise == 0 else math.inf
        yield Iterate(x, residual=min(at.change, misfit), note=note, optimal=False)
