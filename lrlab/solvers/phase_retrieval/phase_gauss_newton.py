"""Damped Gauss-Newton for phase retrieval."""

import numpy as np

from lrlab.arrays import Vector
from lrlab.models.protocols import PhaseData
from lrlab.solver_entry import Generator, Iterate, Iterates
from lrlab.solvers.methods.newton import conjugate_gradients
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_solver, steepness

SOFTENING = {"magnitude": 0.1, "intensity": 1.0}
INNER_STEPS = 200


@phase_solver(name="gauss-newton")
def phase_gauss_newton(problem: PhaseData, *, start: Start = "optimal", rng: Generator) -> Iterates:
    r"""Gauss-Newton.

    Damped Gauss-Newton from a spectral initialization: few iterations, and the fewest measurements.

    .. math:: z \leftarrow z + D, \quad D = \arg\min_D \tfrac1m \sum_i (r_i + r_i'[D])^2 + \lambda \|D\|^2

    minimize    F(z) = 1/2 mean r_i^2,  r_i = (|<a_i, z>|^2 - b_i^2) / (2 sqrt(b_i^2 + s c^2)), c^2 the mean of b_i^2.
                Squares have no kink at <a_i, z> = 0, which keeps iterates from getting stuck on the wrong side of it,
                and the denominator weighs responses about as noise in them asks for: s = 1/10 if magnitudes are
                measured, 1 if intensities are
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
    yield from descent(problem, initial(problem, start, rng))


def descent(problem: PhaseData, z: Vector) -> Iterates:
    """Yield z (p,) and what becomes of it by damped Gauss-Newton steps: see `phase_gauss_newton`."""
    A, squares = problem.A, problem.magnitude**2
    scale = 1.0 / np.sqrt(squares + SOFTENING[problem.data] * (float(np.mean(squares)) or 1.0))
    data, damping, growth, note, Az = squares * scale / 2.0, 0.1, 2.0, "The start.", A @ z
    while True:
        # r' = Re(conj(rows) A dz).
        r, rows = np.abs(Az) ** 2 * scale / 2.0 - data, Az * scale
        g, F = adjoint(A, rows * r) / len(r), float(np.mean(r**2)) / 2.0
        residual = steepness(g, z, float(np.mean(data * (rows.conj() * Az).real)))
        yield Iterate(z, objective=F, residual=residual, note=note)
        D, steps = damped_step(problem, rows, g, damping, float(np.clip(residual, 1e-8, 0.1)))
        AD = A @ D
        after = float(np.mean((np.abs(Az + AD) ** 2 * scale / 2.0 - data) ** 2)) / 2.0
        expected = F - float(np.mean((r + (rows.conj() * AD).real) ** 2)) / 2.0
        quality = (F - after) / expected if expected > 0 else 0.0
        note = f"Step {{}} at damping {damping:.1e}; {steps} inner steps."
        # Nielsen's rule: l falls with the quality of the model, and grows ever faster while steps fail.
        if quality > 1e-4:
            z, Az, note = z + D, Az + AD, note.format("taken")
            damping, growth = max(damping * max(0.1, 1.0 - (2.0 * quality - 1.0) ** 3), 1e-14), 2.0
        else:
            damping, growth, note = min(damping * growth, 1e8), min(2.0 * growth, 1e6), note.format("refused")


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
