"""Amplitude flows: gradient descent on magnitudes, with measurements whose phase is doubtful left out or discounted."""

from collections.abc import Callable
from typing import Annotated

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Array, Vector
from lrlab.models.protocols import PhaseData
from lrlab.parameters import Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_entry, phases, steepness
from lrlab.solvers.phase_retrieval.wirtinger import direction

Step = Annotated[
    str,
    Parameter(
        meaning="steps that suit the weights, along conjugate directions or the gradient; or of fixed length (size)",
        choices=("conjugate", "exact", "fixed"),
    ),
]
Size = Annotated[float, Parameter(meaning="length of fixed steps; 0 takes the paper's", symbol="μ", low=0, high=100)]

TINY = np.finfo(float).tiny


def truncated_amplitude_flow(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    step: Step = "conjugate",
    size: Size = 0.0,
    margin: Annotated[
        float,
        Parameter(meaning="a row counts if |⟨a, z⟩| ≥ b / (1 + margin)", symbol="γ", low=0.01, high=1000, scale="log"),
    ] = 0.7,
    rng: Generator,
) -> Iterates:
    r"""Recover x up to a global phase from b_i = |<a_i, x>| (roots of intensities) by truncated amplitude flow.

    minimise    F(z) = 1/2 mean (|<a_i, z>| - b_i)^2
    update      z <- z - t g,  g = (1/m) sum w_i (<a_i, z> - b_i <a_i, z> / |<a_i, z>|) a_i,
                w_i = 1 where |<a_i, z>| >= b_i / (1 + margin), else 0
    step        fixed: t = 0.6 (real) or 0.9 (complex). exact, conjugate: see `flow`
    converges   geometrically to x with m >= C p (Theorem 1)

    A (m, p). Yields the start and then endlessly: objective F with all rows, residual ||g|| relative to the part of g
    that stems from b, along z. Two passes over A a step, memory O(m).
    Reference: Wang, Giannakis, Eldar (2018), "Solving systems of random quadratic equations via truncated amplitude
    flow", Algorithm 1.
    """
    weights = lambda size, b: ((1.0 + margin) * size >= b).astype(float)  # noqa: E731
    fixed = size or (0.9 if np.iscomplexobj(problem.A) else 0.6)
    yield from flow(problem, initial(problem, start, rng), weights, step, fixed)


def reweighted_amplitude_flow(
    problem: PhaseData,
    *,
    start: Start = "optimal",
    step: Step = "conjugate",
    size: Size = 0.0,
    discount: Annotated[
        float, Parameter(meaning="weight |⟨a, z⟩| / (|⟨a, z⟩| + discount b) of a row", symbol="β", low=0, high=1000)
    ] = 10.0,
    rng: Generator,
) -> Iterates:
    r"""Recover x up to a global phase from b_i = |<a_i, x>| (roots of intensities) by reweighted amplitude flow.

    minimise    F(z) = 1/2 mean (|<a_i, z>| - b_i)^2
    update      z <- z - t g,  g = (1/m) sum w_i (<a_i, z> - b_i <a_i, z> / |<a_i, z>|) a_i,
                w_i = |<a_i, z>| / (|<a_i, z>| + discount b_i), small where the phase of <a_i, z> is doubtful
    step        fixed: t = 2 (real) or 5 (complex). exact, conjugate: see `flow`
    converges   geometrically to x with m >= C p (Theorem 1); without weights (discount 0) F never grows

    A (m, p). Yields as `truncated_amplitude_flow`, F without weights. Two passes over A a step, memory O(m).
    Reference: Wang, Giannakis, Saad, Chen (2018), "Phase retrieval via reweighted amplitude flow", Algorithm 1.
    """
    weights = lambda size, b: size / np.maximum(size + discount * b, TINY)  # noqa: E731
    fixed = size or (5.0 if np.iscomplexobj(problem.A) else 2.0)
    yield from flow(problem, initial(problem, start, rng), weights, step, fixed)


def flow(problem: PhaseData, z: Vector, weights: Callable[[Array, Array], Array], step: str, fixed: float) -> Iterates:
    """Yield z (p,) and what becomes of it by steps against the weighted gradient.

    `exact` goes to the minimum along -g of sum w_i |<a_i, z> - b_i u_i|^2, the phases u_i and weights held: a bound
    that touches sum w_i (|<a_i, z>| - b_i)^2, so that no step raises the latter. `conjugate` goes along Polak &
    Ribiere's directions with the curvature of the latter itself, and never farther than where the bound is back at its
    old value.
    """
    A, b = problem.A, problem.magnitude
    m, Az, d, before = len(b), A @ z, np.zeros_like(z), np.zeros_like(z)
    while True:
        distance, u = np.abs(Az), phases(Az)
        w = weights(distance, b)
        g = adjoint(A, w * (Az - b * u)) / m
        residual = steepness(g, z, float(np.mean(w * b * distance)))
        note = f"Mean weight of a row {w.mean():.2f}."
        yield Iterate(z, objective=float(np.mean((distance - b) ** 2)) / 2.0, residual=residual, note=note)
        d, before = direction(g, before, d, conjugate=step == "conjugate"), g
        Ad = A @ d
        t = fixed if step == "fixed" else suited_step(u, w, Ad, -m * float(np.vdot(g, d).real), step == "conjugate")
        z, Az = z + t * d, Az + t * Ad


def suited_step(u: Vector, w: Array, Ad: Vector, slope: float, curved: bool) -> float:
    """Return the step along d that suits the weights w: see `flow`. slope: minus the derivative of half the sum."""
    bound = float(w @ np.abs(Ad) ** 2)
    if bound == 0:
        return 0.0
    if not curved:
        return slope / bound
    curvature = float(w @ (u.conj() * Ad).real ** 2)
    return min(slope / max(curvature, TINY), 2.0 * slope / bound)


ENTRIES = (
    phase_entry(
        title="Truncated amplitude flow",
        update=r"z \leftarrow z - \frac{t}{m} \sum_{i:\, |\langle a_i, z\rangle| \ge b_i / (1 + \gamma)}"
        r" \Bigl(\langle a_i, z\rangle - b_i \frac{\langle a_i, z\rangle}{|\langle a_i, z\rangle|}\Bigr)\, a_i",
        summary="Descends on magnitudes, leaving out measurements whose phase is doubtful.",
        run=truncated_amplitude_flow,
    ),
    phase_entry(
        title="Reweighted amplitude flow",
        update=r"z \leftarrow z - \tfrac tm \sum_i w_i \Bigl(1 - \frac{b_i}{|\langle a_i, z\rangle|}\Bigr)"
        r" \langle a_i, z\rangle\, a_i",
        summary="Descends on magnitudes, with little weight on measurements whose phase is doubtful.",
        run=reweighted_amplitude_flow,
    ),
)
