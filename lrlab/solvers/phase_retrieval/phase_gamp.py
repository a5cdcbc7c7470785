"""Generalised approximate message passing for phase retrieval: the posterior mean of the signal given magnitudes."""

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Vector
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.protocols import PhaseData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates, Stop
from lrlab.solver_entry import Options
from lrlab.solvers.phase_retrieval import phase_start
from lrlab.solvers.phase_retrieval.phase_gauss_newton import descent
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_entry
from lrlab.theory.channels import TINY
from lrlab.theory.magnitudes import Magnitudes, answer
from lrlab.theory.phase import spike
from lrlab.theory.phase_limits import channel_of, overlaps, predicted_iterations

Refine = Annotated[
    str,
    Parameter(
        meaning="what ends a run on exact answers once 99.9% are recovered: Gauss-Newton steps, or more of the same",
        choices=("gauss-newton", "none"),
    ),
]

PATIENCE, DAMPED = 20, 0.8
RECOVERED = 1e-3
STATIONARY, FITTED = 1e-8, 1e-6
ROWS = 2**14
MATCHINGS = 3
# Variances cannot fall to 0: the score of an exact answer divides by them.
LEAST_VARIANCE = 1e-28


class State(NamedTuple):
    """Posterior means z (p,), the variance V of projections, and the means w (m,) of the projections A z.

    score: g (m,) of the update that led here, None at the start. Az: A z (m,).
    """

    z: Vector
    V: float
    w: Vector
    score: Vector | None
    Az: Vector


def gamp(problem: PhaseData, *, start: Start = "optimal", refine: Refine = "gauss-newton", rng: Generator) -> Iterates:
    r"""Recover x up to a global phase by its posterior mean: the fewest measurements of all fast methods known.

    estimate    E[x | A, y] for x with entries N(0, c/p), complex ones circular, c the mean intensity. Since A looks the
                same in every direction, only ||x|| matters, and pictures are recovered as often as random signals
    matching    w <- a w, V <- mean (v_i + |m_i - w_i|^2),  a = sum Re(m_i conj(w_i)) / sum |w_i|^2, three times: the
                scale and the variance at which the answers are most likely, by expectation maximisation, with the
                posterior means and variances m_i, v_i of `theory.magnitudes`. In the limit of large p nothing changes;
                at p of some hundreds, iterates diverge without it
    update      g_i = (m_i - w_i) / V,  h_i = (V - v_i) / V^2,  S = 1 / sum_i h_i,  R = z + S A^* g
                z <- R (c/p) / (c/p + S),  V <- p S (c/p) / (c/p + S),  w <- A z - V g
    start       z = sqrt(q) v, v the spectral estimate and q its predicted overlap, V = c (1 - q),
                w_i = (1 - t T(y_i)) <a_i, z>, the projection on an eigenvector that has not seen measurement i (t and T
                of `theory.phase`; compare Mondelli & Venkataramanan 2021, "Approximate message passing with spectral
                initialization")
    damping     none, until the change has not fallen for twenty iterations: then g and z go 0.8 of the way. Where V
                does not fall for twenty damped iterations, either, and answers are exact, it starts again at random:
                at m/p = 1.3, real, p = 500, 29 of 30 seeds are recovered, 28 without
    converges   for independent Gaussian A and large p to the fixed point of `theory.phase_limits`, which also predicts
                each iteration: exact answers are recovered above m/p = 1.13 real and 2.03 complex. Other designs, such
                as masked Fourier transforms, have another theory, and the method may diverge on them, though images
                of 64 x 64 pixels are recovered from 4 and 8 coded patterns

    A (m, p), entries of variance 1. Knows the standard deviation of the noise. Yields endlessly z, scaled to the
    posterior mean of ||x||^2; residual the larger of ||z_next - z|| and |V_next - V|, both relative to ||x||. Where
    answers are exact, the misfit || |A z| - y || / ||y|| is part of the residual, so that nothing converges that does
    not fit; a fixed point that does not is STALLED. With noise a fixed point is SETTLED. V falls by p/m (2p/m) an
    iteration at the end, which Gauss-Newton steps cut short (`refine`). Two passes over A an iteration, memory O(m).
    References: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances; Maillard, Loureiro, Krzakala, Zdeborova (2020), "Phase retrieval in high
    dimensions: statistical and computational phase transitions".
    """
    channel = Magnitudes("complex" if np.iscomplexobj(problem.A) else "real", problem.noise, problem.data)
    c = signal_size(problem, channel)
    if c <= 0:
        yield Iterate(np.zeros(problem.shape[1], problem.A.dtype), residual=0.0, note="All answers are 0.")
        return Stop.FINISHED
    now, step, changes, variances = started(problem, channel, start, c, rng), 1.0, list[float](), list[float]()
    while True:
        following = updated(problem, channel, now, c, step)
        change = max(float(np.linalg.norm(following.z - now.z)) / math.sqrt(c), abs(following.V - now.V) / c)
        scale = math.sqrt(1.0 + now.V / max(float(np.vdot(now.z, now.z).real), TINY))
        misfit = unfitted(problem, scale * now.Az) if channel.sharp else 0.0
        damped = "" if step == 1.0 else f"; steps damped to {step:.2g}"
        note = f"Own estimate of the overlap {1.0 - now.V / c:.4g}{damped}."
        # With noise a fixed point is that of the update alone: no objective tells that another is not better.
        yield Iterate(scale * now.z, residual=max(change, misfit), note=note, optimal=channel.sharp)
        if channel.sharp and refine == "gauss-newton" and now.V < RECOVERED * c:
            return (yield from refined(problem, scale * now.z))
        if channel.sharp and change < STATIONARY and misfit > FITTED:
            return Stop.STALLED
        now, changes = following, [*changes, change / step]
        variances.append(now.V)
        if step == 1.0 and oscillates(changes):
            step, variances = DAMPED, []
        elif step < 1.0 and channel.sharp and oscillates(variances):
            now, step, changes = started(problem, channel, "random", c, rng), 1.0, []


