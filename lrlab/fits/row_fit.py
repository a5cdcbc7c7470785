"""Fits a solver to rows that have been read, tuned if required, and tests it on others after every iteration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lrlab.datasets import Dataset
from lrlab.fits import baselines
from lrlab.fits.calibration import Calibration
from lrlab.fits.fit_memory import fits_memory, require_fit_memory
from lrlab.fits.fit_result import TIMES, FitResult, Following, Row
from lrlab.fits.fitted_model import FittedModel
from lrlab.fits.own_files import count_auc_rows, default_rank, max_rank, require_rank
from lrlab.fits.settings import FitSettings, fit_settings
from lrlab.fits.tuning import Progress, Tuned, tune_rows
from lrlab.models.own_rows import OwnProblem, OwnThresholds
from lrlab.models.scaling import Scaling, spread_remark

AREAS_ENTRIES = 10**8
"""Scores of test rows beyond which micro and macro AUC are left out: sorting takes half as long as an iteration."""


@dataclass(kw_only=True)
class Fit(FitResult):
    """The result of a fit to labels: a `FitResult`.

    columns: the training data without its rows. auc_rows: test rows with labels of both kinds, over which auc is a
    mean. areas: AUC over all entries and over labels, at the last iteration. intercept, scaling: of the predictor.
    threshold: the score above which a label is predicted, None for the estimate's own; own: labels that have another
    one. calibration: of the scores, where the fit is tuned. baselines: the scores of label frequencies and of full
    rank.
    """

    auc_rows: int
    columns: Dataset = field(repr=False)
    intercept: bool = True
    scaling: Scaling = field(default=Scaling(), repr=False)
    threshold: float | None = None
    own: OwnThresholds = ()
    calibration: Calibration = ()
    baselines: dict[str, Row] = field(default_factory=dict)
    areas: Row = field(default_factory=dict)
    tuned: Tuned | None = None

    @property
    def model(self) -> FittedModel:
        """The model that predicts labels of new rows; it can be saved."""
        decided = self.threshold, self.own, self.calibration
        return FittedModel(self.solver, dict(self.options), self.estimate, self.columns, self.scaling, *decided)

    @property
    def extra_values(self) -> dict[str, Any]:
        """The numbers of rows and labels over which the AUC are means, and the result of tuning."""
        tuned = {"tuned": self.tuned.summary()} if self.tuned else {}
        threshold = self.estimate.threshold if self.threshold is None else self.threshold
        prepared = {"intercept": self.intercept, "scaling": self.scaling.name, "threshold": threshold}
        prepared |= {"own_thresholds": len(self.own)} if self.own else {}
        compared = {"baselines": self.baselines, "remark": self.remark} if self.baselines else {}
        return {"auc_rows": self.auc_rows, **self.areas, **prepared, **compared, **tuned}

    @property
    def chosen(self) -> bool:
        """Whether rows held out chose the iterations."""
        return self.tuned is not None

    @property
    def remark(self) -> str:
        """A sentence where the fit is below a baseline; else nothing. AUC counts if a row has labels of both kinds."""
        scores = {name: value for name, value in (self.rows or [{}])[-1].items() if name != "auc" or self.auc_rows}
        return baselines.remark(scores, self.baselines)


def fit_rows(
    training: Dataset,
    fresh: Dataset | None,
    settings: FitSettings,
    *,
    compared: bool = False,
    areas: bool | None = False,
    progress: Progress = lambda count, best: None,
    following: Following = lambda iteration, iterations, seconds: None,
) -> Fit:
    """Fit rows, and score the estimate on fresh ones after every iteration, where there are any.

    The other parameters are those of `fitting.fit`. InputError where the rank is wrong or memory does not suffice.
    """
    require_rank(settings.rank, training)
    rank, options, scaling = settings.rank or default_rank(max_rank(training)), dict(settings.options), settings.scaling
    require_fit_memory(settings.solver, options, training, fresh, rank)
    tested = training.rows(slice(0, 0)) if fresh is None else fresh
    fitted = Fit(
        solver=settings.solver,
        options=options,
        columns=training.rows(slice(0, 0)),
        intercept=settings.intercept,
        auc_rows=count_auc_rows(tested),
        notes=tested.notes if fresh else (),
    )
    ending = settings.limits
    if settings.metric:
        fitted.tuned = tune_rows(training, settings, progress)
        best = fitted.tuned.chosen
        fitted.notes += fitted.tuned.notes
        fitted.options = settings.options_with(best.candidate)
        ending = ending._replace(max_iter=max(1, best.iterations))
        scaling, fitted.threshold = best.candidate.scaling, best.threshold_by(fitted.tuned.metric)
        fitted.own, fitted.calibration = best.own, best.calibration
    fitted.scaling = Scaling.of(training.X, scaling)
    problem = OwnProblem.between(training, tested, rank, intercept=settings.intercept, scaling=fitted.scaling)
    if remark := spread_remark(problem.X):
        fitted.notes += (remark,)
    problem.threshold, problem.own = fitted.threshold, fitted.own
    fitted.fill(problem, settings.entry, fitted.options, ending, settings.seed, following)
    # Without rows to test on there are no scores.
    fitted.rows = [named(row) if fresh else {name: row[name] for name in TIMES} for row in fitted.rows]
    if fresh and areas is None and fresh.n * fresh.L > AREAS_ENTRIES:
        size = f"they sort {fresh.n * fresh.L:,} scores"
        fitted.notes += (f"Micro and macro AUC are left out: {size}. areas=True, or --areas, computes them.",)
    elif fitted.estimate is not None and areas is not False:
        fitted.areas = problem.areas(fitted.estimate)
    if compared:
        fitted.baselines = scores_of_baselines(training, problem, fitted, settings)
    return fitted


def scores_of_baselines(rows: Dataset, problem: OwnProblem, fitted: Fit, settings: FitSettings) -> dict[str, Row]:
    """Return the scores of label frequencies, and of full rank where a fit has less; tuned where the fit is.

    Each is judged by thresholds of its own, which are nothing to the scores of another solver.
    """
    problem.threshold, problem.own = None, ()
    frequent: Any = baselines.frequencies(rows.d, problem.Y, problem.mask)
    scores = {baselines.FREQUENCIES: named(problem.score(frequent))}
    if fitted.solver != baselines.SOLVER and baselines.feasible(rows.d, rows.L) and fits_memory(rows, baselines.SOLVER):
        options: dict[str, Any] = {}
        if fitted.tuned:
            own = fit_settings(
                baselines.SOLVER,
                {},
                iterations=1,
                max_seconds=settings.limits.max_seconds,
                metric=settings.metric,
                scaling=fitted.scaling.name,
                intercept=settings.intercept,
                seed=settings.seed,
            )
            best = tune_rows(rows, own, lambda count, best: None).chosen
            options, problem.threshold, problem.own = best.candidate.options, best.threshold_by(own.metric), best.own
        scores[baselines.FULL_RANK] = named(problem.score(baselines.full_rank(problem, options)))
    return scores


def named(scores: Mapping[str, float]) -> Row:
    """Return scores by the names of the shell, as papers print them: precision in percent, the others as shares."""
    at = {name: name.replace("_", "@") if name[-1].isdigit() else name for name in scores}
    return {at[name]: (100.0 if name.startswith("precision") else 1.0) * value for name, value in scores.items()}
