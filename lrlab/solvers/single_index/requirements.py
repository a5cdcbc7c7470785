"""What several solvers of single-index models require, the memory that they need, and an option that they share."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any

import numpy as np

from lrlab.models.protocols import SingleIndexData
from lrlab.models.single_index import SingleIndexSpec
from lrlab.parameters import InputError, Parameter
from lrlab.protocol import Iterate, Iterates
from lrlab.solver_entry import Options, Run, SolverEntry, all_of, nothing_known, solver
from lrlab.solvers.single_index import correlated_designs
from lrlab.solvers.single_index.simulated import seconds, simulated
from lrlab.theory.hermite import HIGHEST, answers_needed, information_exponent, is_constant

SupportSize = Annotated[
    int,
    Parameter(
        meaning="non-zero entries kept; 0 for the signal's own number, p for all", symbol="ŝ", low=0, high=10_000
    ),
]
"""The number of non-zero entries of a sparse solver's estimate."""


def always(options: Options) -> bool:
    """Return True: linear changes of x leave the method as it is, whatever its options."""
    return True


def index_solver(**parts: Any) -> Callable[[Run], Run]:
    """Declare a solver of the family, as `lrlab.solver` does; predictions are empty if theory makes no claim.

    simulate: whether the overlap at the n and p of a spec is predicted from synthetic problems.
    equivariant(options): whether its estimate from A x is A^{-T} times the one from x, for every A, so that limits for
    independent entries tell those for correlated ones; by default it is not.
    """
    return lambda run: solver(**single_index_facts(run=run, **parts))(run)


def single_index_entry(run: Any, **parts: Any) -> SolverEntry:
    """Return the entry of a solver of the family, declared without a decorator."""
    facts = single_index_facts(run=run, **parts)
    return SolverEntry(run=run, families=(facts.pop("family"),), **facts)


def single_index_facts(*, run: Any, **parts: Any) -> dict[str, Any]:
    """Return what is declared of a solver of the family."""
    predict = parts.pop("predict", nothing_known)
    equivariant = parts.pop("equivariant", lambda options: False)

    def applicable(spec: SingleIndexSpec, options: Options) -> dict[str, float]:
        if spec.design == "correlated" and equivariant(options):
            return correlated_designs.limits(predict(spec, options), spec)
        return predict(spec, options) if spec.theory_holds else {}

    if parts.pop("simulate", False):
        parts = {"draw": simulated(run), "draw_seconds": seconds} | parts
    parts["refuse"] = all_of(needs_varying_link, parts.get("refuse", lambda spec, options: None))
    return {"family": "single-index", "predict": applicable, **parts}


ONE_KIND = (
    "All answers are the same: they carry no direction. Raise n, or move the intercept or the threshold so that both"
    " answers occur."
)
SAME_ANSWERS = " All answers are the same: this is where the mean of x points, which without both kinds may be chance."
"""What a method without an intercept makes of them."""


def of_one_kind(problem: SingleIndexData) -> bool:
    """Return whether all answers are the same; reads no more of the data than it takes to see another one."""
    least, most = 1.0, -1.0
    for _, y in problem.blocks():
        least, most = min(least, float(y.min())), max(most, float(y.max()))
        if least < most:
            return False
    return True


def needs_both_answers(run: Callable[..., Iterates]) -> Callable[..., Iterates]:
    """Return a solver that ends at once, with b = 0 and a note, where all answers are the same."""

    @wraps(run)
    def checked(problem: SingleIndexData, *, rng: Any, **options: Any) -> Iterates:
        if of_one_kind(problem):
            yield Iterate(np.zeros(problem.shape[1]), note=ONE_KIND)
            return None
        return (yield from run(problem, rng=rng, **options))

    return checked


VANISHING = 1e-9
"""Below this size of a moment the answers carry no direction that a method built on it could recover."""


