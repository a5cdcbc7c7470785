"""Generalized approximate message passing for phase retrieval: the posterior mean of the signal given magnitudes."""

import math
from itertools import chain, islice, repeat
from types import SimpleNamespace
from typing import Any

import numpy as np

from lrlab.linalg import length
from lrlab.models.protocols import PhaseData
from lrlab.solver_entry import Generator, Iterate, Iterates, Options, Stop
from lrlab.solvers.methods.message_passing import State, iterations, spectral_state, stands_still
from lrlab.solvers.phase_retrieval import phase_start
from lrlab.solvers.phase_retrieval.phase_gauss_newton import descent
from lrlab.solvers.phase_retrieval.phase_start import Start, initial, phase_solver, predict_start
from lrlab.theory.channels import TINY
from lrlab.theory.magnitudes import Magnitudes, channel_of
from lrlab.theory.phase import spike
from lrlab.theory.state_evolution import evolution, overlaps

RECOVERED, PATIENCE = 1e-3, 20
"""1 - overlap that starts the refinement by Gauss-Newton; iterations without smaller changes before damping."""


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
    return expected[: ends[0] + 1] if ends and channel_of(spec).sharp else expected


@phase_solver(name="gamp", oracle="noise", predict=predict, attains=True, predict_iterations=predict_iterations)
def gamp(problem: PhaseData, *, start: Start = "optimal", rng: Generator) -> Iterates:
    r"""Approximate message passing (GAMP).

    The posterior mean; knows the noise, and recovers from the fewest measurements of all known polynomial-time methods.

    .. math:: g_i = \frac{\mathbb E[w_i \mid y_i] - w_i}{V}, \quad z \leftarrow \frac{c/p}{c/p + S} \bigl(z + S
        A^* g\bigr), \quad w \leftarrow A z - V g

    estimate    E[x | A, y] for x with entries N(0, c/p), complex ones circular, c the mean intensity. Since A looks the
                same in every direction, only ||x|| matters, and images are recovered as often as random signals
    start       z = sqrt(q) v, v the spectral estimate and q its predicted overlap, V = c (1 - q),
                w_i = (1 - t T(y_i)) <a_i, z>, the projection on an eigenvector without measurement i
    update      S = V^2 / sum_i (V - v_i),  z <- (z + S A^* g) (c/p) / (c/p + S),  V <- p S (c/p) / (c/p + S),  with
                the posterior means and variances v_i of `theory.magnitudes`
    damping     if changes have not fallen for twenty iterations, g, z and log V go 0.8 of the way. If V does not fall
                for twenty damped iterations, either, and data are exact, it starts again at random
    converges   for independent Gaussian A asymptotically to the fixed point of `theory.state_evolution`, which predicts
                each iteration, too: exact data are recovered above m/p = 1.13 real, 2.03 complex. On other designs the
                method may diverge, though images of 64 x 64 pixels are recovered from 4 and 8 coded patterns
    cost        two passes over A (m, p), entries of variance 1

    Yields endlessly z, scaled to the posterior mean of ||x||^2; residual the larger of ||z_next - z|| and |V_next - V|,
    relative to ||x||. On exact data || |A z| - y || / ||y|| is part of the residual, so that nothing converges that
    does not fit; a fixed point that does not is STALLED. With noise a fixed point is SETTLED. Once 99.9% of exact data
    are recovered, Gauss-Newton takes over, since V would fall by p/m (2p/m) per iteration only. Memory O(m).

    References: Rangan (2011), "Generalized approximate message passing for estimation with random linear mixing",
    Algorithm 1 with scalar variances; Maillard, Loureiro, Krzakala, Zdeborova (2020), "Phase retrieval in high
    dimensions: statistical and computational phase transitions".
    """
    A, y, p, field = problem.A, problem.magnitude, problem.shape[1], "complex" if np.iscomplexobj(problem.A) else "real"
    c = float(problem.intensity.mean())
    if c <= 0:
        yield Iterate(np.zeros(p, A.dtype), residual=0.0, note="All responses are 0.")
        return Stop.FINISHED
    # Less the intensity of noise that is added before squaring.
    c = max(c - problem.noise**2, 0.01 * c) if problem.data == "magnitude" else c
    scale = math.sqrt(c) if problem.data == "magnitude" else c
    channel = Magnitudes(field, problem.noise / scale, problem.data)
    rescaled = SimpleNamespace(X=A, y=problem.y / scale, link=channel, checkpoint=problem.checkpoint)
    for begin in chain([start], repeat("random")):
        damped = list[float]()
        first = first_state(problem, channel, begin, rng)
        for at in iterations(rescaled, first, scaled=False, patience=PATIENCE, least_step=0.8):
            size = math.sqrt(c * (1.0 + at.V / max(length(at.b) ** 2, TINY)))
            misfit = length(np.abs(size * at.Xb) - y) / length(y) if channel.sharp else 0.0
            steps = "" if at.step == 1.0 else f"; steps damped to {at.step:.2g}"
            note = f"The method's estimate of the overlap {1.0 - at.V:.4g}{steps}."
            # With noise, a fixed point of the update need not be the best one: there is no objective to compare them.
            yield Iterate(size * at.b, residual=max(at.change, misfit), note=note, optimal=channel.sharp)
            if channel.sharp and at.V < RECOVERED:
                for refined in islice(descent(problem, size * at.b), 1, None):
                    # F, over the mean intensity, is 0 if z fits.
                    slope, misfit = refined.residual or 0.0, math.sqrt((refined.objective or 0.0) / c)
                    yield Iterate(refined.estimate, residual=max(slope, misfit), note=f"Refined. {refined.note}")
                    if misfit > 1e-6 and slope < 1e-8:
                        return Stop.STALLED
            if misfit > 1e-6 and at.change < 1e-8:
                return Stop.STALLED
            damped += [at.V] if at.step < 1.0 else []
            if channel.sharp and stands_still(damped, PATIENCE):
                break


def first_state(problem: PhaseData, channel: Magnitudes, start: str, rng: Generator) -> State:
    """Return the state of the spectral estimate with its predicted overlap, of at least a guess."""
    (m, p), overlap, pull = problem.shape, 0.0, 0.0 * problem.y
    if start != "random":
        limits = spike(channel.field, start, problem.noise, problem.data, m / p)
        overlap, eigenvalue = limits.overlap(m / p), limits.ends(p / m)[1]
        # Below the weak-recovery threshold of the start the estimate is noise.
        pull = phase_start.start_weights(problem, start) / eigenvalue if eigenvalue else pull
    overlap = min(max(overlap, 1.0 / math.sqrt(p)), 1.0 - 1.0 / p)
    return spectral_state(problem.A, initial(problem, start, rng), overlap, pull)
