r"""What the fixed points of message passing say of the best estimates of one drawn problem with many unknowns.

Started without knowledge of the truth and beside it, the iterations end at one fixed point or at two. Each stands for a
part of the posterior: the direction v of its mean, the overlap q = 1 - V that it states, and, by its evidence, the
chance pi that the truth lies there. In the limit of large p this is all of the posterior; at finite p it has what the
limit has not: fluctuations near transitions, and the chance of a part that has less evidence on average.
"""

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.protocol import proceed
from lrlab.theory.links import Link
from lrlab.theory.message_passing import Answered, State, evidence, path, uninformed
from lrlab.theory.posterior_scores import Scores, distances

LONGEST, AT_REST, RESTLESS = 200, 1e-4, 1e-2
"""Iterations, the change of b below which a path has come to its end, and from which on its evidence means nothing."""
BESIDE = 0.99
"""Overlap with the truth of the start beside it."""
BLOWN = 10.0
"""Length of b of a path that grows without end."""


class Part(NamedTuple):
    """The direction v (p,) of a part of the posterior, the overlap it states, and its evidence in nats."""

    v: Array
    q: float
    evidence: float


def fixed_point_scores(link: Link, X: Array, y: Array, truth: Array) -> Scores:
    """Return the scores of the better of both directions, as the posterior sees it.

    That of the path without knowledge is what it has of the truth; that of the other is what the posterior expects.
    """
    p, problem = len(truth), _passed(link, X, y)
    b = math.sqrt(BESIDE) * truth
    own, beside = _end(problem, uninformed(problem, 1.0)), _end(problem, State(b, 1.0 - BESIDE, X @ b, None))
    # Where b = 0 has more evidence, that is of the part which the first path stands for.
    chance = float(expit(beside.evidence - max(own.evidence, 0.0)))
    alike = float(own.v @ beside.v) ** 2
    overlap, error = float(own.v @ truth) ** 2, float(distances(truth[None], own.v)[0])
    if chance * beside.q > (1.0 - chance) * own.q + chance * beside.q * alike + 1.0 / p:
        overlap = chance * beside.q + (1.0 - chance) / p
    errors = np.sqrt(2.0 - 2.0 * np.sqrt([beside.q, beside.q * alike, own.q, own.q * alike]))
    if chance * (errors[1] - errors[0]) > (1.0 - chance) * (errors[3] - errors[2]) + 1.0 / p:
        error = float(chance * errors[0] + (1.0 - chance) * errors[3])
    # What is left out is of the order 1 / p of what is not known.
    return Scores(np.array([overlap, error]), np.zeros(2), np.array([overlap]), np.array([error]), 1.0 / p)


def _passed(link: Link, X: Array, y: Array) -> Any:
    return SimpleNamespace(X=X, y=y, link=link, shape=X.shape, checkpoint=proceed)


def _end(problem: Answered, start: State) -> Part:
    for number, at in enumerate(path(problem, start, 1.0)):
        if number == LONGEST or not at.change > AT_REST or not np.linalg.norm(at.state.b) < BLOWN:
            break
    b, V, nats = at.state.b, float(at.state.V), evidence(problem, at, 1.0)
    if not np.isfinite([*b, V, nats]).all() or not b.any():
        # Nothing is known there, and any direction is as good.
        return Part(unit(np.ones_like(b)), 0.0, -math.inf)
    return Part(unit(b), 1.0 - V, nats) if at.change < RESTLESS else Part(unit(b), 0.0, -math.inf)
