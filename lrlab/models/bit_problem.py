"""Bits of some entries of a low-rank matrix as a problem: its data and the metrics of estimates."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from lrlab import lowrank
from lrlab.arrays import Array, frozen
from lrlab.lowrank import LowRank
from lrlab.operators.entries import Entries
from lrlab.protocol import Checkpoint, Problem, child, proceed

LARGEST = 1.0
"""Size of the largest entry of the table."""
CLEARLY = 1.001
"""A loss larger than the truth's by this factor counts as larger, see `truth_fits_better`."""
SCORED_ENTRIES = 2**18
"""Entries, in the first rows, that the distances of probabilities and bits use: all of 512 x 512."""


class OneBitCompletionProblem(Problem):
    """Bits of one spec. Only the score may read the truth.

    Attributes: spec; truth (LowRank); its rank and trace_norm; largest, the magnitude of its largest entry; width, the
    scale of the noise; likelihood of a bit given its margin; operator, the observed entries; y (m,), their bits.
    """

    largest = LARGEST

    def __init__(self, spec: Any, checkpoint: Checkpoint = proceed) -> None:
        self.spec, self.truth, self.checkpoint = spec, spec.factors(), checkpoint
        self.rank, self.width, self.likelihood = spec.rank, spec.noise, spec.likelihood
        self.trace_norm = float(self.truth.s.sum())
        for part in self.truth:
            frozen(part)

    def load(self, everything: bool) -> None:
        """Draw indices and bits."""
        _ = self.y

    @cached_property
    def operator(self) -> Entries:
        """The observed entries."""
        spec, (n1, n2) = self.spec, self.spec.table
        places = child(spec.streams().data, 0).choice(n1 * n2, size=spec.measurements, replace=False, shuffle=False)
        operator = Entries(None, None, spec.table, *np.divmod(np.sort(places), n2), n1 * n2 / len(places))
        operator.checkpoint = self.checkpoint
        return operator

    @cached_property
    def y(self) -> Array:
        """The bits (m,), 1 or -1."""
        rng, clean = child(self.spec.streams().noise, 0), self.operator(self.truth)
        e = rng.standard_normal(len(clean)) if self.spec.link == "probit" else rng.logistic(size=len(clean))
        return frozen(np.where(clean + self.width * e > 0, 1.0, -1.0))

    @cached_property
    def truth_loss(self) -> float:
        """Mean of -log P(bit) under the truth."""
        return float(self.likelihood.value(self.y * self.operator(self.truth) / self.width).mean())

    def score(self, estimate: LowRank) -> dict[str, float]:
        """Return errors of the estimate as a matrix, and of its predictions of bits.

        `error` = ||M-hat - M|| / ||M||, `squared_error` its square; on the first rows `hellinger`, the mean squared
        Hellinger distance of the laws of a bit, and `hamming`, the fraction of entries whose more likely bit is wrong.
        """
        rows = max(1, SCORED_ENTRIES // self.spec.n2)
        guess, true = (W.left[:rows] @ W.V.T for W in (estimate, self.truth))
        error = lowrank.errors(estimate, self.truth)["error"]
        # sqrt(P) sqrt(Q) of both bits, by the losses: each is exact where a probability is nearly 0.
        losses = [[self.likelihood.value(sign * M / self.width) for M in (guess, true)] for sign in (1.0, -1.0)]
        affinity = sum(np.exp(-(one + other) / 2.0) for one, other in losses)
        return {
            "error": error,
            "squared_error": error**2,
            "hellinger": float(np.mean(2.0 - 2.0 * affinity)),
            "hamming": float(np.mean((guess > 0) != (true > 0))),
        }

    def truth_fits_better(self, row: Mapping[str, float], tol: float) -> bool:
        """Return whether the bits are clearly more likely under the truth, which every solver could choose."""
        return row["objective"] > CLEARLY * self.truth_loss
