"""Generalized approximate message passing for phase retrieval: the posterior mean of the signal given magnitudes."""

import math
from itertools import islice
from typing import Annotated, Any

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Vector
from lrlab.models.protocols import PhaseData
from lrlab.parameters import choice
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.methods.message_passing import answers
from lrlab.solvers.phase_retrieval import phase_start
from lrlab.solvers.phase_retrieval.phase_gauss_newton import descent
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_solver, predict_start
from lrlab.theory.channels import TINY
from lrlab.theory.magnitudes import Magnitudes
from lrlab.theory.phase import spike
from lrlab.theory.phase_limits import channel_of
from lrlab.theory.state_evolution import evolution, overlaps

PATIENCE, DAMPED = 20, 0.8
RECOVERED, STATIONARY, FITTED = 1e-3, 1e-8, 1e-6
"""1 - overlap that starts the refinement by Gauss-Newton; change of a fixed point, and residual norm of one that
fits."""
LEAST_VARIANCE = 1e-28


def predict(spec: Any, options: Options) -> dict[str, float]:
    """Return the overlaps of the initialization and of the fixed point of state evolution."""
    start = predict_start(spec, options)
    return {**start, "limit_overlap": overlaps(channel_of(spec), spec.m / spec.p).fast} if start else {}


def predict_iterations(spec: Any, options: Options, iterations: int) -> list[float]:
    """Return the overlaps that state evolution predicts, until Gauss-Newton takes over.

    Nothing if the initialization has no overlap: an overlap by chance has no limit.
    """
    start = predict_start(spec, options).get("predicted_start_overlap", 0.0)
    if start == 0.0:
        return []
    following = evolution(channel_of(spec), spec.m / spec.p, start=start)
    expected = [start, *islice(following, iterations - 1)]
    ends = [k for k, q in enumerate(expected) if 1.0 - q < RECOVERED]
    refined = ends and options["refine"] == "gauss-newton" and channel_of(spec).sharp
    return expected[: ends[0] + 1] if refined else expected


@phase_solver(name="gamp", oracle="noise", predict=predict, attains=True, predict_iterations=predict_iterations)
def gamp(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    refine: Annotated[
        str, choice("gauss-newton", "none", help="how a run on exact data ends, once 99.9% are recovered")
    ] = "gauss-newton",
    rng: Generator,
) -> Iterates:
    r"""Approximate message passing (GAMP).

    The posterior mean; knows the noise, and recovers from the fewest measurements of all polynomial-time methods known.

    .. math:: g_i = \frac{\mathbb E[w_i \mid y_i] - w_i}{V}, \quad z \leftarrow \frac{c/p}{c/p + S} \bigl(z + S
        A^* g\bigr), \quad w \leftarrow A z - V g

    estimate    E[x | A, y] for x with entries N(0, c/p), complex ones circular, c the mean intensity. Since A looks the
                same in every direction, only ||x|| matters, and images are recovered as often as random signals
    start       z = sqrt(q) v, v the spectral estimate and q its predicted overlap, V = c (1 - q),
                w_i = (1 - t T(y_i)) <a_i, z>, the projection on an eigenvector that has not seen measurement i (t and T
                of `theory.phase`; compare Mondelli & Venkataramanan 2021, "Approximate message passing with spectral
                initialization")
    matching    w <- a w, V <- mean (v_i + |m_i - w_i|^2), a = sum Re(m_i conj(w_i)) / sum |w_i|^2, three times: the
                scale and the variance of largest likelihood, by expectation maximization, with the posterior means and
                variances m_i, v_i of `theory.magnitudes`. For large p nothing changes; at p of some hundreds, iterates
                diverge without it
    update      g_i = (m_i - w_i) / V,  h_i = (V - v_i) / V^2,  S = 1 / sum_i h_i,  R = z + S A^* g
                z <- R (c/p) / (c/p + S),  V <- p S (c/p) / (c/p + S),  w <- A z - V g
    damping     none, until the change has not fallen for twenty iterations: then g and z go 0.8 of the way. If V does
                not fall for twenty damped iterations, either, and data are exact, it starts again at random
    converges   for independent Gaussian A and large p to the fixed point of `theory.state_evolution`, which predicts
                each iteration, too: exact data are recovered above m/p = 1.13 real, 2.03 complex. On other designs the
                method may diverge, though images of 64 x 64 pixels are recovered from 4 and 8 coded patterns
    cost        two passes over A (m, p), entries of variance 1

    Yields endlessly z, scaled to the posterior mean of ||x||^2; residual the larger of ||z_next - z|| and |V_next - V|,
    relative to ||x||. On exact data || |A z| - y || / ||y|| is part of the residual, so that nothing converges that
    does not fit; a fixed point that does not is STALLED. With noise a fixed point is SETTLED. V falls by p/m (2p/m) per
    iteration at the end, which Gauss-Newton steps cut short. Memory O(m).

    References: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances; Maillard, Loureiro, Krzakala, Zdeborova (2020), "Phase retrieval in high
    dimensions: statistical and computational phase transitions".
    """
    A, (m, p), field = problem.A, problem.shape, "complex" if np.iscomplexobj(problem.A) else "real"
    channel, c = Magnitudes(field, problem.noise, problem.data), float(problem.intensity.mean())
    if c <= 0:
        yield Iterate(np.zeros(p, A.dtype), residual=0.0, note="All responses are 0.")
        return Stop.FINISHED
    # Less the intensity of noise that is added before squaring.
    c = max(c - problem.noise**2, 0.01 * c) if channel.power == 1 else c
    z, V, Az, w = started(problem, channel, start, c, rng)
    score, step, changes, variances = None, 1.0, list[float](), list[float]()
    while True:
        a, _, w, g, h = matched(problem, channel, w, V, c)
        score = g if score is None else step * g + (1.0 - step) * score
        # h is the mean of |g|^2 under the model, which cannot be negative.
        S = 1.0 / max(m * (h if h > 0 else float(np.vdot(g, g).real) / m), TINY)
        shrink = c / (c + p * S)
        z_next = step * shrink * (a * z + S * adjoint(A, score)) + (1.0 - step) * a * z
        V_next = max(p * S * shrink, LEAST_VARIANCE * c)
        change = max(float(np.linalg.norm(z_next - z)) / math.sqrt(c), abs(V_next - V) / c)
        scale = math.sqrt(1.0 + V / max(float(np.vdot(z, z).real), TINY))
        misfit = unfitted(problem, scale * Az) if channel.sharp else 0.0
        damped = "" if step == 1.0 else f"; steps damped to {step:.2g}"
        note = f"Own estimate of the overlap {1.0 - V / c:.4g}{damped}."
        # With noise, a fixed point of the update need not be the best one: there is no objective to compare them.
        yield Iterate(scale * z, residual=max(change, misfit), note=note, optimal=channel.sharp)
        if channel.sharp and refine == "gauss-newton" and V < RECOVERED * c:
            return (yield from refined(problem, scale * z))
        if channel.sharp and change < STATIONARY and misfit > FITTED:
            return Stop.STALLED
        z, V, Az, changes = z_next, V_next, A @ z_next, [*changes, change / step]
        w = Az - V * score
        variances.append(V)
        if step == 1.0 and oscillates(changes):
            step, variances = DAMPED, []
        elif step < 1.0 and channel.sharp and oscillates(variances):
            z, V, Az, w = started(problem, channel, "random", c, rng)
            score, step, changes = None, 1.0, []


