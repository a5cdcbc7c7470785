"""Approximate message passing: with a soft threshold, and Bayes-optimal."""

import math
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np

from lrlab.solver_entry import Generator, Iterate, Iterates, Options, Stop, number
from lrlab.solvers.compressed_sensing.steps import SparseData, moved, sparse_solver
from lrlab.solvers.methods.message_passing import State, iterations
from lrlab.theory.sparse_limits import Measured, bayes_limits, minimax_threshold, soft, soft_threshold_limits

Threshold = Annotated[float, number(0, 10, "threshold in standard deviations; 0: minimax at this n/p", symbol="α")]


@sparse_solver(
    memory=0.1, max_iter=1000, predict=lambda spec, options: soft_threshold_limits(spec, float(options["threshold"]))
)
def amp(problem: SparseData, *, threshold: Threshold = 0.0, rng: Generator) -> Iterates:
    r"""Approximate message passing (AMP).

    Soft thresholds with a correction of the residual, so that each step sees Gaussian noise of known size.

    .. math:: x \leftarrow \eta(x + A^\top z;\ \alpha \hat\tau), \qquad
        z \leftarrow y - A x + \tfrac pn \langle \eta' \rangle z, \qquad \hat\tau = \|z\| / \sqrt n

    start       x = 0, z = y
    converges   for Gaussian A asymptotically to the LASSO whose strength belongs to alpha (`theory.sparse_limits`);
                state evolution predicts tau; the minimax alpha recovers exact data up to the Donoho-Tanner curve
    cost        two passes over A (n, p)

    Other designs have another theory; on them, and at small p, the method may diverge.

    Reference: Donoho, Maleki & Montanari (2009), "Message-passing algorithms for compressed sensing", eqs. 1-3.
    """
    A, y, (n, p) = problem.A, problem.y, problem.shape
    a = threshold or minimax_threshold(n / p, problem.nonnegative)
    x, z, most = np.zeros(p), y, 1e6 * np.linalg.norm(y)
    while (size := float(np.linalg.norm(z))) <= most:
        tau = size / np.sqrt(n)
        following = soft(x + z @ A, a * tau, problem.nonnegative)
        yield Iterate(x, residual=moved(x, following), note=f"Noise of the entries {tau:.3g}.", optimal=False)
        x, z = following, y - A @ following + np.count_nonzero(following) / n * z
    return Stop.DIVERGED


def predict_gamp(spec: Any, options: Options) -> dict[str, float]:
    """Return the limit of polynomial-time methods, which GAMP attains, or the limit of all methods if the two agree."""
    best = bayes_limits(spec)
    names = ("error", "overlap") if best else ()
    return {f"limit_{name}": best.get(f"limit_best_fast_{name}", best[f"limit_best_{name}"]) for name in names}


@sparse_solver(name="gamp", oracle=("noise", "sparsity"), memory=1.5, max_iter=500, predict=predict_gamp, attains=True)
def sparse_gamp(problem: SparseData, *, rng: Generator) -> Iterates:
    r"""Bayes-optimal message passing (GAMP).

    The posterior mean for Gaussian entries at random positions; uses the intervals of a quantizer.

    .. math:: g_i = \frac{\mathbb E[z_i \mid y_i] - w_i}{V}, \qquad x \leftarrow \mathbb E\bigl[x \mid
        x + \sqrt S\, e = x_{\text{old}} + S A^\top g\bigr], \qquad w \leftarrow A x - V g

    start       x = 0
    converges   for Gaussian A asymptotically to the limit of polynomial-time methods (`theory.sparse_limits`)
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
        x, note = math.sqrt(s) * at.b, f"Expected relative error {math.sqrt(at.V):.3g}."
        # Rounding keeps the changes of an exact solution above the tolerance, and not its misfit.
        misfit = moved(problem.y, problem.A @ x) if problem.noise == 0 else math.inf
        yield Iterate(x, residual=min(at.change, misfit), note=note, optimal=False)
