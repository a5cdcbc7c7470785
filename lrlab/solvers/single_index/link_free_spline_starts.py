"""Further starts of link-free refinement, for links with several turns.

A direction with an error of .7 blurs such a link so much that a straight line predicts unseen answers as well as a
spline, and a line leads nowhere. A stiff spline, used whether or not it pays at first, finds the turns within a few
rounds: with 300 answers, 20 entries and the link sin 2z it leads to the best direction from nearly every moment.
"""

from collections.abc import Iterator

import numpy as np
from numpy.random import Generator

from lrlab.arrays import Mask
from lrlab.solvers.single_index.cross_fitting import CrossFit
from lrlab.solvers.single_index.link_fit import ROUGH, Fit, chosen, fit, fit_all
from lrlab.solvers.single_index.link_free_moves import Moved, descended, sharpened
from lrlab.solvers.single_index.link_free_start import Start, directions
from lrlab.solvers.single_index.link_smoothing import COEFFICIENTS, SMOOTHNESS, LogOdds

ROUNDS = 8
STIFF = SMOOTHNESS[2]


def doubtful(data: CrossFit, settled: Fit) -> bool:
    """Return whether the answers' uncertainty has not even been halved, in nats."""
    share = data.answers.mean()
    entropy = -(share * np.log(share) + (1.0 - share) * np.log(1.0 - share))
    return bool(settled.mean_held_out > entropy / 2.0)


def spline_starts(data: CrossFit, below: float, rng: Generator) -> Iterator[Start]:
    """Yield each moment's direction after rounds with a stiff spline; nothing where the first moment is clear.

    A direction is given up when half of its rounds have not brought the loss on unseen answers `below`.
    """
    p = data.X.shape[1]
    candidates = list(directions(data, p, rng))
    for name, B in candidates if len(candidates) > 1 else ():
        link, free = LogOdds(np.zeros(COEFFICIENTS)), np.ones_like(B, dtype=bool)
        now = Moved(B, data.indices(B), np.zeros(0))
        for round in range(ROUNDS):
            fitted = fit(data.rows(now.Z, link), STIFF, link.coefficients, ROUGH)
            if round == ROUNDS // 2 and fitted.mean_held_out > below:
                break
            link = fitted.log_odds
            now = moved(data, sharpened(link, data.held_out(now.Z), p), now, free)
        else:
            fits = fit_all(data.sample(now.Z, link))
            yield Start(now.B, now.Z, fits, chosen(fits), f"Start: {name} moment, {ROUNDS} rounds with a stiff spline.")


def moved(data: CrossFit, link: LogOdds, now: Moved, free: Mask) -> Moved:
    """Return the directions after a Newton step each."""
    at = data.derivatives(now.Z, link)
    return descended(data, link, now._replace(loss=at.loss), data.newton(at, now.B, free))
