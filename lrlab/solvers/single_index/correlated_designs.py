r"""Limits for correlated Gaussian designs of methods that linear changes of x leave as they are.

With x = A g, g ~ N(0, I), the index <x, b> is <g, t>, t = A^T b, and a method whose estimate from A g is A^{-T} times
its estimate from g finds t as it does for independent entries and a link scaled by ||t||. By symmetry the estimate is
t-hat = sqrt(q) t / ||t|| + sqrt(1 - q) w, w uniform on the unit vectors orthogonal to t, q its overlap there; that of b
is A^{-T} t-hat. For large p and a signal that is not aligned with the covariance S = A A^T, whose diagonal is 1,
||t|| tends to 1 and the overlap to q / (q + (1 - q) tr(S^{-1}) / p).
"""

from lrlab.models import designs
from lrlab.models.single_index import SingleIndexSpec


def limit(overlap: float, p: int, correlation: float) -> float:
    """Return the limit of the overlap with b where that with t, for independent entries, is `overlap`."""
    if overlap == 0.0:
        return 0.0
    return overlap / (overlap + (1.0 - overlap) * designs.inverse_trace(p, correlation) / p)


def limits(known: dict[str, float], spec: SingleIndexSpec) -> dict[str, float]:
    """Return the limits for a correlated design from those for independent entries; those of eigenvalues are as there.

    Nothing for a picture, whose entries are not independent of each other.
    """
    if spec.side:
        return {}
    of_overlaps = {name for name in known if name.startswith("limit_overlap")}
    return known | {name: limit(known[name], spec.p, spec.correlation) for name in of_overlaps}
