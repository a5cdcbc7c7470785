"""Runs of one solver on several problems, as one run: its iterates are those of all of them together."""

from collections.abc import Iterator, Sequence
from typing import Any

from lrlab.models.multilabel_problem import Predictor
from lrlab.protocol import Iterate, parts


class Together(tuple[Any, ...]):
    """Estimates of several problems (`estimates`): the tuple of all their parts."""

    estimates: Sequence[Predictor]

    @staticmethod
    def of(estimates: Sequence[Any]) -> "Together":
        """Return them together."""
        together = Together(part for estimate in estimates for part in parts(estimate))
        together.estimates = estimates
        return together


def joint(runs: Sequence[Iterator[Iterate]]) -> Iterator[Iterate]:
    """Yield iterates of several runs together until one of them ends: sums of objectives, the largest residual."""
    for iterates in zip(*runs, strict=False):
        objectives, residuals = ([getattr(one, name) for one in iterates] for name in ("objective", "residual"))
        yield Iterate(
            Together.of([one.estimate for one in iterates]),
            None if None in objectives else sum(objectives),
            None if None in residuals else max(residuals),
        )
