"""Alternating projections for phase retrieval: guess the phases, solve least squares, again."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk, zherk

from lrlab.arrays import Vector
from lrlab.models.phase_retrieval import PhaseRetrieval
from lrlab.models.protocols import PhaseData
from lrlab.operators.coded import CodedFourier
from lrlab.parameters import InputError
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options
from lrlab.solvers.phase_retrieval.phase_start import Start, adjoint, initial, phase_entry, phases, relative


def alternating_projections(problem: PhaseData, *, start: Start = "optimal", rng: Generator) -> Iterates:
    r"""Recover x up to a global phase from b_i = |<a_i, x>| (roots of intensities) by alternating projections.

    minimise    F(z) = 1/2 mean (|<a_i, z>| - b_i)^2 = min over phases u of 1/2 mean |<a_i, z> - b_i u_i|^2
    update      u = A z / |A z|,  z <- argmin ||A z - b u||, both with the same measurements: nothing is drawn afresh
    converges   F never grows; geometrically to x from a good start when m >= C p log^3 p, proven for Gaussian A with
                fresh samples in each step and seen without

    A (m, p) of full column rank, m > p. A^* A is factorised once; a step adds (A^* A)^{-1} A^* (b u - A z), which is
    as accurate as QR since it corrects itself. Of masked Fourier transforms A^* A is diagonal, and the method is error
    reduction. Yields the start and then endlessly: objective F, residual ||z_next - z|| / ||z_next||. Dense A take time
    O(m p^2) once and O(m p) a step, memory O(p^2).
    References: Netrapalli, Jain, Sanghavi (2013), "Phase retrieval using alternating minimization", Algorithm 1;
    Fienup (1982), "Phase retrieval algorithms: a comparison", for error reduction.
    """
    A, b = problem.A, problem.magnitude
    fit = least_squares(A)
    z = initial(problem, start, rng)
    while True:
        Az = A @ z
        change = fit(b * phases(Az) - Az)
        after = z + change
        objective = float(np.mean((np.abs(Az) - b) ** 2)) / 2.0
        yield Iterate(z, objective=objective, residual=relative(change, float(np.linalg.norm(after))))
        z = after


def least_squares(A: Vector | CodedFourier) -> Callable[[Vector], Vector]:
    """Return the function u -> (A^* A)^{-1} A^* u (p,)."""
    if isinstance(A, CodedFourier):
        return lambda u: adjoint(A, u) / A.gram
    gram = cho_factor(gram_matrix(A), lower=True, overwrite_a=True)
    return lambda u: cho_solve(gram, adjoint(A, u))


def gram_matrix(A: Vector) -> Vector:
    """Return the lower triangle of A^* A (p, p), above it zeros; without a conjugated copy of A (m, p)."""
    # A.T is in the column order that BLAS wants; A^T conj(A) is the conjugate of what is sought.
    return zherk(1.0, A.T, lower=1).conj() if np.iscomplexobj(A) else dsyrk(1.0, A.T, lower=1)


def refuse_projections(spec: PhaseRetrieval, options: Options) -> None:
    """Refuse least squares that fit any phases whatsoever."""
    if spec.m <= spec.p:
        remedy = f"raise m or lower p to {max(2, spec.m - 1)}: else least squares fits whatever phases are guessed"
        raise InputError("m", f"more than p = {spec.p} for this solver", spec.m, remedy)
    if getattr(spec, "unknown", 0):
        raise InputError("solver", "one that leaves pixels out", "alternating-projections", "take gauss-newton")


def gram_numbers(spec: PhaseRetrieval, options: Options) -> int:
    """Return the numbers in A^* A and in vectors of length m; of masked Fourier transforms in vectors alone."""
    is_matrix = spec.data_bytes >= spec.entry_bytes * spec.m * spec.p
    return 3 * spec.m + (spec.p**2 if is_matrix else 0)


projections_entry = partial(phase_entry, matrix=gram_numbers, refuse=refuse_projections)

ENTRY = projections_entry(
    title="Alternating projections (error reduction)",
    update=r"u = \frac{A z}{|A z|}, \qquad z \leftarrow \arg\min_z \|A z - b \circ u\|",
    summary="Guesses the phases from the current estimate and solves least squares with them, again and again.",
    run=alternating_projections,
)
