"""Amplitude flow: gradient descent on magnitudes, with less weight on measurements whose phase is doubtful."""

from typing import Annotated

import numpy as np

from lrlab.models.protocols import PhaseData
from lrlab.solver_entry import Generator, Iterate, Iterates, choice
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_solver, phases, steepness
from lrlab.solvers.phase_retrieval.wirtinger import direction

TINY = np.finfo(float).tiny


@phase_solver()
def amplitude_flow(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    weights: Annotated[
        str, choice("reweighted", "truncated", help="doubtful measurements: with little weight, or left out")
    ] = "reweighted",
    step: Annotated[str, choice("conjugate", "fixed", help="steps adapted to weights, or the paper's")] = "conjugate",
    rng: Generator,
) -> Iterates:
    r"""Amplitude flow.

    Descends on magnitudes, with little or no weight on measurements whose phase is doubtful.

    .. math:: z \leftarrow z - \tfrac tm \sum_i w_i \Bigl(1 - \frac{b_i}{|\langle a_i, z\rangle|}\Bigr)
        \langle a_i, z\rangle\, a_i

    minimize    F(z) = 1/2 mean (|<a_i, z>| - b_i)^2
    start       the spectral initialization
    update      z <- z - t g,  g = (1/m) sum w_i (<a_i, z> - b_i u_i) a_i,  u_i = <a_i, z> / |<a_i, z>|
    weights     truncated: w_i = 1 if |<a_i, z>| >= b_i / 1.7, else 0.
                reweighted: w_i = |<a_i, z>| / (|<a_i, z>| + 10 b_i)
    step        fixed: t = 0.6 (real) or 0.9 (complex) truncated, 2 or 5 reweighted. conjugate: along Polak & Ribiere's
                directions with the curvature of sum w_i (|<a_i, z>| - b_i)^2, w_i held, and only as far as the bound
                sum w_i |<a_i, z> - b_i u_i|^2, u_i held, which touches it, stays below its old value
    converges   geometrically to x with m >= C p (Theorem 1 of either paper)
    cost        two passes over A (m, p)

    Yields the initialization and then endlessly: objective F with all rows, residual ||g|| relative to the part of g
    that stems from b, along z. Memory O(m).

    References: Wang, Giannakis, Saad, Chen (2018), "Phase retrieval via reweighted amplitude flow", Algorithm 1; Wang,
    Giannakis, Eldar (2018), "Solving systems of random quadratic equations via truncated amplitude flow", Algorithm 1.
    """
    A, b, z = problem.A, problem.magnitude, initial(problem, start, rng)
    fixed = {"truncated": (0.6, 0.9), "reweighted": (2.0, 5.0)}[weights][np.iscomplexobj(A)]
    m, Az, d, before = len(b), A @ z, np.zeros_like(z), np.zeros_like(z)
    while True:
        distance, u = np.abs(Az), phases(Az)
        if weights == "truncated":
            w = (1.7 * distance >= b).astype(float)
        else:
            w = distance / np.maximum(distance + 10.0 * b, TINY)
        g = adjoint(A, w * (Az - b * u)) / m
        residual = steepness(g, z, float(np.mean(w * b * distance)))
        note = f"Mean weight of a row {w.mean():.2f}."
        yield Iterate(z, objective=float(np.mean((distance - b) ** 2)) / 2.0, residual=residual, note=note)
        d, before = direction(g, before, d, conjugate=step == "conjugate"), g
        Ad = A @ d
        t, slope, bound = fixed, -m * float(np.vdot(g, d).real), float(w @ np.abs(Ad) ** 2)
        if step == "conjugate":
            curvature = float(w @ (u.conj() * Ad).real ** 2)
            t = min(slope / max(curvature, TINY), 2.0 * slope / bound) if bound else 0.0
        z, Az = z + t * d, Az + t * Ad
