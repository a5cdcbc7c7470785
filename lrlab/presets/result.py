"""What a preset has to compute, and the figures and tables of its results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

if TYPE_CHECKING:
    from lrlab.figures.build import Figure


class Panel(NamedTuple):
    """A figure with its title and the sentence that sums it up."""

    title: str
    figure: "Figure"
    caption: str


@dataclass(frozen=True)
class Result:
    """Panels; table: points and, in rows of their own (`level`), summaries; trials: one row per trial."""

    panels: list[Panel]
    table: pd.DataFrame
    trials: pd.DataFrame


@dataclass(frozen=True)
class Plan:
    """What a preset has to compute: function(item) for all items, wherever they run; finish(results in order).

    finish takes None for what is not computed yet, where at least one result is there.
    """

    function: Callable[[Any], Any]
    items: Sequence[Any]
    finish: Callable[[Sequence[Any]], Result]


def assembled(parts: Sequence[tuple[Panel, pd.DataFrame]], trials: pd.DataFrame) -> Result:
    """Return the result of panels, each with its table."""
    return Result([panel for panel, _ in parts], pd.concat([table for _, table in parts], ignore_index=True), trials)


def panel_table(
    title: str, model: str, points: pd.DataFrame, summaries: Sequence[Mapping[str, Any]] = ()
) -> pd.DataFrame:
    """Return the rows of a panel, summaries first; the columns `level`, `panel` and `model` say what each is of."""
    rows = pd.concat([pd.DataFrame(list(summaries)), points.assign(level="point")], ignore_index=True)
    rows = rows.assign(panel=title, model=model)
    return rows[["level", "panel", "model", *rows.columns.drop(["level", "panel", "model"])]]


def compare_with_paper(values: pd.Series, paper: float, scale: float = 1.0) -> dict[str, Any]:
    """Return the results of trials beside the number that a paper printed (nan for none), as multiples of 1 / scale.

    ours: their mean; spread: standard deviation; trials: how many have a value; paper; difference: ours - paper.
    """
    ours, spread = scale * float(values.mean()), scale * float(values.std())
    trials = int(values.notna().sum())
    return {"ours": ours, "spread": spread, "trials": trials, "paper": paper, "difference": ours - paper}
