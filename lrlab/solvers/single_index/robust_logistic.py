"""Logistic regression with losses that allow for flipped responses."""

from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.losses import LOGISTIC
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterates, number
from lrlab.solvers.single_index.family import index_solver, needs_first_moment
from lrlab.solvers.single_index.margin_newton import minimized


@index_solver(needs_first_moment, oracle="flip", memory=0.1)
def unbiased_logistic(
    problem: SingleIndexData,
    *,
    assumed_flip: Annotated[
        float, number(0, 0.5, "assumed flip probability; 0.5 takes the model's", symbol="p̂ₑ")
    ] = 0.5,
    rng: Generator,
) -> Iterates:
    r"""Unbiased logistic regression.

    Logistic regression whose loss corrects for a known flip probability.

    .. math:: (b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = \tfrac1n \sum_i
        \frac{(1 - q)\, \ell(m_i) - q\, \ell(-m_i)}{1 - 2 q}, \quad m_i = y_i (\langle x_i, b\rangle + c)

    minimize    F(b, c) = mean l~(y_i (<x_i, b> + c)),  l(m) = log(1 + e^{-m}) and, with q the assumed flip probability,
                l~(m) = [(1 - q) l(m) - q l(-m)] / (1 - 2 q) = l(m) - q m / (1 - 2 q), whose mean over flips is l
    start       b = 0, c = 0
    converges   to the minimum of F, which is convex for this l, if there is one. F falls forever along (b, c) if
                (1 - q) mean max(0, -m_i) < q mean max(0, m_i) with the margins m_i there: the run ends as NO_MINIMUM
    cost        a Newton step, halved until F falls

    Yields as `logistic`.

    Reference: Natarajan, Dhillon, Ravikumar & Tewari (2013), "Learning with noisy labels", Lemma 1.
    """
    # At 1/2 itself no loss is unbiased.
    q = problem.link.flip if assumed_flip == 0.5 else assumed_flip
    pull = q / (1.0 - 2.0 * q) if q < 0.5 else 0.0

    def derivatives(m: Array) -> tuple[Array, Array, Array]:
        losses, slope, curvature = LOGISTIC.derivatives(m)
        return losses - pull * m, slope - pull, curvature

    return minimized(derivatives, problem, lambda margin: f"q = {q:g}.")


@index_solver(needs_first_moment, memory=0.1)
def shift_logistic(
    problem: SingleIndexData,
    *,
    penalty: Annotated[float, number(0.5, 1, "penalty on a shift; at 1 all shifts are 0", symbol="λ")] = 0.7,
    rng: Generator,
) -> Iterates:
    r"""Logistic regression with shifts.

    Logistic regression with a sparse shift per response that absorbs flips.

    .. math:: (b, c) \leftarrow (b, c) - t\, (\nabla^2 F)^{-1} \nabla F, \qquad F = \min_\gamma \tfrac1n \sum_i
        \log\bigl(1 + e^{-m_i - \gamma_i}\bigr) + \lambda |\gamma_i|

    minimize    F(b, c, g) = mean [l(m_i + g_i) + penalty |g_i|],  m_i = y_i (<x_i, b> + c), l(m) = log(1 + e^{-m})
    shifts      g_i = max(0, log(1 / penalty - 1) - m_i): as a function of (b, c), F is then l up to that margin, and
                linear with slope -penalty below it, so a response far on the wrong side pulls no more than that
    start       b = 0, c = 0
    converges   to a minimum of F, which is convex, if the responses are not separable; penalty = 1 is logistic
                regression, and below 1/2 b = 0 is a minimum. The paper chooses the penalty by cross-validation
    cost        a Newton step in (b, c), with the shifts at their minimum, halved until F falls

    Yields as `logistic`; the note counts the shifts.

    Reference: Tibshirani & Manning (2013), "Robust logistic regression using shift parameters", section 2.
    """
    # At penalty 1 the margin is -infinity.
    least = -np.inf if penalty >= 1.0 else float(np.log(1.0 / penalty - 1.0))

    def derivatives(m: Array) -> tuple[Array, Array, Array]:
        bent = m < least
        losses, slope, curvature = LOGISTIC.derivatives(np.maximum(m, least))
        rest = penalty * np.where(bent, least - m, 0.0)
        return losses + rest, np.where(bent, -penalty, slope), np.where(bent, 0.0, curvature)

    def shifted(m: Array) -> str:
        return f"{np.count_nonzero(m < least):,} of {len(m):,} responses are shifted."

    return minimized(derivatives, problem, shifted)
