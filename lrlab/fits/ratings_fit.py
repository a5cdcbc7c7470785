"""The result of a fit to ratings, or to pairs without ratings, beside what any such fit has to beat."""

import math
from dataclasses import dataclass, field
from typing import Any

from lrlab.fits.fit_result import FitResult, Row
from lrlab.fits.implicit import POPULAR_RECALL, RECALL
from lrlab.fits.ratings_model import RatingModel
from lrlab.fits.ratings_solvers import BIASES


@dataclass(kw_only=True)
class RatingsFit(FitResult):
    """The result of a fit to ratings: a `FitResult`, whose last estimate belongs to `model`.

    baselines: rmse_mean and rmse_biases on the test ratings, of the training mean and of biases of users and items
    alone, or of implicit feedback precision and recall of the most popular items; how many test ratings there are, of
    users and of items without training ratings.
    share: weight of the fit beside the biases alone. tried: the settings that were compared on held-out ratings.
    """

    rank: int
    share: float = 1.0
    baselines: Row = field(default_factory=dict)
    tried: list[Row] = field(default_factory=list, repr=False)
    model: RatingModel | None = field(default=None, repr=False)

    @property
    def implicit(self) -> bool:
        """Whether it ranks items from pairs without ratings."""
        return POPULAR_RECALL in self.baselines

    @property
    def remark(self) -> str:
        """One sentence where the fit is no better than a baseline."""
        last = self.rows[-1] if self.rows else {}
        if self.implicit:
            if not self.rank:
                return "No low-rank part ranks held-out pairs better than popularity: the model is popularity alone."
            if (recall := last.get(RECALL, math.nan)) < self.baselines[POPULAR_RECALL]:
                line = f"{RECALL} {recall:.4f} against {self.baselines[POPULAR_RECALL]:.4f}"
                return f"The fit is worse than popularity on the test pairs ({line}): add pairs."
            return ""
        rmse = last.get("rmse", math.nan)
        worse = rmse > self.baselines["rmse_biases"] * (1 + 1e-9)
        remedy = f"take solver {BIASES}" if worse else "the ratings are too few for biases, or have none"
        for name, words in (
            ("rmse_mean", "the mean of the ratings"),
            ("rmse_biases", "biases of users and items alone"),
        ):
            if rmse > self.baselines[name] * (1 + 1e-9):
                line = f"{rmse:.4f} against {self.baselines[name]:.4f}"
                return f"The fit is worse than {words} on the test ratings (rmse {line}): {remedy}."
        if not self.rank and self.solver != BIASES:
            return "Held-out ratings bear no low-rank part: the model is biases of users and items alone."
        return ""

    @property
    def extra_values(self) -> dict[str, Any]:
        """The rank, the errors of the baselines, and what tuning tried."""
        return {"rank": self.rank, "share": self.share, **self.baselines, "remark": self.remark, "tried": self.tried}

    @property
    def chosen(self) -> bool:
        """Whether held-out ratings chose the iterations."""
        return bool(self.tried and self.rank)
