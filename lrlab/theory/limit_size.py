"""Whether a problem is large enough for the limits of `theory.state_evolution`, which assume many entries."""

from typing import Any

LEAST_ENTRIES = 32
"""Smallest number of unknown entries with a posterior-mean overlap within about .02 of its limit, on average. The limit
assumes independent entries; a model scales s of them to length 1, which reveals their size. GAMP at s = 4, 8, 16, 32
and 64 exceeded its limit by at most .075, .056, .036, .036 and .018 (standard errors .01 to .025). At s = 1 only index
and sign are unknown: at n = 60, p = 100 and noise 1 the overlap is .99, and the limit .85."""


def entries(spec: Any) -> int:
    """Return the number of unknown entries: the non-zero ones of a sparse signal, else all."""
    return spec.sparsity or spec.p


def limit_applies(spec: Any) -> bool:
    """Return whether a signal has enough entries for the limits at large p to hold within about .02.

    The overlap of a random guess, 1/p, adds to them: near a limit of 0, quotients by the limit are meaningless.
    """
    return entries(spec) >= LEAST_ENTRIES
