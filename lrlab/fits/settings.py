"""Settings of fits to rows, checked before anything is read: of one fit, and of the search for the best of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lrlab import catalog
from lrlab.fits.metrics import BY_LABEL, METRICS
from lrlab.models.multilabel import Multilabel
from lrlab.models.scaling import SCALINGS
from lrlab.parameters import InputError, Parameter, Value, require_known, settle
from lrlab.protocol import Limits, limits
from lrlab.solver_entry import SolverEntry

MODEL = Multilabel.model
ITERATIONS, TUNED_ITERATIONS = 5, 10
"""Default limits of iterations, without and with tuning: test accuracy is often best after 2 to 5."""
RANK = Parameter(meaning="rank of a fit; 0 where none is given", name="rank", kind=int, default=0)
"""Without bounds, which come from the data."""


class Candidate(NamedTuple):
    """Settings to be tried: 0 where a solver has no rank, None where it has no such option or its default is taken."""

    rank: int
    regularization: float | None
    scaling: str = "none"
    rate: float | None = None
    margin: float | None = None

    @property
    def options(self) -> dict[str, Value]:
        """The options of the solver that it sets."""
        given = {"fitted_rank": self.rank or None, "regularization": self.regularization}
        given |= {"rate": self.rate, "margin": self.margin}
        return {name: value for name, value in given.items() if value is not None}


class FitSettings(NamedTuple):
    """A solver with all its options, limits of each run, and what else a fit does.

    given: names of the options that are fixed where others are tuned. rank: 0 leaves it open. scaling: of features, one
    of `SCALINGS`, of which auto is tuned. metric: one of METRICS by which settings are tuned, "" where none are.
    """

    solver: str
    options: tuple[tuple[str, Value], ...]
    given: tuple[str, ...]
    rank: int
    limits: Limits
    metric: str = ""
    scaling: str = "auto"
    intercept: bool = True
    seed: int = 0

    @property
    def entry(self) -> SolverEntry:
        """The solver's entry on the catalogue."""
        return catalog.solver(self.solver, MODEL)

    @property
    def free(self) -> Mapping[str, Parameter]:
        """The options of the solver that are not fixed."""
        return {name: one for name, one in self.entry.options.items() if name not in self.given}

    @property
    def regularization(self) -> float | None:
        """The weight that is fixed; None where it is tuned, or the solver has none."""
        return float(dict(self.options)["regularization"]) if "regularization" in self.given else None

    def of_labels(self, L: int) -> "FitSettings":
        """Return settings by a metric that tells others apart for L labels: macro AUC for one label."""
        return self._replace(metric=BY_LABEL[0]) if L == 1 and self.metric not in ("", *BY_LABEL) else self

    def options_with(self, candidate: Candidate) -> dict[str, Value]:
        """Return all options of the solver, with those of a candidate that it has among them."""
        known = self.entry.options
        return dict(self.options) | {name: value for name, value in candidate.options.items() if name in known}


def checked_options(model: str, solver: str, settings: Mapping[str, object]) -> dict[str, Any]:
    """Return all options of a solver of a model, checked; InputError names the known ones."""
    require_known(solver, tuple(entry.name for entry in catalog.solvers_for(model)), what="solver")
    entry = catalog.solver(solver, model)
    for name in settings:
        require_known(name, entry.options, what=f"option of {solver}")
    return settle(entry.run, settings)


def fit_settings(
    solver: str,
    options: Mapping[str, object],
    *,
    rank: int = 0,
    iterations: int | None = None,
    max_seconds: float = 3600.0,
    metric: str = "",
    scaling: str = "auto",
    intercept: bool = True,
    seed: int = 0,
) -> FitSettings:
    """Return the settings, checked; parameters as for `row_fit.fit`. InputError where one is wrong."""
    settled, rank = checked_options(MODEL, solver, options), int(RANK.check(rank))
    require_known(scaling, SCALINGS, what="scaling")
    if metric:
        require_known(metric, METRICS, what="metric")
    if iterations is not None and iterations < 1:
        raise InputError("iterations", "a whole number from 1", iterations, "leave it out for the default")
    most = (TUNED_ITERATIONS if metric else ITERATIONS) if iterations is None else iterations
    ending = limits({"max_iter": most, "max_seconds": max_seconds})
    fixed = rank or (int(settled.get("fitted_rank", 0)) if metric else 0)
    return FitSettings(solver, tuple(settled.items()), tuple(options), fixed, ending, metric, scaling, intercept, seed)
