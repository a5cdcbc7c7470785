"""Shared parts of solvers of single-index models: declaration, refusals, and overlaps at the n and p of a spec."""

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from itertools import islice
from typing import Annotated, Any

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import unit
from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import InputError, number
from lrlab.protocol import Iterate, Iterates, Solver
from lrlab.solver_entry import Options, Run, nothing_known, solver
from lrlab.theory.hermite import HIGHEST, VANISHING, answers_needed, information_exponent, is_constant
from lrlab.theory.links import Moments

SupportSize = Annotated[
    int, number(0, 10_000, "number of non-zero entries; 0 for the number of the signal, p for all", symbol="ŝ")
]
Check = Callable[[Any, Options], None]
ONE_KIND = (
    "All responses are equal: they carry no direction. Raise n, or move the intercept or the threshold so that both"
    " responses occur."
)
SAME_ANSWERS = " All responses are equal: the estimate is the direction of the mean of x, which may be random."
"""Sentence for methods without an intercept."""


def index_solver(
    *checks: Check, one_kind: bool = False, simulate: Callable[[Any], float] | bool = False, **parts: Any
) -> Any:
    """Declare a solver of the family, as `lrlab.solver` does; predictions are empty if theory makes no claim.

    checks, and refuse=: functions (spec, options) that refuse a spec; constant links, and more entries than there are,
    are always refused.
    one_kind: whether it runs on responses that are all equal; if not, it ends at once, with b = 0 and a note.
    simulate: whether the overlap at the n and p of a spec is predicted from synthetic problems, or the seconds that one
    of them takes, of a spec; by default those of a method that reads the data a few times.
    """
    refusals = needs_varying_link, needs_room, *checks, parts.pop("refuse", nothing_known)
    predict = parts.pop("predict", nothing_known)

    def refuse(spec: Any, options: Options) -> None:
        for refusal in refusals:
            refusal(spec, options)

    def applicable(spec: Any, options: Options) -> dict[str, float]:
        return predict(spec, options) if spec.theory_holds else {}

    def sample_seconds(spec: Any, options: Options) -> float:
        # Larger X are not simulated.
        if spec.n * spec.p > 2**22:
            return math.inf
        few_passes = 1e-3 + 4e-8 * spec.n * (spec.p + 20) + 1e-8 * spec.p**3
        return simulate(spec) if callable(simulate) else few_passes

    def declare(run: Run) -> Run:
        run = run if one_kind else needs_both_answers(run)
        draws = {"sample": simulated(run), "sample_seconds": sample_seconds} if simulate else {}
        return solver(**{"family": "single-index", **draws, **parts, "predict": applicable, "refuse": refuse})(run)

    return declare


moment_solver = partial(index_solver, streams=True, memory=0.35, matrix=lambda spec, options: spec.p**2)


def needs_both_answers(run: Callable[..., Iterates]) -> Any:
    """Return a solver that ends at once, with b = 0 and a note, if all responses are the same."""

    @wraps(run)
    def checked(problem: SingleIndexData, *, rng: Any, **options: Any) -> Iterates:
        if of_one_kind(problem):
            yield Iterate(np.zeros(problem.shape[1]), note=ONE_KIND)
            return None
        return (yield from run(problem, rng=rng, **options))

    return checked


def of_one_kind(problem: SingleIndexData) -> bool:
    """Return whether all responses are the same; reads no more of the data than it takes to see another one."""
    first = next(iter(problem.blocks()))[1][0]
    return all(np.all(y == first) for _, y in problem.blocks())


def simulated(run: Solver) -> Callable[[Any, Options, int], Array]:
    """Return the function (spec, options, count) -> overlaps (count,) of a solver's last estimates, for any seed."""

    def overlap(spec: Any, options: Options) -> float:
        problem, estimate = spec.build(), np.zeros(spec.p)
        # 600 iterations are long enough for a prediction. If the solver breaks down, the overlap is 0.
        with suppress(np.linalg.LinAlgError):
            for iterate in islice(run(problem, **options, rng=np.random.default_rng(spec.streams().solver)), 600):
                estimate = iterate.estimate
                if iterate.residual is not None and iterate.residual < 1e-5:
                    break
        return float(unit(estimate) @ problem.truth) ** 2

    # Far from the seeds that people choose.
    first = 3_000_000_000
    return lambda spec, options, count: np.array([overlap(spec.replace(seed=first + k), options) for k in range(count)])