def needs_samples(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse fewer measurements than twice the length of the signal."""
    if spec.n < 2 * spec.p:
        expected = f"at least 2p = {2 * spec.p} for this solver"
        raise InputError("n", expected, spec.n, f"raise n or lower p to {max(2, spec.n // 2)}")


def needs_first_moment(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links with mu_1 = E[f(Z) Z] = 0, whose mean of y x says nothing."""
    needs_some_moment(spec, options)
    if abs(spec.link_function.moments.mu1) < VANISHING:
        refuse_link(spec, "mu_1 = E[f(Z) Z]", "take a solver that uses second moments, such as pairwise-moment")


def needs_second_moment(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links with mu_2 = mu_0, whose mean of y x x^T says nothing (all odd links)."""
    needs_some_moment(spec, options)
    moments = spec.link_function.moments
    if abs(moments.mu2 - moments.mu0) < VANISHING:
        refuse_link(spec, "mu_2 - mu_0 = E[f(Z) (Z^2 - 1)]", "take marginal-mean or pairwise-moment")


def needs_gap(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links with phi = 0, for which neither M nor M' has a population gap."""
    needs_some_moment(spec, options)
    if abs(spec.link_function.moments.phi) < VANISHING:
        refuse_link(spec, "phi = mu_1^2 - mu_0 mu_2 + mu_0^2", "lower the noise or flip, or move the threshold")


def needs_varying_link(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links that are constant."""
    if is_constant(spec.link_function):
        remedy = (
            "lower the flip below 0.5, raise the threshold above 0, or change the formula: such a link carries nothing"
        )
        raise InputError("link", "one whose answers depend on <x, b>", f"a constant on {spec.model}", remedy)


def needs_some_coefficient(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links whose Hermite coefficients are all 0 to rounding."""
    needs_varying_link(spec, options)
    if information_exponent(spec.link_function) is None:
        expected = f"one with a Hermite coefficient of order 1..{HIGHEST} other than 0"
        remedy = (
            "lower its frequencies, the noise or the flip: to all known fast methods its answers are those of a coin, "
            "at every n and p of the lab"
        )
        raise InputError("link", expected, f"all 0 to rounding on {spec.model}", remedy)


def needs_some_moment(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse links that neither moment sees."""
    link = spec.link_function
    mu0, mu1, mu2 = link.moments
    if max(abs(mu1), abs(mu2 - mu0)) >= VANISHING:
        return
    needs_some_coefficient(spec, options)
    k, needed = information_exponent(link), answers_needed(link, spec.p)
    got = f"0 on {spec.model}, whose information exponent is {k}"
    remedy = f"change the formula: polynomial-time methods need n of order p^{(k or 0) / 2:g}, here {needed or 0:.2g}"
    raise InputError("link", "one with mu_1 or mu_2 - mu_0 other than 0 for this solver", got, remedy)


def refuse_link(spec: SingleIndexSpec, quantity: str, remedy: str) -> None:
    """Raise InputError: a moment of the link on which the solver depends is zero."""
    raise InputError("link", f"one with {quantity} other than 0 for this solver", f"0 on {spec.model}", remedy)


def support_size(problem: SingleIndexData, kept: int) -> int:
    """Return the number of non-zero entries: `kept`, or the signal's own number where it is 0."""
    return kept or problem.sparsity


def sparse_size(spec: SingleIndexSpec, options: Options) -> int:
    """Return the number of entries that a sparse solver keeps."""
    return int(options["kept"]) or spec.sparsity or spec.p


def needs_room(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse to keep more entries than there are."""
    if int(options["kept"]) > spec.p:
        remedy = "lower it, or leave it 0 for the signal's own number"
        raise InputError("kept", f"in 0..p = {spec.p}", options["kept"], remedy)


def needs_answers(spec: SingleIndexSpec, options: Options) -> None:
    """Refuse fewer than two measurements for each entry kept."""
    entries = sparse_size(spec, options)
    if spec.n < 2 * entries:
        expected = f"at least twice the {entries} entries kept = {2 * entries} for this solver"
        remedy = f"raise n, or keep at most {max(1, spec.n // 2)} entries (kept)"
        raise InputError("n", expected, spec.n, remedy)


refuse_first_moment = all_of(needs_first_moment, needs_room)


moment_entry = partial(single_index_entry, streams=True, memory=0.35, matrix=lambda spec, options: spec.p**2)
