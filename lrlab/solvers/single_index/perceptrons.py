"""Steps along X^T (y - u(X b)), as a perceptron's: BIHT, with the sign as u, and the Isotron, which learns u."""

from typing import Annotated

import numpy as np

from lrlab.linalg import hard_threshold, unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Parameter, Stop, number
from lrlab.solvers.single_index.family import SAME_ANSWERS, SupportSize, index_solver, needs_first_moment


@index_solver(needs_first_moment, one_kind=True, oracle="sparsity", memory=0.1)
def biht(
    problem: SingleIndexData,
    *,
    kept: SupportSize = 0,
    step: Annotated[float, number(0.001, 100, "step size of the subgradient step", symbol="τ", scale="log")] = 1.0,
    normalize: Annotated[bool, Parameter(meaning="scale each iterate to length 1")] = False,
    rng: Generator,
) -> Iterates:
    r"""Binary iterative hard thresholding (BIHT).

    Makes the signs consistent step by step, keeping the largest entries; normalized it is steady under noise.

    .. math:: b \leftarrow T\Bigl(b + \frac{\eta}{2n} X^\top \bigl(y - \operatorname{sign}(X b)\bigr)\Bigr),
        \qquad T \text{ keeps the } s \text{ largest entries}

    minimize    J(b) = mean max(0, -y_i <x_i, b>)  over ||b||_0 <= s, by steps along a subgradient
    start       the s largest entries of mean y_i x_i, scaled to length 1
    converges   without noise usually to consistent signs, a fixed point; with noise b keeps moving around the solution,
                the more the smaller ||b|| has become: J is 0 at b = 0, and only initialization and steps keep b away
                from it. Normalized, ||b|| = 1, it comes without noise to within about s log(p / s) / n of the ground
                truth for step = sqrt(2 pi) = 2.5: a step from b then lands on the ground truth on average, as E[X^T (y
                - sign(X b)) / n] = sqrt(2 / pi) (b_true - b) (Matsumoto & Mazumdar, 2022, "Binary iterative hard
                thresholding converges with optimal number of measurements for 1-bit compressed sensing")
    cost        two passes over X (n, p)

    Yields endlessly: objective J(b), residual ||b_next - b|| / ||b||, 0 when all signs are consistent.

    Reference: Jacques, Laska, Boufounos, Baraniuk (2013), "Robust 1-bit compressive sensing via binary stable
    embeddings of sparse vectors", section IV, BIHT and normalized BIHT.
    """
    X, y, s = problem.X, problem.y, kept or problem.sparsity
    n, p = X.shape
    b = unit(hard_threshold(y @ X / n, s))
    equal = SAME_ANSWERS if abs(y.sum()) == n else ""
    while True:
        margin = y * (X @ b)
        # y - sign(<x, b>) is 2 y for a wrong sign; sign(0) = 0 counts as half wrong.
        wrong = 1.0 - np.sign(margin)
        b_next = hard_threshold(b + step / (2.0 * n) * ((y * wrong) @ X), s)
        if normalize:
            # Scaling b itself would move it by rounding.
            b_next = unit(b_next) if wrong.any() else b
        moved = float(np.linalg.norm(b_next - b)) / (float(np.linalg.norm(b)) or 1.0)
        note = f"{np.count_nonzero(margin <= 0)} of {n} signs are not consistent; {min(s, p)} of {p} entries.{equal}"
        yield Iterate(b, objective=float(np.maximum(0.0, -margin).mean()), residual=moved, note=note)
        b = b_next


@index_solver(needs_first_moment, memory=0.1)
def isotron(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Isotron.

    Learns a monotone link and the direction in turn, by isotonic regression.

    .. math:: u \leftarrow \text{isotonic regression of } y \text{ on } X b, \qquad
        b \leftarrow b + \tfrac1n X^\top \bigl(y - u(X b)\bigr)

    model       E[y | x] = u(<x, b>), u unknown and monotone, values in -1..1
    start       b = mean y_i x_i
    update      u <- the isotonic regression of y on <x, b> (pool adjacent violators),
                b <- b + mean (y_i - u(<x_i, b>)) x_i, scaled to the length of the initialization
    converges   to residuals y - u without a direction; the objective need not fall at each step. The length of b has no
                meaning, as u adapts to it. The paper leaves it free: on the same samples in each step it shrinks,
                because u fits their noise, and the steps grow too long. Kalai & Sastry bound the squared error of u(<x,
                b>); SLISOTRON (Kakade et al.) adds a Lipschitz bound on u, which sign links do not have
    cost        two passes over X (n, p), and a sort of n numbers

    Ends when a step is a tenth of sqrt(p / n) long: objective mean (y - u)^2, residual ||b_next - b|| / ||b||.

    References: Kalai & Sastry (2009), "The Isotron algorithm: high-dimensional isotonic regression", section 2;
    Kakade, Kalai, Kanade & Shamir (2011), "Efficient learning of generalized linear and single index models with
    isotonic regression".
    """
    # Imported here: every start of the package would wait for it.
    from scipy.optimize import isotonic_regression

    X, y = problem.X, problem.y
    n, p = X.shape
    b = y @ X / n
    size = float(np.linalg.norm(b)) or 1.0
    while True:
        order = np.argsort(X @ b, kind="stable")
        u = np.empty(n)
        u[order] = isotonic_regression(y[order]).x
        following = size * unit(b + (y - u) @ X / n)
        moved = float(np.linalg.norm(following - b)) / size
        yield Iterate(b, objective=float(np.square(y - u).mean()), residual=moved, optimal=False)
        # The statistical error of a direction is about sqrt(p / n).
        if moved <= 0.1 * float(np.sqrt(p / n)):
            return Stop.FINISHED
        b = following
