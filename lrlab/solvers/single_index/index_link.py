"""The link along a direction: log-odds of one-bit answers as a function of the index, with its band."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit

from lrlab.arrays import Array
from lrlab.losses import LOGISTIC, PROBIT, Loss
from lrlab.solvers.single_index.index_links import CELLS, SMOOTH, LogOdds, Rows, expanded, regular_inverse

if TYPE_CHECKING:
    import pandas as pd

POINTS = 101
DEVIATIONS = 1.96


def losses(eta: Array, y: Array) -> Array:
    """Return -log P(y | eta) for y in +-1, elementwise, in nats."""
    return np.logaddexp(0.0, -y * eta)


class IndexLink(NamedTuple):
    """Log-odds along z = (<x, b> - center) / scale, and the data they were fitted to: rows, and their y in +-1."""

    b: Array
    center: float
    scale: float
    link: LogOdds
    rows: Rows

    @classmethod
    def fitted(cls, X: Array, y: Array, b: Array) -> "IndexLink":
        """Return the link that answers y (n,) in +-1 show along b (p,): a parabola or a spline, at a price."""
        index = X @ b
        center, scale = float(index.mean()), float(index.std()) or 1.0
        rows = Rows.of((index - center) / scale, (y > 0).astype(float), np.zeros(len(y)))
        link = min((kind.fitted(rows) for kind in SMOOTH), key=lambda kind: kind.cost(rows))
        return cls(b, center, scale, link, rows)

    def log_odds(self, X: Array) -> Array:
        """Return the log-odds of y = 1 at rows X (n, p)."""
        return self.link((X @ self.b - self.center) / self.scale)[0]

    @property
    def table(self) -> "pd.DataFrame":
        """The curve: index, chance, and the ends low and high of its pointwise 95% band, given the direction."""
        import pandas as pd

        z = np.linspace(self.rows.z.min(), self.rows.z.max(), POINTS)
        B, eta = self.rows.splines, self.link(z)[0]
        chance = expit(self.link(self.rows.z)[0])
        weights = self.rows.number * chance * (1.0 - chance)
        covariance = regular_inverse((B.T * weights) @ B + self.link.bend())
        at = expanded(np.eye(CELLS + 3), z)[0]
        wide = DEVIATIONS * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", at, covariance, at), 0.0))
        columns = {"chance": expit(eta), "low": expit(eta - wide), "high": expit(eta + wide)}
        return pd.DataFrame({"index": self.center + self.scale * z, **columns})

    def compared(self, X: Array, y: Array) -> dict[str, float]:
        """Return the mean loss of responses y (n,) in +-1 to X (n, p) under a logistic, a probit and this link."""
        # Imported here: every solve would wait for it.
        from scipy.optimize import minimize

        z = (X @ self.b - self.center) / self.scale
        ones, zeros = self.rows.ones, self.rows.number - self.rows.ones

        def with_line(loss: Loss) -> float:
            def total(at: Array) -> float:
                index = at[0] + at[1] * self.rows.z
                return float(ones @ loss.value(index) + zeros @ loss.value(-index))

            level, slope = minimize(total, np.zeros(2)).x
            return float(loss.value(y * (level + slope * z)).mean())

        own = float(losses(self.link(z)[0], y).mean())
        return {"logistic": with_line(LOGISTIC), "probit": with_line(PROBIT), "link-free": own}
