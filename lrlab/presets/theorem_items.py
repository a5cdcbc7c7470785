"""What presets of kind `theorem` compute beside runs: quantities of what is drawn, and fewest measurements."""

import math
from dataclasses import dataclass
from typing import Any

from lrlab.presets.definition import Preset
from lrlab.presets.label_quantities import PLACES
from lrlab.presets.quantities import QUANTITIES
from lrlab.presets.theorem_lines import Placed, rounded
from lrlab.protocol import Spec
from lrlab.runs.job import make_job
from lrlab.runs.trial import Trial, TrialResult, run_trial, trial_spec

CLOSE = 1.05
"""The factor up to which a number of measurements is searched; a quick form may name a coarser one."""
MEASUREMENTS = "measurements"
"""The column of what a search returns."""


@dataclass(frozen=True)
class Drawing:
    """A drawn problem of which a quantity is computed, at a place that is no parameter of the spec, if it has one.

    The spec carries the seed of all its drawings.
    """

    spec: Spec
    quantity: str
    trial: int
    at: float | None = None


@dataclass(frozen=True)
class Search:
    """A search for the fewest measurements with which a measure of a solver's last iterate is below a level.

    along: what is searched, from `first` on, by doubling until a run recovers and at most to `last`, then between the
    last two, up to the factor `close`. Each run has data of its own, so that the median over trials is where about half
    of the runs recover.
    """

    spec: Spec
    solver: str
    settings: tuple[tuple[str, Any], ...]
    measure: str
    below: float
    along: str
    first: float
    last: float
    trial: int
    close: float = CLOSE

    def recovers(self, value: float) -> bool:
        """Tell whether the run at a value recovers."""
        job = make_job(rounded(self.spec, self.along, value), self.solver, **dict(self.settings))
        return run_trial(Trial(job, self.trial)).scores.get(self.measure, math.inf) < self.below


Item = Trial | Drawing | Search


def item_of(preset: Preset, one: Placed, value: float, number: int) -> Drawing | Search | None:
    """Return what is computed of a series at a place beside runs; None where these are all."""
    series, spec = one.series, one.specs[value]
    if "quantity" in series:
        return Drawing(spec, series["quantity"], number, value if one.axis in PLACES else None)
    if "fewest" not in series:
        return None
    search, measure = series["fewest"], {**preset.content["figure"], **one.panel}["measure"]
    settings = {**preset.content.get("settings", {}), **series.get("settings", {})}
    # Refused here, with the path of the key, and not in the middle of a search.
    with preset.source.locate(("series", preset.labels.index(series["label"]))):
        make_job(rounded(spec, search["along"], search["to"]), series["solver"], **settings)
    ends = search["along"], search["from"], search["to"]
    close = preset.content.get("close", CLOSE)
    return Search(spec, series["solver"], tuple(settings.items()), measure, series["below"], *ends, number, close)


def measured(item: Item) -> TrialResult | dict[str, Any]:
    """Return the result of a run, the parts of a quantity, or what a search has found."""
    if isinstance(item, Trial):
        return run_trial(item)
    if isinstance(item, Search):
        return {"trial": item.trial, "seed": item.spec.seed, MEASUREMENTS: fewest(item)}
    spec = trial_spec(item.spec, item.trial)
    own = () if item.at is None else (item.at,)
    return {"trial": item.trial, "seed": spec.seed, **QUANTITIES[item.quantity].parts_of(spec, *own)}


def fewest(search: Search) -> float:
    """Return the fewest measurements from which runs recover; infinite where they do not up to the last."""
    low, high = search.first, search.first
    while not search.recovers(high):
        if high >= search.last:
            return math.inf
        low, high = high, min(2.0 * high, search.last)
    while high > search.close * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if search.recovers(middle) else (middle, high)
    spec: Any = rounded(search.spec, search.along, high)
    return float(spec.measurements)
