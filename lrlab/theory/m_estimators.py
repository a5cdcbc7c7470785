r"""Logistic and probit regression in the proportional regime: existence of a maximum, and overlap for any link.

On x ~ N(0, I_p) and n / p = delta, with an intercept, the likelihood has a maximum for large p if

    p / n < min over a, t of  E[max(0, y (a + t z) - g)^2],    z = <x, b>, g ~ N(0, 1),

and none if p / n is larger: some direction and intercept separate the responses.

The fitted index of a new x is c + tau v, v ~ N(0, 1) with correlation rho to z = <x, b>; for a row of the data it is
u = prox(w), w = c + tau v: the minimizer of loss(y u) + (u - w)^2 / (2 l). The four numbers solve, with y drawn by the
true link,

    E[(u - w) z] = 0,    delta E[(u - w)^2] = tau^2 (1 - rho^2),
    E[u - w] = 0,        E[1 / (1 + l loss''(u))] = 1 - 1 / delta

and rho^2 is the limit of the overlap. The loss need not match the link: only P(y | v) and E[z | y, v] enter, which
`theory.channels` has for every link.

References: Candes & Sur (2020), "The phase transition for the existence of the maximum likelihood estimate in
high-dimensional logistic regression", Theorem 2.1, whose proof needs nothing of the link; Sur & Candes (2019), "A
modern maximum-likelihood theory for high-dimensional logistic regression", eq. 5; Salehi, Abbasi & Hassibi (2019), "The
impact of regularization on high-dimensional logistic regression", Theorem 1.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from lrlab.arrays import Array
from lrlab.losses import Loss
from lrlab.theory import channels
from lrlab.theory.links import Link, normal_density
from lrlab.theory.smoothing import index_nodes

LOG_RATIOS = np.array([0.01, 0.03, 0.07, 0.14, 0.3, 0.55, 0.9, 1.4, 2.0, 2.8, 3.8, 5.0])
"""Logarithms of n/p over the existence threshold that the nodes of the curve have."""


@lru_cache(maxsize=1024)
def existence_ratio(link: Link) -> float:
    """Return the n/p above which the likelihood has a maximum; inf above 300."""

    def beyond(h: Array) -> tuple[Array, Array]:
        cdf, density = ndtr(h), normal_density(h)
        return (h * h + 1.0) * cdf + h * density, 2.0 * (h * cdf + density)

    largest = float(_best_line(link, beyond, 1e-9).fun)
    return 1.0 / largest if largest > 1.0 / 300.0 else math.inf


def _best_line(link: Link, loss: Callable[[Array], tuple[Array, ...]], tol: float) -> Any:
    """Return scipy's minimum over (a, t) of E loss(y (a + t z)); loss(h): its values and slopes, and maybe more."""
    from scipy.optimize import minimize

    z, weights = index_nodes(link)
    f = link(z)

    def mean(at: Array) -> tuple[float, Array]:
        value, slope = 0.0, np.zeros(2)
        for y in (1.0, -1.0):
            chance, (losses, slopes, *_) = weights * (1.0 + y * f) / 2.0, loss(y * (at[0] + at[1] * z))
            value += float(chance @ losses)
            slope += [y * float(chance @ slopes), y * float(chance @ (slopes * z))]
        return value, slope

    return minimize(mean, np.zeros(2), jac=True, method="BFGS", tol=tol)


class Fitted(NamedTuple):
    """The limits: rho, tau, the intercept c, and the step l of the proximal map."""

    rho: float
    tau: float
    intercept: float
    step: float


def overlap(link: Link, ratio: float, likelihood: Loss) -> float | None:
    """Return the limit of <b, b-hat>^2 at n/p = `ratio`; None without a maximum or a solution."""
    least = existence_ratio(link)
    if not least < ratio < math.inf:
        return None
    known, at = _curve(link, likelihood), math.log(ratio / least)
    if known is None or at < known[0][0] and known[0][0] > LOG_RATIOS[0]:
        return None
    nodes, odds = known
    # Beyond the last node 1 / overlap - 1 falls like p / n.
    within = float(odds(min(at, nodes[-1]))) + max(at - nodes[-1], 0.0)
    return 1.0 / (1.0 + math.exp(-within))


