"""Approximate message passing with a soft threshold."""

from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from lrlab.parameters import number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver
from lrlab.theory.sparse_limits import amp_limits, minimax_threshold, soft

Threshold = Annotated[float, number(0, 10, "threshold in standard deviations; 0: minimax at this n/p", symbol="α")]


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the fixed point of state evolution."""
    return amp_limits(spec, float(options["threshold"]))


@sparse_solver(memory=0.1, max_iter=1000, predict=predict)
def amp(problem: SparseData, *, threshold: Threshold = 0.0, rng: Generator) -> Iterates:
    r"""Approximate message passing (AMP).

    Soft thresholds with a correction of the residual, so that each step sees Gaussian noise of known size.

    .. math:: x \leftarrow \eta(x + A^\top z;\ \alpha \hat\tau), \qquad
        z \leftarrow y - A x + \tfrac pn \langle \eta' \rangle z, \qquad \hat\tau = \|z\| / \sqrt n

    start       x = 0, z = y
    converges   for Gaussian A and large p to the LASSO whose strength belongs to alpha (`theory.sparse_limits`); state
                evolution predicts tau; the minimax alpha recovers exact data up to the Donoho-Tanner curve
    cost        two passes over A (n, p)

    Other designs have another theory, and the method may diverge on them.

    Reference: Donoho, Maleki & Montanari (2009), "Message-passing algorithms for compressed sensing", eqs. 1-3.
    """
    A, y, (n, p) = problem.A, problem.y, problem.shape
    a = threshold or minimax_threshold(n / p, problem.nonnegative)
    x, z = np.zeros(p), y
    while True:
        tau = float(np.linalg.norm(z)) / np.sqrt(n)
        following = soft(x + z @ A, a * tau, problem.nonnegative)
        yield Iterate(x, residual=moved(x, following), note=f"Noise of the entries {tau:.3g}.", optimal=False)
        x, z = following, y - A @ following + np.count_nonzero(following) / n * z
