"""A store that counts its commits, made-up results for it, and how long they took."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lrlab.runs.trial import Trial, TrialResult
from lrlab.store.store import Store

COMMIT_SECONDS, STORED_SECONDS = 9e-3, 1.0 / 3600.0
"""What the store takes for a commit and for each trial of it: 108 a second one by one, 3,600 in large batches."""


class CountedStore(Store):
    """A store that counts its commits: the trials of each."""

    def __init__(self, path: Path | None = None) -> None:
        super().__init__(path)
        self.commits = list[int]()

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store trials."""
        super().add(results)
        self.commits.append(len(results))


class TimedStore(CountedStore):
    """A store whose commits take simulated time: `work` lets it pass."""

    def __init__(self, work: Callable[[float], None], path: Path | None = None) -> None:
        super().__init__(path)
        self._work = work

    def add(self, results: Mapping[Trial, TrialResult]) -> None:
        """Store trials."""
        super().add(results)
        self._work(COMMIT_SECONDS + STORED_SECONDS * len(results))


def made_up(trial: Trial, seconds: float) -> TrialResult:
    """Return a made-up result of a trial."""
    scores = {"objective": 0.5, "residual": 1e-9, "error": 0.1, "overlap": 0.9, "misfit": 0.3}
    return TrialResult(trial.number, "CONVERGED", 50, seconds, scores)


def drawn_durations(mean: float, spread: float = 0.5) -> Callable[[Trial], float]:
    """Return a function that draws how long a trial takes, log-normal in its cell; spread: of the means of cells."""
    rng, means = np.random.default_rng(0), dict[Any, float]()

    def draw(trial: Trial) -> float:
        if trial.job not in means:
            means[trial.job] = mean * rng.lognormal(-(spread**2) / 2.0, spread)
        return means[trial.job] * float(rng.lognormal(-0.045, 0.3))

    return draw