@lru_cache(maxsize=512)
def _curve(link: Link, likelihood: Loss) -> tuple[Array, Callable[[float], Array]] | None:
    """Return nodes, log(n/p) over the existence threshold, and log(overlap / (1 - overlap)) there; None if not solved.

    Maps need thousands of points of a few links; a cubic through these nodes is within .002 of the overlap.
    """
    from scipy.interpolate import CubicSpline

    solutions = fitted(link, existence_ratio(link) * np.exp(LOG_RATIOS), likelihood)
    if len(solutions) < 4:
        return None
    nodes = LOG_RATIOS[len(LOG_RATIOS) - len(solutions) :]
    return nodes, CubicSpline(nodes, [2.0 * math.log(abs(at.rho)) - math.log1p(-(at.rho**2)) for at in solutions])


def fitted(link: Link, ratios: Array | list[float], likelihood: Loss) -> list[Fitted]:
    """Return the solutions at rising n/p, down to the first that does not converge."""
    now, solutions = None, list[Fitted]()
    # From above, near the limit of many responses; each solution initializes the next.
    for ratio in ratios[::-1]:
        now = now and _solved(link, ratio, likelihood, now)
        now = now or _solved(link, ratio, likelihood, _many(link, ratio, likelihood))
        if now is None:
            break
        solutions.append(now)
    return solutions[::-1]


def _many(link: Link, ratio: float, likelihood: Loss) -> Fitted:
    """Return the limits of first order in p/n: the best fit to infinitely many responses, and its sandwich variance."""
    at, (z, weights), y = _best_line(link, likelihood.derivatives, 1e-5).x, index_nodes(link), np.array([[1.0], [-1.0]])
    _, slopes, curvatures = likelihood.derivatives(y * (at[0] + at[1] * z))
    chances = weights * (1.0 + y * link(z)) / 2.0
    squares, bends = float((chances * slopes**2).sum()), float((chances * curvatures).sum())
    tau = math.hypot(at[1], math.sqrt(squares / ratio) / bends)
    return Fitted(at[1] / tau, tau, float(at[0]), 1.0 / (ratio * bends))


def _solved(link: Link, ratio: float, likelihood: Loss, start: Fitted) -> Fitted | None:
    """Return the solution of the four equations near an initialization; None without convergence."""
    from scipy.optimize import root

    # The answer turns over this width of v, and the proximal map over about 1 / tau.
    width = min(math.sqrt(max(1.0 - start.rho**2, 0.0)) / max(abs(start.rho), 0.1), 2.0 / start.tau)
    # The trapezoidal rule converges geometrically at half the width of the integrand.
    v = np.linspace(-8.0, 8.0, 1 + round(16.0 / min(max(width / 2.0, 0.01), 0.15)))
    weights = normal_density(v) * (v[1] - v[0])

    def unfolded(x: Array) -> Fitted:
        return Fitted(math.tanh(x[0]), math.exp(min(x[1], 30.0)), float(x[2]), math.exp(min(x[3], 60.0)))

    y = np.array([[1.0], [-1.0]])
    margins: Array = np.zeros((2, len(v)))

    def equations(x: Array) -> list[float]:
        nonlocal margins
        at = unfolded(x)
        rest = max(1.0 - at.rho**2, 1e-12)
        yes_answer = channels.answer(link, at.rho * v, rest, 1.0)
        yes = np.exp(yes_answer.log_chance)
        # P(y = -1) has minus the slope of P(y = 1).
        chance, turn = weights * np.stack([yes, 1.0 - yes]), weights * yes * yes_answer.score * rest
        margins, curvature = likelihood.prox(y * (at.intercept + at.tau * v), at.step, margins)
        moved = y * margins - at.intercept - at.tau * v
        pulls = (chance * moved).sum(axis=0)
        square = float((chance * moved**2).sum()) or 1e-300
        along = at.rho * float(pulls @ v) + float((moved[0] - moved[1]) @ turn)
        flat = float((chance / (1.0 + at.step * curvature)).sum())
        size, spread = math.sqrt(square), math.log(ratio * square / (at.tau**2 * rest))
        return [along / size, float(pulls.sum()) / size, spread, flat - 1.0 + 1.0 / ratio]

    # Of almost no noise in rho, tanh has no slope.
    first = math.atanh(min(max(start.rho, -1.0 + 1e-9), 1.0 - 1e-9))
    solution = root(equations, [first, math.log(start.tau), start.intercept, math.log(start.step)], tol=1e-11)
    return unfolded(solution.x) if np.abs(solution.fun).max() < 1e-8 else None
