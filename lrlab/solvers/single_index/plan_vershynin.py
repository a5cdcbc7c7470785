"""Convex programs of Plan and Vershynin: consistent signs of least 1-norm, and the most correlated sparse vector."""

from typing import Any

import numpy as np

from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.solver_entry import Generator, InputError, Iterate, Iterates, Options, Stop
from lrlab.solvers.single_index.family import SAME_ANSWERS, SupportSize, index_solver, needs_first_moment, of_one_kind

INFEASIBLE = (
    "No b obeys all signs: they are noisy. The estimate is the mean of y x; take a solver that allows for noise."
)


def needs_signs(spec: Any, options: Options) -> None:
    """Refuse responses that no b reproduces without exception."""
    link = spec.link_function
    if spec.model != "one-bit-sensing" or link.noise or link.flip:
        got = f"noise {link.noise:g} and flip {link.flip:g} on {spec.model}"
        need = "0 on one-bit-sensing: the program needs a signal that obeys all signs"
        raise InputError("noise and flip", need, got, "take plan-vershynin-ball")


@index_solver(needs_first_moment, needs_signs, one_kind=True, memory=17.0)
def plan_vershynin_lp(problem: SingleIndexData, *, rng: Generator) -> Iterates:
    r"""Linear program of Plan and Vershynin.

    The vector of least 1-norm that obeys all signs; for noiseless one-bit sensing, without the sparsity.

    .. math:: \hat b = \arg\min \|b\|_1 \quad\text{over}\quad y_i \langle x_i, b\rangle \ge 0,\;
        \tfrac1n \sum_i y_i \langle x_i, b\rangle = 1

    minimize    ||b||_1  over y_i <x_i, b> >= 0 for all i, mean y_i <x_i, b> = 1
    solution    by HiGHS, with b = u - v and u, v >= 0; scaled to length 1
    converges   the error is of order (s log(2 p / s) / n)^(1/5) times logarithms (Theorem 1.1). With noise or flips
                no b obeys all signs: the mean of y x is returned with a note
    cost        a linear program with two copies of X (n, p)

    Yields once: objective ||b||_1 before scaling.

    Reference: Plan & Vershynin (2013), "One-bit compressed sensing by linear programming", program (1.3).
    """
    # Imported here: every start of the package would wait for it.
    from scipy.optimize import linprog

    signed = problem.y[:, None] * problem.X
    n, p = signed.shape
    both = np.hstack([signed, -signed])
    found = linprog(np.ones(2 * p), A_ub=-both, b_ub=np.zeros(n), A_eq=both.mean(axis=0)[None], b_eq=[1.0])
    equal = SAME_ANSWERS if of_one_kind(problem) else ""
    if found.x is None:
        yield Iterate(unit(signed.mean(axis=0)), note=INFEASIBLE + equal)
        return Stop.STALLED
    b = found.x[:p] - found.x[p:]
    yield Iterate(unit(b), objective=float(found.fun), note=f"{np.count_nonzero(b)} of {p} entries.{equal}")
    return Stop.CONVERGED


@index_solver(needs_first_moment, one_kind=True, oracle="sparsity", memory=0.1)
def plan_vershynin_ball(problem: SingleIndexData, *, kept: SupportSize = 0, rng: Generator) -> Iterates:
    r"""Plan and Vershynin's 1-norm ball.

    The mean of y x, soft-thresholded to the 1-norm of an s-sparse vector.

    .. math:: \hat b = \arg\max \langle b, \tfrac1n \sum_i y_i x_i\rangle \quad\text{over}\quad
        \|b\|_2 \le 1,\; \|b\|_1 \le \sqrt s

    maximize    <b, mean y_i x_i>  over ||b||_2 <= 1, ||b||_1 <= sqrt(s)
    solution    the soft threshold of mean y_i x_i, scaled to length 1, with the level that gives ||b||_1 = sqrt(s)
    converges   the squared error is of order sqrt(s log(2 p / s) / n) / mu_1, whatever the link (Theorem 1.1)
    cost        one pass over X (n, p)

    Yields once: objective -<b, mean y_i x_i>.

    Reference: Plan & Vershynin (2013), "Robust 1-bit compressed sensing and sparse logistic regression: a convex
    programming approach", program (1.3).
    """
    from scipy.optimize import brentq

    mean = problem.y @ problem.X / len(problem.y)
    size, radius = np.abs(mean), float(np.sqrt(kept or problem.sparsity))

    def excess(level: float) -> float:
        rest = np.maximum(size - level, 0.0)
        return float(rest.sum() - radius * np.linalg.norm(rest))

    # A threshold just below the largest entry keeps one entry, whose 1-norm is 1.
    top = np.partition(size, -2)[-2]
    level = brentq(excess, 0.0, top) if excess(0.0) > 0.0 > excess(top) else top if excess(0.0) > 0.0 else 0.0
    b = unit(np.sign(mean) * np.maximum(size - level, 0.0))
    equal = SAME_ANSWERS if of_one_kind(problem) else ""
    yield Iterate(b, objective=-float(b @ mean), note=f"{np.count_nonzero(b)} of {len(b)} entries.{equal}")
