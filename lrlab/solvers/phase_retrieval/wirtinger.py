"""Wirtinger flow: gradient descent on squared magnitudes, or on the likelihood of counts, for phase retrieval."""

import math
from typing import Annotated

import numpy as np

from lrlab.arrays import Array, Vector
from lrlab.models.protocols import PhaseData
from lrlab.solver_entry import Generator, Iterate, Iterates, choice
from lrlab.solvers.methods.newton import quartic_step
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_solver, steepness


@phase_solver()
def wirtinger_flow(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    step: Annotated[str, choice("conjugate", "schedule", help="steps to the minimum, or the paper's")] = "conjugate",
    loss: Annotated[
        str, choice("measured", "squares", "counts", help="squares, likelihood of counts, or as measured")
    ] = "measured",
    rng: Generator,
) -> Iterates:
    r"""Wirtinger flow.

    Descends on squared magnitudes, or on the likelihood of counts, along conjugate directions.

    .. math:: z \leftarrow z - \tfrac tm \sum_i \bigl(|\langle a_i, z\rangle|^2 - y_i\bigr) \langle a_i, z\rangle\, a_i

    minimize    F(z) = 1/(2m) sum (|<a_i, z>|^2 - y_i)^2 (squares), y_i intensities, or (1/m) sum (I_i - J_i log I_i),
                less its value at I = J, with I_i = |<a_i, z>|^2 + b, J_i = y_i + b, b a hundredth of the mean of y
                (counts): but for b, -log P(y) of Poisson's law, whose minimum reaches the Cramer-Rao bound; the minimum
                of squares has 1.3 times its error
    start       the spectral initialization
    update      z <- z - t g,  g = (1/m) sum w_i (|<a_i, z>|^2 - y_i) <a_i, z> a_i,  w_i = 1 (squares) or 1 / I_i
    step        schedule: t = min(1 - e^{-k/330}, 0.2) / ||z_0||^2 in step k. conjugate: z moves along d <- -g + beta d,
                beta = max(0, <g - g', g> / ||g'||^2), with g' and d of the step before (Polak & Ribiere); t minimizes
                the squares with weights w_i, a quartic in t, and is halved if F would grow
    converges   geometrically to x with m >= C p log p from a spectral initialization (squares); F never grows with
                `conjugate`
    cost        two passes over A (m, p)

    Yields the initialization and then endlessly: objective F, residual ||g|| relative to the part of g that stems from
    y, along z. Memory O(m).

    References: Candes, Li, Soltanolkotabi (2015), "Phase retrieval via Wirtinger flow: theory and algorithms"; Jiang,
    Rajan, Liu (2016), "Wirtinger flow method with optimal stepsize for phase retrieval", for the quartic; Chen, Candes
    (2017), "Solving random quadratic systems of equations is nearly as easy as solving linear systems", for counts.
    """
    A, y = problem.A, problem.intensity
    counts = loss == "counts" or (loss == "measured" and problem.counted)
    # This keeps the likelihood of counts finite, and costs a hundredth of the error.
    background = 0.01 * float(y.mean()) if counts else 0.0
    z = initial(problem, start, rng)
    length, Az, d, before, k = float(np.linalg.norm(z)), A @ z, np.zeros_like(z), np.zeros_like(z), 0
    while True:
        intensity = np.abs(Az) ** 2
        F, w = compared(intensity, y, background)
        g = adjoint(A, w * (intensity - y) * Az) / len(y)
        yield Iterate(z, objective=F, residual=steepness(g, z, float(np.mean(w * y * intensity))))
        d, before, k = direction(g, before, d, conjugate=step == "conjugate"), g, k + 1
        Ad = A @ d
        if step == "schedule":
            t = min(1.0 - math.exp(-k / 330.0), 0.2) / (length**2 or 1.0)
        else:
            root = np.sqrt(w)
            t = quartic_step(root * (intensity - y), 2.0 * root * (Az.conj() * Ad).real, root * np.abs(Ad) ** 2)
        for _ in range(30 if background and step != "schedule" else 0):
            # At the minimum, rounding errors decide.
            if compared(np.abs(Az + t * Ad) ** 2, y, background)[0] <= F + 1e-13 * background:
                break
            t /= 2.0
        z, Az = z + t * d, Az + t * Ad


def compared(intensity: Array, y: Array, background: float) -> tuple[float, Array | float]:
    """Return F at intensities (m,), and weights that give weighted squares of intensity - y the gradient of F there.

    Squares, or with a background the likelihood of counts.
    """
    r = intensity - y
    if not background:
        return float(np.mean(r**2)) / 2.0, 1.0
    J = y + background
    return float(np.mean(r - J * np.log1p(r / J))), 1.0 / (intensity + background)


def direction(g: Vector, before: Vector, d: Vector, *, conjugate: bool) -> Vector:
    """Return -g, or its conjugate direction after `d` and the gradient `before`; always one of descent."""
    scale = np.vdot(before, before).real
    if not conjugate or scale == 0:
        return -g
    turned = max(0.0, np.vdot(g - before, g).real / scale) * d - g
    return turned if np.vdot(turned, g).real < 0 else -g
