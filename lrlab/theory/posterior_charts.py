r"""Coordinates of the sphere in which the posterior of a single-index model is nearly a standard Gaussian."""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.theory.channels import answer
from lrlab.theory.links import Link

PASSES, SETTLED = 60, 0.03
DAMPING = 0.7
LEAST_V, FARTHEST = 1e-12, 12.0
CONCENTRATED = 0.25
"""Mean squared sine of the angle to the centre below which the chart is the tangent plane there."""
VARIANCES, OUTLIER = (0.2, 0.02, 0.002), 20.0
"""Variances of an index from which a chart is fitted, and the square of z beyond 2 p that speaks against one."""


class Chart(NamedTuple):
    """b = g / |g| for g = centre + B z, z (k,); `tangent`: g spans the plane through `centre`, else all of R^p."""

    centre: Array
    B: Array
    tangent: bool

    def points(self, Z: Array) -> Array:
        """Return g (chains, p) at Z (chains, k)."""
        return self.centre + Z @ self.B.T

    def log_base(self, squares: Array, Z: Array) -> Array:
        """Return the log density of a uniform b over that of z ~ N(0, I), up to a constant; squares are |g|^2."""
        p = len(self.centre)
        return 0.5 * (Z * Z).sum(axis=1) - 0.5 * p * (np.log(squares) if self.tangent else squares)


def fitted_chart(link: Link, X: Array, y: Array, truth: Array) -> Chart:
    """Return a chart near the posterior of X (n, p) and y in which the truth, a draw of it, is no outlier."""
    n, p = X.shape
    for variance in (min(VARIANCES[0], p / n), *VARIANCES[1:]):
        chart = _fitted(link, X, y, truth, variance)
        if float(np.square(coordinates(chart, truth)).sum()) <= 2.0 * p + OUTLIER:
            return chart
    return Chart(np.zeros(p), np.eye(p) / np.sqrt(p), False)


def _fitted(link: Link, X: Array, y: Array, start: Array, V: float) -> Chart:
    """Return the chart that approximate message passing with the whole covariance finds from the unit vector `start`.

    V is the variance of an index off the direction of the mean, on which the unit length of b leaves no doubt.
    """
    n, p = X.shape
    m: Array = np.sqrt(1.0 - V) * start
    score: Array = np.zeros(n)
    for _ in range(PASSES):
        w = np.clip(X @ m - V * score, -FARTHEST, FARTHEST)
        # Far from all answers there are no digits left: such a chart has the truth as an outlier.
        with np.errstate(all="ignore"):
            score, curvature = (np.nan_to_num(part, posinf=0.0, neginf=0.0) for part in _answers(link, w, V, y))
        rest = np.clip(1.0 - V * curvature, 0.02, 50.0)
        values, vectors = np.linalg.eigh((X.T * (curvature / rest)) @ X)
        values = np.maximum(values, 0.0) + p
        towards = vectors @ ((vectors.T @ (X.T @ ((score + w * curvature) / rest))) / values)
        last = m
        m = (1.0 - DAMPING) * m + DAMPING * towards
        size, before = float(np.linalg.norm(m)), V
        V = max(float((1.0 - np.square(m / size @ vectors)) @ (1.0 / values)), LEAST_V)
        # Early passes may be far too long; where V is small the length of the mean is known.
        m *= np.sqrt(1.0 - V) / size if V < CONCENTRATED else min(1.0, 1.0 / size)
        if abs(V - before) <= SETTLED * V and float(np.linalg.norm(m - last)) <= SETTLED * np.sqrt(V):
            break
    if V >= CONCENTRATED:
        return Chart(m, vectors / np.sqrt(values), False)
    middle = m / np.linalg.norm(m)
    T = np.linalg.svd(middle[None])[2][1:].T
    K = (T.T @ vectors * values) @ (T.T @ vectors).T
    # Off the middle b has the variance 1 / K, and g that of b over the squared height 1 - V of b along the middle.
    return Chart(middle, T @ np.linalg.cholesky(np.linalg.inv((1.0 - V) * K)), True)


def _answers(link: Link, w: Array, V: float, y: Array) -> tuple[Array, Array]:
    """Return score and curvature of each answer, interpolated where that takes fewer nodes than answers."""
    S = np.sqrt(V + link.noise**2)
    reach = float(np.abs(w).max()) + S
    count = int(16.0 * reach / S) + 1
    if 2 * count > len(w):
        at = answer(link, w, V, y)
        return at.score, at.curvature
    grid = np.linspace(-reach, reach, count)
    score, curvature = np.empty_like(w), np.empty_like(w)
    for sign in (1.0, -1.0):
        rows, at = y == sign, answer(link, grid, V, sign)
        score[rows], curvature[rows] = np.interp(w[rows], grid, at.score), np.interp(w[rows], grid, at.curvature)
    return score, curvature


def coordinates(chart: Chart, b: Array) -> Array:
    """Return z of the unit vector b, which has any length in a chart of all of R^p."""
    g = b / float(chart.centre @ b) if chart.tangent else b
    return np.linalg.lstsq(chart.B, g - chart.centre, rcond=None)[0]
