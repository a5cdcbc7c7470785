"""Wirtinger flow: gradient descent on squared magnitudes, or on the likelihood of counts, for phase retrieval."""

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Vector
from lrlab.models.protocols import PhaseData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_entry, steepness

WARM_UP = 330.0
LARGEST_STEP = 0.2
BACKGROUND = 0.01
"""Of the mean intensity: what keeps the likelihood of counts finite, and costs a hundredth of the error."""
HALVINGS = 30
ROUNDING = 1e-13


class Loss(NamedTuple):
    """Value F, and weights w (m,) with which squares of |<a_i, z>|^2 - y_i have its gradient at z."""

    F: float
    w: Array | float


def wirtinger_flow(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    step: Annotated[
        str,
        Parameter(
            meaning="conjugate directions or the gradient, each to the exact minimum; or the paper's step schedule",
            choices=("conjugate", "exact", "schedule"),
        ),
    ] = "conjugate",
    loss: Annotated[
        str,
        Parameter(
            meaning="squares of what intensities miss; the likelihood of counts; or this where counts are measured",
            choices=("measured", "squares", "counts"),
        ),
    ] = "measured",
    rng: Generator,
) -> Iterates:
    r"""Recover x up to a global phase from intensities y_i = |<a_i, x>|^2 (squares of magnitudes) by Wirtinger flow.

    minimise    F(z) = 1/(2m) sum (|<a_i, z>|^2 - y_i)^2 (squares), or (1/m) sum (I_i - J_i log I_i), less what it is
                at I = J, with I_i = |<a_i, z>|^2 + b, J_i = y_i + b, b a hundredth of the mean of y (counts): but for
                b, -log P(y) of Poisson's law, whose minimum reaches the Cramer-Rao bound; that of squares has 1.3
                times its error
    update      z <- z - t g,  g = (1/m) sum w_i (|<a_i, z>|^2 - y_i) <a_i, z> a_i,  w_i = 1 (squares) or 1 / I_i
    step        schedule: t = min(1 - e^{-k/330}, 0.2) / ||z_0||^2 in step k. exact: t minimises along -g the squares
                with weights w_i, a quartic in t, and is halved where F would grow. conjugate: the same along
                d <- -g + beta d, beta = max(0, <g - g', g> / ||g'||^2), with g' and d of the step before (Polak &
                Ribiere)
    converges   geometrically to x with m >= C p log p from a spectral start (squares); F never grows with `exact`
                and `conjugate`

    A (m, p). Yields the start and then endlessly: objective F, residual ||g|| relative to the part of g that stems
    from y, along z. Two passes over A a step, memory O(m).
    References: Candes, Li, Soltanolkotabi (2015), "Phase retrieval via Wirtinger flow: theory and algorithms"; Jiang,
    Rajan, Liu (2016), "Wirtinger flow method with optimal stepsize for phase retrieval", for the quartic; Chen, Candes
    (2017), "Solving random quadratic systems of equations is nearly as easy as solving linear systems", for counts.
    """
    A, y = problem.A, problem.intensity
    counts = loss == "counts" or (loss == "measured" and problem.counted)
    background = BACKGROUND * float(y.mean()) if counts else 0.0
    z = initial(problem, start, rng)
    length, Az, d, before, k = float(np.linalg.norm(z)), A @ z, np.zeros_like(z), np.zeros_like(z), 0
    while True:
        intensity = np.abs(Az) ** 2
        F, w = compared(intensity, y, background)
        g = gradient(A, Az, y, w)
        yield Iterate(z, objective=F, residual=steepness(g, z, float(np.mean(w * y * intensity))))
        d, before, k = direction(g, before, d, conjugate=step == "conjugate"), g, k + 1
        Ad = A @ d
        if step == "schedule":
            t = min(1.0 - math.exp(-k / WARM_UP), LARGEST_STEP) / (length**2 or 1.0)
        else:
            t = best_step(Az, Ad, y, w)
        for _ in range(HALVINGS if background and step != "schedule" else 0):
            # Where nothing is left to gain, rounding decides.
            if compared(np.abs(Az + t * Ad) ** 2, y, background).F <= F + ROUNDING * background:
                break
            t /= 2.0
        z, Az = z + t * d, Az + t * Ad


def gradient(A: Vector, Az: Vector, y: Array, w: Array | float = 1.0) -> Vector:
    """Return (1/m) sum w_i (|<a_i, z>|^2 - y_i) <a_i, z> a_i (p,)."""
    return adjoint(A, w * (np.abs(Az) ** 2 - y) * Az) / len(y)


def compared(intensity: Array, y: Array, background: float) -> Loss:
    """Return the loss of intensities (m,) beside y: squares, or with a background the likelihood of counts."""
    r = intensity - y
    if not background:
        return Loss(float(np.mean(r**2)) / 2.0, 1.0)
    J = y + background
    return Loss(float(np.mean(r - J * np.log1p(r / J))), 1.0 / (intensity + background))


def direction(g: Vector, before: Vector, d: Vector, *, conjugate: bool) -> Vector:
    """Return -g, or its conjugate direction after `d` and the gradient `before`; always one of descent."""
    scale = np.vdot(before, before).real
    if not conjugate or scale == 0:
        return -g
    beta = max(0.0, np.vdot(g - before, g).real / scale)
    turned = beta * d - g
    return turned if np.vdot(turned, g).real < 0 else -g


def best_step(Az: Vector, Ad: Vector, y: Array, w: Array | float = 1.0) -> float:
    """Return the t >= 0 that minimises sum w_i (|<a_i, z + t d>|^2 - y_i)^2, root of a cubic; 0 where there is none."""
    # sum (r + s t + q t^2)^2, without its constant.
    root = np.sqrt(w)
    r, s, q = (root * part for part in (np.abs(Az) ** 2 - y, 2.0 * (Az.conj() * Ad).real, np.abs(Ad) ** 2))
    quartic = np.array([q @ q, 2.0 * (s @ q), s @ s + 2.0 * (r @ q), 2.0 * (r @ s), 0.0])
    # In units of the step that the quadratic part asks for, so that the roots stay well scaled.
    unit = abs(quartic[3]) / (2.0 * (s @ s) or 1.0)
    scaled = quartic * unit ** np.arange(4, -1, -1)
    if not scaled.any():
        return 0.0
    roots = np.roots(np.polyder(scaled / np.abs(scaled).max()))
    steps = [0.0, *(float(root.real) for root in roots if root.real > 0)]
    return unit * min(steps, key=lambda t: np.polyval(scaled, t))


ENTRY = phase_entry(
    title="Wirtinger flow",
    update=r"z \leftarrow z - \tfrac tm \sum_i \bigl(|\langle a_i, z\rangle|^2 - y_i\bigr) \langle a_i, z\rangle\, a_i",
    summary="Descends on squared magnitudes, or on the likelihood of counts, along conjugate directions.",
    run=wirtinger_flow,
)
