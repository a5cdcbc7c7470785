"""Recovered signals: pictures of first measurements, verdicts that compare with theory, lines and limits on maps."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import errors_of
from lrlab.model_entry import HARD, IMPOSSIBLE, POSSIBLE, Goal, Measured, Outcome, Success, best_of, recovery
from lrlab.parameters import InputError
from lrlab.protocol import View
from lrlab.solver_entry import Options, SolverEntry
from lrlab.theory import finite_best, predicted_overlap, spiked
from lrlab.theory.hermite import answers_needed
from lrlab.theory.magnitudes import channel_of, thresholds, weak_recovery
from lrlab.theory.predicted_overlap import entries, limit_applies
from lrlab.theory.state_evolution import Ratios, overlaps, ratios

SHOWN = 400
"""Number of measurements in the picture."""
PHASE_GOAL = Goal("error", 1e-3, noises=3.0)
"""Least squares leave an error of sqrt(4 / (m/p - 2)) standard deviations of the noise: 1.4 at m/p = 4."""
THRESHOLD, WEAK = "asymptotic threshold", "asymptotic weak recovery"
RATE = "rate p^(k/2) of polynomial-time methods"
EXISTENCE = "responses separable below"


def strip(answers: Array, across: int = 20) -> Array:
    """Return numbers (n,) as rows of `across`, filled with nan."""
    rows = np.full((-(-len(answers) // across), across), np.nan)
    rows.ravel()[: len(answers)] = answers
    return rows


def index_measured(spec: Any) -> Measured:
    """Return the first responses of a spec."""
    # Of the data itself: with fewer rows another part of the random numbers would be the noise.
    answers = spec.build().first_answers(SHOWN)
    unknowns = f"{spec.sparsity} non-zero of {spec.p:,}" if spec.sparsity else f"{spec.p:,}"
    flipped = f"; a fraction of {spec.flip:g} is flipped" if spec.flip else ""
    words = f"{spec.n:,} bits for {unknowns} entries{flipped}. Blue: yᵢ = 1, orange: −1."
    return Measured(words, {f"the first {len(answers)} responses": View(strip(answers), "bits")})


def index_verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return predicted and measured error, the threshold in n/p if it is known, and the best other error."""
    known = next((one for one in outcomes if prediction_words(one.predictions)), None)
    parts = [] if known is None else [_beside_theory(spec, known)]
    best = best_of(outcomes)
    if best is not None and best is not known:
        name = "lowest here" if parts else "Lowest error" if len(outcomes) > 1 else "Error"
        parts.append(f"{name} {best.scores['error']:.2g} ({best.title})")
    parts += bound_words(outcomes[0].predictions) if outcomes else []
    return "; ".join(parts) + "." if parts else f"n/p = {spec.n / spec.p:.4g}; theory has no prediction here."


def prediction_words(numbers: Mapping[str, float]) -> str:
    """Return the predicted error of a solver: at this n and p, or else asymptotically."""
    if "predicted_error" in numbers:
        low, high = numbers["predicted_error_low"], numbers["predicted_error_high"]
        return f"Predicted error {numbers['predicted_error']:.2g} ({low:.2g} to {high:.2g} in 80% of trials)"
    if "limit_overlap" in numbers:
        return f"Asymptotic error {errors_of(numbers['limit_overlap']):.2g}"
    return ""


def bound_words(numbers: Mapping[str, float]) -> list[str]:
    """Return the bound on all methods: at this n and p, or else asymptotically."""
    if "best_error" in numbers:
        return [f"Bayes-optimal {numbers['best_error']:.2g}"]
    if "limit_best_overlap" in numbers:
        return [f"asymptotic information-theoretic limit {errors_of(numbers['limit_best_overlap']):.2g}"]
    return []


def _beside_theory(spec: Any, outcome: Outcome) -> str:
    error = outcome.scores.get("error")
    measured_error = f", measured {error:.2g}" if error is not None else ""
    words = f"{prediction_words(outcome.predictions)}{measured_error} ({outcome.title})"
    # The threshold is one of isotropic Gaussian rows.
    if outcome.solver != "pairwise-moment" or not spec.theory_holds:
        return words
    ratio = spec.n / spec.p
    moment = str(outcome.options["moment"])
    threshold = spiked.predict(spec.link_function.moments, ratio, moment).threshold
    if not np.isfinite(threshold):
        return f"{words}: this moment has no gap, whatever n/p"
    side = "above" if ratio > threshold else "below"
    return f"{words}: n/p = {ratio:.4g} is {side} its asymptotic threshold {threshold:.3g}"


def phase_measured(spec: Any) -> Measured:
    """Return the first measurements of a spec."""
    few = min(spec.m, SHOWN)
    name = "magnitudes" if spec.data == "magnitude" else "intensities"
    words = f"{spec.m:,} {name} for {spec.degrees_of_freedom:,} real degrees of freedom; brighter is larger."
    return Measured(words, {f"the first {few} {name}": View(strip(spec.replace(m=few).build().y), "sizes")})


