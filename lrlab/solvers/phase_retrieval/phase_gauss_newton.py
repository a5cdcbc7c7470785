"""Damped Gauss-Newton for phase retrieval."""

from collections.abc import Callable
from typing import Annotated, NamedTuple

import numpy as np

from lrlab.arrays import Array, Vector
from lrlab.models.protocols import PhaseData
from lrlab.solver_entry import Generator, Iterate, Iterates, choice
from lrlab.solvers.methods.newton import conjugate_gradients
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_solver, phases, steepness

SOFTENING = {"magnitude": 0.1, "intensity": 1.0}
INNER_STEPS = 200


class Model(NamedTuple):
    """Residuals r (m,) at z, the rows of their derivative, r' = Re(conj(rows) A dz), and the part of r that is data."""

    r: Array
    rows: Vector
    data: Array


@phase_solver(name="gauss-newton")
def phase_gauss_newton(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    loss: Annotated[
        str, choice("balanced", "intensity", "amplitude", help="weighted squares, squares or magnitudes")
    ] = "balanced",
    rng: Generator,
) -> Iterates:
    r"""Gauss-Newton.

    Damped Gauss-Newton from a spectral initialization: few iterations, and the fewest measurements.

    .. math:: z \leftarrow z + D, \quad D = \arg\min_D \tfrac1m \sum_i (r_i + r_i'[D])^2 + \lambda \|D\|^2

    minimize    F(z) = 1/2 mean r_i^2, with r_i = |<a_i, z>| - b_i (amplitude), (|<a_i, z>|^2 - b_i^2) / (2 c)
                (intensity) or (|<a_i, z>|^2 - b_i^2) / (2 sqrt(b_i^2 + s c^2)) (balanced), c^2 the mean of b_i^2.
                Squares have no kink at <a_i, z> = 0, which keeps iterates from getting stuck on the wrong side of it;
                balanced, responses are weighted about as noise in them asks for: s = 1/10 if magnitudes are measured,
                1 if intensities are
    start       the spectral initialization
    update      z <- z + D,  D = argmin mean (r_i + r_i'[D])^2 + l ||D||^2, in real coordinates, by conjugate gradients.
                A step needs a decrease of F of at least 1e-4 of the model's prediction; l adapts to the quality of the
                prediction
    converges   quadratically near x without noise, elsewhere F never grows; the damping holds the global phase, along
                which nothing changes
    cost        two passes over A (m, p) per conjugate gradient step

    Yields the initialization and then endlessly, z unchanged after a step that was not taken: objective F, residual the
    gradient of F relative to its part that stems from b, along z. Memory O(m).

    References: Gao, Xu (2017), "Phaseless recovery using the Gauss-Newton method"; Nielsen (1999), "Damping parameter
    in Marquardt's method", for l.
    """
    yield from descent(problem, initial(problem, start, rng), loss)


def descent(problem: PhaseData, z: Vector, loss: str) -> Iterates:
    """Yield z (p,) and what becomes of it by damped Gauss-Newton steps: see `phase_gauss_newton`."""
    A, b = problem.A, problem.magnitude
    compare = comparison(loss, b, SOFTENING[problem.data])
    damping, growth, note, Az = 0.1, 2.0, "The start.", A @ z
    while True:
        at = compare(Az)
        g, F = adjoint(A, at.rows * at.r) / len(b), float(np.mean(at.r**2)) / 2.0
        residual = steepness(g, z, float(np.mean(at.data * (at.rows.conj() * Az).real)))
        yield Iterate(z, objective=F, residual=residual, note=note)
        D, steps = damped_step(problem, at.rows, g, damping, float(np.clip(residual, 1e-8, 0.1)))
        AD = A @ D
        after = float(np.mean(compare(Az + AD).r ** 2)) / 2.0
        expected = F - float(np.mean((at.r + (at.rows.conj() * AD).real) ** 2)) / 2.0
        quality = (F - after) / expected if expected > 0 else 0.0
        note = f"Step {{}} at damping {damping:.1e}; {steps} inner steps."
        # Nielsen's rule: l falls with the quality of the model, and grows ever faster while steps fail.
        if quality > 1e-4:
            z, Az, note = z + D, Az + AD, note.format("taken")
            damping, growth = max(damping * max(0.1, 1.0 - (2.0 * quality - 1.0) ** 3), 1e-14), 2.0
        else:
            damping, growth, note = min(damping * growth, 1e8), min(2.0 * growth, 1e6), note.format("refused")


def comparison(loss: str, b: Array, softening: float) -> Callable[[Vector], Model]:
    """Return the function that maps A z (m,) to the loss's residuals and their derivative; `softening` is s above."""
    if loss == "amplitude":
        return lambda Az: Model(np.abs(Az) - b, phases(Az), b)
    mean = float(np.mean(b**2)) or 1.0
    scale = 1.0 / np.sqrt(b**2 + softening * mean if loss == "balanced" else np.full_like(b, mean))
    data = b**2 * scale / 2.0
    return lambda Az: Model(np.abs(Az) ** 2 * scale / 2.0 - data, Az * scale, data)


def damped_step(problem: PhaseData, rows: Vector, g: Vector, damping: float, accuracy: float) -> tuple[Vector, int]:
    """Return D (p,) with (J^T J / m + damping) D = -g by conjugate gradients, and their number.

    J D = Re(conj(rows) A D) is linear only in real coordinates, so that <a, b> here is Re(a^* b). They end when the
    residual is `accuracy` times ||g||.
    """
    A, steps = problem.A, 0

    def product(d: Vector) -> Vector:
        nonlocal steps
        problem.checkpoint(steps / INNER_STEPS)
        steps += 1
        return adjoint(A, rows * (rows.conj() * (A @ d)).real) / len(rows) + damping * d

    return conjugate_gradients(product, g, INNER_STEPS, accuracy), steps
