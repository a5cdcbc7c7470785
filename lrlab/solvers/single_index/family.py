r"""Shared parts of solvers of single-index models: declaration, refusals, and responses that are all the same.

On a correlated Gaussian design x = A g, <x, b> is <g, t> with t = A^T b, and a method whose estimate from A g is A^{-T}
times the one from g finds t as it does for independent entries. By symmetry the estimate is sqrt(q) t / ||t|| +
sqrt(1 - q) w, w uniform on the unit vectors orthogonal to t and q its overlap there; the estimate of b is A^{-T} times
it. For large p and a signal that is not aligned with S = A A^T, whose diagonal is 1, ||t|| tends to 1 and the overlap
to q / (q + (1 - q) tr(S^{-1}) / p).
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any

import numpy as np

from lrlab.models import designs
from lrlab.models.protocols import SingleIndexData
from lrlab.parameters import InputError, number
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, Run, all_of, nothing_known, solver
from lrlab.solvers.single_index.simulated import seconds, simulated
from lrlab.theory.hermite import HIGHEST, answers_needed, information_exponent, is_constant

SupportSize = Annotated[
    int, number(0, 10_000, "number of non-zero entries; 0 for the signal's own number, p for all", symbol="ŝ")
]
VANISHING = 1e-9
"""Size of a moment of the link below which responses carry no direction for a method built on it."""
ONE_KIND = (
    "All responses are equal: they carry no direction. Raise n, or move the intercept or the threshold so that both"
    " responses occur."
)
SAME_ANSWERS = " All responses are equal: the estimate is the direction of the mean of x, which may be random."
"""Sentence for methods without an intercept."""


def index_solver(*, equivariant: Callable[[Options], bool] | bool = False, simulate: bool = False, **parts: Any) -> Any:
    """Declare a solver of the family, as `lrlab.solver` does; predictions are empty if theory makes no claim.

    equivariant, or equivariant(options): whether the estimate from A x is A^{-T} times the one from x, for every A, so
    that limits for independent entries imply limits for correlated ones. simulate: whether the overlap at the n and p
    of a spec is predicted from synthetic problems.
    """
    predict = parts.pop("predict", nothing_known)

    def applicable(spec: Any, options: Options) -> dict[str, float]:
        if spec.theory_holds:
            return predict(spec, options)
        turns = equivariant(options) if callable(equivariant) else equivariant
        return correlated(predict(spec, options), spec) if spec.design == "correlated" and turns else {}

    def declare(run: Run) -> Run:
        draws = {"draw": simulated(run), "draw_seconds": seconds} if simulate else {}
        refuse = all_of(needs_varying_link, parts.get("refuse", lambda spec, options: None))
        return solver(**{"family": "single-index", **draws, **parts, "predict": applicable, "refuse": refuse})(run)

    return declare


moment_solver = partial(index_solver, streams=True, memory=0.35, matrix=lambda spec, options: spec.p**2)


def correlated(limits: dict[str, float], spec: Any) -> dict[str, float]:
    """Return the limits on a correlated design from the limits for independent entries; none for images."""
    if spec.side:
        return {}
    lost = designs.inverse_trace(spec.p, spec.correlation) / spec.p
    return {
        name: value / (value + (1.0 - value) * lost) if name.startswith("limit_overlap") and value else value
        for name, value in limits.items()
    }


def of_one_kind(problem: SingleIndexData) -> bool:
    """Return whether all responses are the same; reads no more of the data than it takes to see another one."""
    least, most = 1.0, -1.0
    for _, y in problem.blocks():
        least, most = min(least, float(y.min())), max(most, float(y.max()))
        if least < most:
            return False
    return True


def needs_both_answers(run: Callable[..., Iterates]) -> Any:
    """Return a solver that ends at once, with b = 0 and a note, if all responses are the same."""

    @wraps(run)
    def checked(problem: SingleIndexData, *, rng: Any, **options: Any) -> Iterates:
        if of_one_kind(problem):
            yield Iterate(np.zeros(problem.shape[1]), note=ONE_KIND)
            return None
        return (yield from run(problem, rng=rng, **options))

    return checked


def support_size(problem: SingleIndexData, kept: int) -> int:
    """Return the number of non-zero entries: `kept`, or the signal's own number if that is 0."""
    return kept or problem.sparsity


def sparse_size(spec: Any, options: Options) -> int:
    """Return the number of entries that a sparse solver keeps."""
    return int(options["kept"]) or spec.sparsity or spec.p


def needs_room(spec: Any, options: Options) -> None:
    """Refuse to keep more entries than there are."""
    if int(options["kept"]) > spec.p:
        remedy = "lower it, or leave it 0 for the signal's own number"
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
    needs_varying_link(spec, options)
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


def needs_first_moment(spec: Any, options: Options) -> None:
    """Refuse links with mu_1 = E[f(Z) Z] = 0: the mean of y x says nothing."""
    remedy = "take a solver that uses second moments, such as pairwise-moment"
    _needs(spec, options, spec.link_function.moments.mu1, "mu_1 = E[f(Z) Z]", remedy)


def needs_second_moment(spec: Any, options: Options) -> None:
    """Refuse links with mu_2 = mu_0, whose mean of y x x^T says nothing (all odd links)."""
    moments = spec.link_function.moments
    size = moments.mu2 - moments.mu0
    _needs(spec, options, size, "mu_2 - mu_0 = E[f(Z) (Z^2 - 1)]", "take marginal-mean or pairwise-moment")


def needs_gap(spec: Any, options: Options) -> None:
    """Refuse links with phi = 0, which leave neither M nor M' a population gap."""
    size, remedy = spec.link_function.moments.phi, "lower the noise or flip, or move the threshold"
    _needs(spec, options, size, "phi = mu_1^2 - mu_0 mu_2 + mu_0^2", remedy)


def _needs(spec: Any, options: Options, size: float, quantity: str, remedy: str) -> None:
    needs_some_moment(spec, options)
    if abs(size) < VANISHING:
        raise InputError("link", f"one with {quantity} other than 0 for this solver", f"0 on {spec.model}", remedy)


refuse_first_moment = all_of(needs_first_moment, needs_room)