def signal_size(problem: PhaseData, channel: Magnitudes) -> float:
    """Return an estimate of ||x||^2: the mean intensity, less that of noise where it is added before squaring."""
    mean = float(problem.intensity.mean())
    return max(mean - problem.noise**2, 0.01 * mean) if channel.power == 1 else mean


def oscillates(values: list[float]) -> bool:
    """Return whether the last twenty values are hardly smaller than the twenty before them."""
    return len(values) >= 2 * PATIENCE and min(values[-PATIENCE:]) > 0.9 * min(values[-2 * PATIENCE : -PATIENCE])


def started(problem: PhaseData, channel: Magnitudes, start: str, c: float, rng: Generator) -> State:
    """Return the spectral estimate, scaled to be a posterior mean of the overlap that is predicted for it."""
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
    return State(z, c * (1.0 - q), (1.0 - pull) * Az, None, Az)


def unfitted(problem: PhaseData, Az: Vector) -> float:
    """Return || |A z| - y || / ||y||, y the magnitudes."""
    b = problem.magnitude
    return float(np.linalg.norm(np.abs(Az) - b) / np.linalg.norm(b))


def refined(problem: PhaseData, z: Vector) -> Iterates:
    """Yield what Gauss-Newton steps make of z (p,); STALLED where they end at a point that does not fit."""
    steps = descent(problem, z, "balanced")
    next(steps)
    for at in steps:
        misfit = unfitted(problem, problem.A @ at.estimate)
        slope = at.residual or 0.0
        yield Iterate(at.estimate, residual=max(slope, misfit), note=f"Refined by Gauss-Newton. {at.note}")
        if slope < STATIONARY and misfit > FITTED:
            return Stop.STALLED