def started(problem: PhaseData, channel: Magnitudes, start: str, c: float, rng: Generator) -> Any:
    """Return z, V, A z and w: the spectral estimate, scaled to be a posterior mean of its predicted overlap."""
    (m, p), z = problem.shape, initial(problem, start, rng)
    q, pull = 0.0, 0.0 * problem.y
    if start != "random":
        limits = spike(channel.field, start, problem.noise, problem.data, m / p)
        q, lam = limits.overlap(m / p), limits.ends(p / m)[1]
        # Below the weak-recovery threshold of the start the estimate is noise.
        pull = phase_start.start_weights(problem, start) / lam if lam else pull
    q = min(max(q, 1.0 / math.sqrt(p)), 1.0 - 1.0 / p)
    z = z * math.sqrt(q * c / float(np.vdot(z, z).real))
    Az = problem.A @ z
    return z, c * (1.0 - q), Az, (1.0 - pull) * Az


def matched(problem: PhaseData, channel: Magnitudes, w: Vector, V: float, c: float) -> Any:
    """Return the scale a, V and a w of largest likelihood, and g and the mean h there."""
    a = 1.0
    for _ in range(3):
        at, size = answers(problem, channel, w, V), float(np.vdot(w, w).real)
        g, h = at.score, float(at.curvature.mean())
        inner = V * float(np.vdot(w, g).real)
        grown = min(max(1.0 + inner / max(size, TINY), 0.5), 2.0)
        # mean |m - a w|^2 + mean v.
        gap = V**2 * float(np.vdot(g, g).real) - 2.0 * (grown - 1.0) * inner + (grown - 1.0) ** 2 * size
        V = min(max(gap / len(w) + V - V**2 * h, LEAST_VARIANCE * c), c)
        a, w = grown * a, grown * w
    at = answers(problem, channel, w, V)
    return a, V, w, at.score, float(at.curvature.mean())


def oscillates(values: list[float]) -> bool:
    """Return whether the last twenty values are hardly smaller than the twenty before them."""
    return len(values) >= 2 * PATIENCE and min(values[-PATIENCE:]) > 0.9 * min(values[-2 * PATIENCE : -PATIENCE])


def unfitted(problem: PhaseData, Az: Vector) -> float:
    """Return || |A z| - y || / ||y||, y the magnitudes."""
    b = problem.magnitude
    return float(np.linalg.norm(np.abs(Az) - b) / np.linalg.norm(b))


def refined(problem: PhaseData, z: Vector) -> Iterates:
    """Yield what Gauss-Newton steps make of z (p,); STALLED if they end at a point that does not fit."""
    steps = descent(problem, z, "balanced")
    next(steps)
    for at in steps:
        misfit = unfitted(problem, problem.A @ at.estimate)
        slope = at.residual or 0.0
        yield Iterate(at.estimate, residual=max(slope, misfit), note=f"Refined by Gauss-Newton. {at.note}")
        if slope < STATIONARY and misfit > FITTED:
            return Stop.STALLED