def sparse_size(spec: Any, options: Options) -> int:
    """Return the number of entries that a sparse solver keeps."""
    return int(options["kept"]) or spec.sparsity or spec.p


def needs_room(spec: Any, options: Options) -> None:
    """Refuse to keep more entries than there are."""
    if int(options.get("kept", 0)) > spec.p:
        remedy = "lower it, or leave it 0 for the number of the signal"
        raise InputError("kept", f"in 0..p = {spec.p}", options["kept"], remedy)


def needs_samples(spec: Any, options: Options) -> None:
    """Refuse fewer measurements than twice the length of the signal."""
    if spec.n < 2 * spec.p:
        expected = f"at least 2p = {2 * spec.p} for this solver"
        raise InputError("n", expected, spec.n, f"raise n or lower p to {max(2, spec.n // 2)}")


def needs_answers(spec: Any, options: Options) -> None:
    """Refuse fewer than two measurements for each entry kept."""
    entries = sparse_size(spec, options)
    if spec.n < 2 * entries:
        expected = f"at least twice the {entries} entries kept = {2 * entries} for this solver"
        raise InputError("n", expected, spec.n, f"raise n, or keep at most {max(1, spec.n // 2)} entries (kept)")


def needs_varying_link(spec: Any, options: Options) -> None:
    """Refuse links that are constant."""
    if is_constant(spec.link_function):
        remedy = (
            "lower the flip below 0.5, raise the threshold above 0, or change the formula: such a link carries nothing"
        )
        raise InputError("link", "one whose responses depend on <x, b>", f"a constant on {spec.model}", remedy)


def needs_some_moment(spec: Any, options: Options) -> None:
    """Refuse links that neither moment sees."""
    link = spec.link_function
    mu0, mu1, mu2 = link.moments
    if max(abs(mu1), abs(mu2 - mu0)) >= VANISHING:
        return
    k = information_exponent(link)
    if k is None:
        expected = f"one with a Hermite coefficient of order 1..{HIGHEST} other than 0"
        remedy = (
            "lower its frequencies, the noise or the flip: to polynomial-time methods its responses look like coin "
            "tosses at every n and p of the lab"
        )
        raise InputError("link", expected, f"all 0 to rounding on {spec.model}", remedy)
    got = f"0 on {spec.model}, whose information exponent is {k}"
    needed = answers_needed(link, spec.p) or 0
    remedy = f"change the formula: polynomial-time methods need n of order p^{k / 2:g}, here {needed:.2g}"
    raise InputError("link", "one with mu_1 or mu_2 - mu_0 other than 0 for this solver", got, remedy)


def needs_moment(quantity: str, size: Callable[[Moments], float], remedy: str) -> Check:
    """Return a check that refuses links without a moment, whose size(moments) is 0."""

    def refuse(spec: Any, options: Options) -> None:
        needs_some_moment(spec, options)
        if abs(size(spec.link_function.moments)) < VANISHING:
            raise InputError("link", f"one with {quantity} other than 0 for this solver", f"0 on {spec.model}", remedy)

    return refuse


needs_first_moment = needs_moment(
    "mu_1 = E[f(Z) Z]", lambda mu: mu.mu1, "take a solver that uses second moments, such as pairwise-moment"
)
"""Refuses links whose mean of y x says nothing."""
needs_second_moment = needs_moment(
    "mu_2 - mu_0 = E[f(Z) (Z^2 - 1)]", lambda mu: mu.mu2 - mu.mu0, "take marginal-mean or pairwise-moment"
)
"""Refuses links whose mean of y x x^T says nothing (all odd links)."""
needs_gap = needs_moment(
    "phi = mu_1^2 - mu_0 mu_2 + mu_0^2", lambda mu: mu.phi, "lower the noise or flip, or move the threshold"
)
"""Refuses links that leave neither M nor M' a population gap."""