def predict(spec: PhaseRetrieval, options: Options) -> dict[str, float]:
    """Return the overlap of the start and that of the fixed point of state evolution."""
    start = phase_start.predict_start(spec, options)
    return {**start, "limit_overlap": overlaps(channel_of(spec), spec.m / spec.p).fast} if start else {}


def predict_iterations(spec: PhaseRetrieval, options: Options, iterations: int) -> list[float]:
    """Return what state evolution predicts for the first iterates, up to where Gauss-Newton takes over.

    Nothing where the start has no overlap: what chance gives it has no limit.
    """
    start = phase_start.predict_start(spec, options).get("predicted_start_overlap", 0.0)
    if start == 0.0:
        return []
    expected = predicted_iterations(channel_of(spec), spec.m / spec.p, start, iterations)
    ends = [k for k, q in enumerate(expected) if 1.0 - q < RECOVERED]
    if ends and options["refine"] == "gauss-newton" and channel_of(spec).sharp:
        expected = expected[: ends[0] + 1]
    return expected


def updated(problem: PhaseData, channel: Magnitudes, now: State, c: float, step: float) -> State:
    """Return the state after matching and one update, of which g and z move by the share `step`."""
    m, p = problem.shape
    z, V, w, g, h = matched(problem, channel, now, c)
    score = g if now.score is None else step * g + (1.0 - step) * now.score
    # The mean h is that of |g|^2 under the model, which cannot be negative.
    precision = h if h > 0 else float(np.vdot(g, g).real) / m
    S = 1.0 / max(m * precision, TINY)
    shrink = c / (c + p * S)
    z = step * shrink * (z + S * adjoint(problem.A, score)) + (1.0 - step) * z
    V = max(p * S * shrink, LEAST_VARIANCE * c)
    Az = problem.A @ z
    return State(z, V, Az - V * score, score, Az)


def matched(
    problem: PhaseData, channel: Magnitudes, now: State, c: float
) -> tuple[Vector, float, Vector, Vector, float]:
    """Return z, V, w at the scale and variance at which the answers are most likely, and g and the mean h there."""
    z, V, w = now.z, now.V, now.w
    for _ in range(MATCHINGS):
        (g, h), size = answers(problem, channel, w, V), float(np.vdot(w, w).real)
        inner = V * float(np.vdot(w, g).real)
        a = min(max(1.0 + inner / max(size, TINY), 0.5), 2.0)
        # mean |m - a w|^2 + mean v.
        gap = V**2 * float(np.vdot(g, g).real) - 2.0 * (a - 1.0) * inner + (a - 1.0) ** 2 * size
        V = min(max(gap / len(w) + V - V**2 * h, LEAST_VARIANCE * c), c)
        z, w = a * z, a * w
    return z, V, w, *answers(problem, channel, w, V)


def answers(problem: PhaseData, channel: Magnitudes, w: Vector, V: float) -> tuple[Vector, float]:
    """Return g (m,) and the mean h of the answers, by blocks of rows: noise takes some hundred numbers a row."""
    score, total = np.empty_like(w), 0.0
    for start in range(0, len(w), ROWS):
        problem.checkpoint(start / len(w))
        rows = slice(start, start + ROWS)
        at = answer(channel, w[rows], V, problem.y[rows])
        score[rows], total = at.score, total + float(at.curvature.sum())
    return score, total / len(w)


ENTRY = phase_entry(
    name="gamp",
    title="Approximate message passing (GAMP)",
    update=r"g_i = \frac{\mathbb E[w_i \mid y_i] - w_i}{V}, \quad z \leftarrow \frac{c/p}{c/p + S} \bigl(z + S"
    r" A^* g\bigr), \quad w \leftarrow A z - V g",
    summary="The posterior mean; knows the noise, and recovers from the fewest measurements of all fast methods known.",
    run=gamp,
    oracle=("noise",),
    predict=predict,
    attains=True,
    predict_iterations=predict_iterations,
)
