"""The Isotron: a monotone link and a direction are learned in turn."""

import numpy as np

from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, Iterate, Iterates, Stop
from lrlab.solvers.single_index.family import index_solver, needs_first_moment


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
