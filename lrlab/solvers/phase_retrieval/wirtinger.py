"""Wirtinger flow: gradient descent on squared magnitudes, for phase retrieval."""

import math
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Vector
from lrlab.models.protocols import PhaseData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_entry, steepness

WARM_UP = 330.0
LARGEST_STEP = 0.2


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
    rng: Generator,
) -> Iterates:
    r"""Recover x up to a global phase from intensities y_i = |<a_i, x>|^2 (squares of magnitudes) by Wirtinger flow.

    minimise    F(z) = 1/(2m) sum (|<a_i, z>|^2 - y_i)^2
    update      z <- z - t g,  g = (1/m) sum (|<a_i, z>|^2 - y_i) <a_i, z> a_i
    step        schedule: t = min(1 - e^{-k/330}, 0.2) / ||z_0||^2 in step k. exact: t minimises F(z - t g), a
                quartic in t. conjugate: the same along d <- -g + beta d, beta = max(0, <g - g', g> / ||g'||^2), with
                g' and d of the step before (Polak & Ribiere)
    converges   geometrically to x with m >= C p log p from a spectral start; F never grows with `exact`
                and `conjugate`

    A (m, p). Yields the start and then endlessly: objective F, residual ||g|| relative to the part of g that stems
    from y, along z. Two passes over A a step, memory O(m).
    References: Candes, Li, Soltanolkotabi (2015), "Phase retrieval via Wirtinger flow: theory and algorithms"; Jiang,
    Rajan, Liu (2016), "Wirtinger flow method with optimal stepsize for phase retrieval", for the quartic.
    """
    A, y = problem.A, problem.intensity
    z = initial(problem, start, rng)
    length, Az, d, before, k = float(np.linalg.norm(z)), A @ z, np.zeros_like(z), np.zeros_like(z), 0
    while True:
        g = gradient(A, Az, y)
        intensity = np.abs(Az) ** 2
        objective = float(np.mean((intensity - y) ** 2)) / 2.0
        yield Iterate(z, objective=objective, residual=steepness(g, z, float(np.mean(y * intensity))))
        d, before, k = direction(g, before, d, conjugate=step == "conjugate"), g, k + 1
        Ad = A @ d
        paper = min(1.0 - math.exp(-k / WARM_UP), LARGEST_STEP) / (length**2 or 1.0)
        t = paper if step == "schedule" else best_step(Az, Ad, y)
        z, Az = z + t * d, Az + t * Ad


def gradient(A: Vector, Az: Vector, y: Array) -> Vector:
    """Return (1/m) sum (|<a_i, z>|^2 - y_i) <a_i, z> a_i (p,)."""
    return adjoint(A, (np.abs(Az) ** 2 - y) * Az) / len(y)


def direction(g: Vector, before: Vector, d: Vector, *, conjugate: bool) -> Vector:
    """Return -g, or its conjugate direction after `d` and the gradient `before`; always one of descent."""
    scale = np.vdot(before, before).real
    if not conjugate or scale == 0:
        return -g
    beta = max(0.0, np.vdot(g - before, g).real / scale)
    turned = beta * d - g
    return turned if np.vdot(turned, g).real < 0 else -g


def best_step(Az: Vector, Ad: Vector, y: Array) -> float:
    """Return the t >= 0 that minimises sum (|<a_i, z + t d>|^2 - y_i)^2, a root of a cubic; 0 where there is none."""
    # sum (r + s t + q t^2)^2, without its constant.
    r, s, q = np.abs(Az) ** 2 - y, 2.0 * (Az.conj() * Ad).real, np.abs(Ad) ** 2
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
    summary="Descends on squared magnitudes, along conjugate directions to the exact minimum of each line.",
    run=wirtinger_flow,
)
