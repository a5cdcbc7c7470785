"""Whether a problem is large enough for the limits of `theory.state_evolution`, which are those of many entries."""

from typing import Any

LEAST_ENTRIES = 32
"""Unknown entries from which on the posterior mean's overlap is within about .02 of its limit, on average over draws.

In the limit the entries are independent, and their squares sum to 1 by the law of large numbers; the model scales s of
them to length 1, which tells their size. Measured with `gamp` for s = 4, 8, 16, 32 and 64 in ten cells of three
models: a mean of the runs above the limit by at most .075, .056, .036, .036 and .018 (standard errors .01 to .025).
With s = 1 an entry is known but for its place and sign: at n = 60, p = 100 and noise 1 the overlap is .99, and the
limit .85.
"""


def entries(spec: Any) -> int:
    """Return the number of unknown entries: the non-zero ones of a sparse signal, else all."""
    return spec.sparsity or spec.p


def limit_applies(spec: Any) -> bool:
    """Return whether a signal has so many entries that the limits for large p describe it to about .02.

    The overlap of a random guess, 1/p, comes on top of them: where a limit is not well above it, quotients by the limit
    alone say nothing.
    """
    return entries(spec) >= LEAST_ENTRIES