def phase_verdict(spec: Any, outcomes: Sequence[Outcome]) -> str:
    """Return how many solvers recover the signal, and the thresholds in m/p of exact data."""
    limit, ratio = thresholds(spec.field), spec.m / spec.p
    theory = (
        f"m/p = {ratio:.3g}; with exact data polynomial-time methods succeed from {limit.fast:.3g} and any method from "
    )
    level = PHASE_GOAL.level(spec.noise)
    noisy = f"; with this noise an error below {level:.2g} counts" if spec.noise else ""
    return recovery(outcomes, "signal", "error", level, f"{theory}{limit.information:.3g}{noisy}")


def overlap_at(rule: Success) -> float | None:
    """Return the overlap in [0, 1) that a level means: its own, or the overlap of unit vectors at this distance."""
    overlap = rule.level
    if rule.metric == "error":
        overlap = max(0.0, 1.0 - rule.level**2 / 2.0) ** 2
    fits = (rule.above is None) == (rule.metric == "error") and rule.metric in ("overlap", "error")
    return overlap if fits and 0.0 <= overlap < 1.0 else None


def index_lines(spec: Any, entry: SolverEntry, options: Options, rule: Success) -> dict[str, bool]:
    """Return whether a solver's asymptotic overlap is above zero, and above the level.

    If the first two Hermite coefficients of a link vanish: whether n has the order that polynomial-time methods need.
    """
    needed = answers_needed(spec.link_function, spec.p) if spec.theory_holds and not spec.sparsity else None
    if needed:
        return {RATE: spec.n > needed}
    if entry.attains:
        return {}
    try:
        known = entry.predict(spec, options)
    except InputError:
        return {}
    predicted, least = known.get("limit_overlap"), known.get("limit_threshold")
    exists = {EXISTENCE: spec.n / spec.p > least} if least is not None else {}
    if predicted is None:
        return exists
    overlap = overlap_at(rule)
    at_level = {f"asymptotic {rule.words}": predicted > overlap} if overlap else {}
    return {**at_level, **(exists or {THRESHOLD: predicted > 0})}


def phase_lines(spec: Any, entry: SolverEntry, options: Options, rule: Success) -> dict[str, bool]:
    """Return whether there are at least as many measurements as real unknowns."""
    return {"degrees of freedom": spec.m >= spec.degrees_of_freedom}


def index_asymptotics(spec: Any) -> dict[str, float]:
    """Return the asymptotic overlap of all methods, and of polynomial-time methods if it is smaller.

    Nothing for signals of few non-zero entries, since the limits do not apply to them.
    """
    few = spec.sparsity and not limit_applies(spec)
    limits = None if few else predicted_overlap.best_overlap(spec)
    return limits.by_name if limits else {}


def index_best(spec: Any) -> dict[str, float]:
    """Return the Bayes-optimal means at this n and p; empty if unknown."""
    best = finite_best.finite_best(spec)
    known = {} if best is None else best._asdict()
    return {f"best_{name}": value for name, value in known.items() if name.startswith(("overlap", "error"))}


def phase_asymptotics(spec: Any) -> dict[str, float]:
    """Return the asymptotic overlap of all methods, and of polynomial-time methods if it is smaller.

    Nothing for images: a method that knew them would need no data.
    """
    return {} if spec.side else overlaps(channel_of(spec), spec.m / spec.p).by_name


def index_margins(spec: Any, rule: Success) -> dict[str, float]:
    """Return log n/p minus its value at the best overlap, and at the polynomial-time overlap, for a level.

    Also for weak recovery, if its n/p is not 0. Nothing for signals of few non-zero entries, as in `index_asymptotics`.
    """
    overlap = overlap_at(rule) if not spec.sparsity or limit_applies(spec) else None
    needed = None if overlap is None else predicted_overlap.best_ratios(spec, overlap)
    begin = None if needed is None else predicted_overlap.best_ratios(spec, 0.0)
    if overlap is None or needed is None or begin is None:
        return {}
    return _beyond(spec.n / spec.p, needed, begin.fast, overlap, entries(spec))


def phase_margins(spec: Any, rule: Success) -> dict[str, float]:
    """Return log m/p minus the same limits; nothing for images, as in `phase_asymptotics`."""
    overlap = overlap_at(rule)
    if spec.side or overlap is None:
        return {}
    channel, ratio = channel_of(spec), spec.m / spec.p
    needed, weak = ratios(channel, overlap), weak_recovery(channel)
    return _beyond(ratio, needed, weak, overlap, spec.p)


def _beyond(ratio: float, needed: Ratios, weak: float, overlap: float, entries: int) -> dict[str, float]:
    """Return log n/p minus its limits. IMPOSSIBLE and HARD are negative only if hardly any trial exceeds the overlap.

    At overlap q, chance has the standard deviation (1 - q) sqrt(q (4 - 2 q) / p), and dq / dlog(n/p) is q (1 - q). Two
    of these are seldom exceeded. n/p of weak recovery below 1e-4 is rounding of the smallest overlap.
    """
    chance = 2.0 * math.sqrt((4.0 - 2.0 * overlap) / entries / max(overlap, 1e-9))
    known = {POSSIBLE: needed.fast} | ({WEAK: weak} if weak > 1e-4 else {})
    margins = {name: math.log(ratio) - math.log(least) for name, least in known.items()}
    never = {IMPOSSIBLE: needed.best, HARD: needed.fast}
    return margins | {name: math.log(ratio) - math.log(least) + chance for name, least in never.items()}
