"""The evidence for claims: the number of every trial, by series and place, and intervals made from these numbers.

Six or more trials give the distribution-free interval of the median (signs of deviations are binomial); fewer give
Student's interval of the mean; positive numbers enter as logarithms. A score on blocks of test samples has an interval
even from one trial. Otherwise one trial has no interval.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr, ndtri, stdtrit

from lrlab.arrays import Array

CONFIDENCE = 0.95
ARRANGEMENTS = 40
"""Fewest ways to assign the trials to series: with fewer, a random order has probability above 1/40."""
Place = float | str
Numbers = Mapping[Place, Array]


class Interval(NamedTuple):
    """Ends of an interval; infinite without a bound."""

    low: float
    high: float

    @property
    def exp(self) -> "Interval":
        """The interval of the numbers with these logarithms; `math.exp` overflows from 710 on."""
        return Interval(*(math.exp(end) if end < 700.0 else math.inf for end in self))


EVERYTHING = Interval(-math.inf, math.inf)


class Samples(NamedTuple):
    """Numbers of trials by series and place, in the order of the places.

    durations: for times to a level, the length of a run that missed it, whose time is infinite. blocks: scores on the
    same blocks of test samples for all series; their spread gives the sampling errors of numbers and of paired
    differences.
    """

    values: Mapping[str, Numbers]
    durations: Mapping[str, Numbers] = {}
    blocks: Mapping[str, Numbers] = {}

    def places(self, series: Iterable[str], rule: Mapping[str, Any]) -> list[Place]:
        """Return the places common to all series that a rule selects (`at`, `from` and `to`, or `columns`)."""
        # A pair takes two series.
        first, *others = [self.values.get(name, {}) for name in series] or [{}]
        low, high = rule.get("from", -math.inf), rule.get("to", math.inf)
        return [
            place
            for place in first
            if all(place in other for other in others)
            and (place == rule["at"] if "at" in rule else isinstance(place, str) or low <= place <= high)
            and (not isinstance(place, str) or place in rule.get("columns", (place,)))
        ]

    def center(self, series: str, place: Place) -> float:
        """Return the median of the trials; nan without a trial."""
        # For few numbers, this is ten times as fast as np.median.
        values = self.values[series][place].tolist()
        return median(values) if values else math.nan

    def mean(self, series: str, place: Place) -> float:
        """Return the mean of the trials."""
        return float(self.values[series][place].mean())

    def error(self, series: str, place: Place) -> float:
        """Return the sampling error of a number, without the spread of the trials."""
        blocks = self.blocks.get(series, {}).get(place)
        return 0.0 if blocks is None else error_of_mean(blocks)

    def interval(self, series: str, place: Place, among: int = 1) -> Interval:
        """Return the interval of a series at a place, corrected for a number of simultaneous intervals."""
        values, error = self.values[series][place], self.error(series, place)
        if np.all(values > 0):
            return interval(np.log(values), error=error / self.center(series, place), among=among).exp
        return interval(values, error=error, among=among)

    def contrast(self, low: str, high: str, place: Place, among: int = 1) -> Interval:
        """Return the paired interval of log(high / low), or of high - low if some numbers are not positive.

        A trial without a number could have any.
        """
        below, above = (self._bounded(name, place) for name in (low, high))
        positive = all((ends[1] > 0).all() for ends in (below, above))
        count = min(below.shape[1], above.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            if positive:
                below, above = (np.log(np.maximum(ends, 0.0)) for ends in (below, above))
            least, most = above[0, :count] - below[1, :count], above[1, :count] - below[0, :count]
        # Two infinite numbers have an unknown difference.
        least, most = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
        return interval(least, most, self._error_of_gap((low, high), place, positive), among)

    def room(self, series: str, place: Place, among: int) -> float:
        """Return the half-width of the prediction interval of one more trial, with 95% confidence at `among` places.

        It includes the sampling error of both, and is infinite for one trial without such an error.
        """
        values, error, tail = self.values[series][place], self.error(series, place), (1.0 - CONFIDENCE) / (2.0 * among)
        sampled = -float(ndtri(tail)) * math.sqrt(2.0) * error
        if len(values) < 2:
            return sampled if len(values) and error else math.inf
        spread = float(values.std(ddof=1)) * math.sqrt(1.0 + 1.0 / len(values))
        return math.hypot(stdtrit(len(values) - 1, 1.0 - tail) * spread, sampled)

    def _error_of_gap(self, names: Sequence[str], place: Place, relative: bool) -> float:
        """Return the sampling error of a paired difference; 0 unless both series have blocks."""
        if not all(place in self.blocks.get(name, {}) for name in names):
            return 0.0
        scales = [self.center(name, place) if relative else 1.0 for name in names]
        below, above = (self.blocks[name][place] / scale for name, scale in zip(names, scales, strict=True))
        return error_of_mean(above - below)

    def _bounded(self, series: str, place: Place) -> Array:
        """Return the smallest and the largest possible number of each trial: two rows."""
        values = self.values[series][place]
        known, least = np.isfinite(values), self.durations.get(series, {}).get(place, -np.inf)
        return np.array([np.where(known, values, least), np.where(known, values, np.inf)])


def samples_of(rows: pd.DataFrame, x: str, y: str, scale: float = 1.0) -> Samples:
    """Return the samples of a table with a row per trial and columns series, trial, x and y; nan becomes infinite."""
    numbers: dict[str, dict[Place, Array]] = {}
    ordered = rows.sort_values([x, "trial"]) if pd.api.types.is_numeric_dtype(rows[x]) else rows
    for (series, place), own in ordered.groupby(["series", x], sort=False)[y]:
        numbers.setdefault(str(series), {})[place] = scale * own.fillna(math.inf).to_numpy(float)
    return Samples(numbers)


def interval(values: Array, upper: Array | None = None, error: float = 0.0, among: int = 1) -> Interval:
    """Return the interval of the center of numbers; with `upper`, each number lies between values and upper.

    error: sampling error in addition to their spread. among: number of intervals that hold jointly with 95% confidence
    (Bonferroni).
    """
    below, above, count = values, values if upper is None else upper, len(values)
    tail = (1.0 - CONFIDENCE) / (2.0 * among)
    # The interval of the median omits this many of the sorted numbers at either end; -1 if they are too few.
    outside = int(np.sum(bdtr(np.arange(count), count, 0.5) <= tail)) - 1
    if outside >= 0:
        low, high = float(np.sort(below)[outside]), float(np.sort(above)[count - 1 - outside])
    elif count >= 2:
        quantile = stdtrit(count - 1, 1.0 - tail)
        low = float(below.mean() - quantile * error_of_mean(below)) if np.isfinite(below).all() else -math.inf
        high = float(above.mean() + quantile * error_of_mean(above)) if np.isfinite(above).all() else math.inf
    elif count == 1 and error:
        low, high = float(below[0]), float(above[0])
    else:
        return EVERYTHING
    if error:
        center, sampled = median(values.tolist()), -ndtri(tail) * error
        low = center - math.hypot(center - low, sampled) if math.isfinite(low) else low
        high = center + math.hypot(high - center, sampled) if math.isfinite(high) else high
    return Interval(low, high)


def error_of_mean(values: Array) -> float:
    """Return the standard error of the mean."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def power(
    samples: Samples, series: Iterable[str], rule: Mapping[str, Any], means: bool = False
) -> tuple[float, Interval]:
    """Return the common slope of log medians over log places, with its 95% least-squares interval; nan if unknown.

    Each series has its own constant; the number of trials weights a point; curvature widens the interval. means: of
    means instead of medians.
    """
    center = samples.mean if means else samples.center
    parts = list[Array]()
    for name in series:
        places = [x for x in samples.places([name], rule) if math.isfinite(center(name, x))]
        if len(places) > 1:
            weights = np.array([len(samples.values[name][x]) for x in places], float)
            logs = np.log(np.array([[float(x), center(name, x)] for x in places]))
            parts.append(np.sqrt(weights)[:, None] * (logs - np.average(logs, axis=0, weights=weights)))
    freedom = sum(map(len, parts)) - len(parts) - 1
    if freedom < 1:
        return math.nan, EVERYTHING
    u, v = np.concatenate(parts).T
    slope = float(u @ v / (u @ u))
    room = float(stdtrit(freedom, 0.975) * np.linalg.norm(v - slope * u) / np.sqrt(freedom * (u @ u)))
    return slope, Interval(slope - room, slope + room)


def decisive(samples: Samples, groups: Sequence[Sequence[str]], places: Iterable[Place]) -> bool:
    """Return whether a random order of groups of series would be rare with so many trials.

    With known sampling errors it always is, as these errors do not come from the trials.
    """
    ways = 1
    for place in places:
        if all(samples.error(name, place) for group in groups for name in group):
            return True
        sizes = [sum(len(samples.values[name][place]) for name in group) for group in groups]
        ways *= math.prod(map(math.comb, accumulate(sizes), sizes))
    return ways >= ARRANGEMENTS
