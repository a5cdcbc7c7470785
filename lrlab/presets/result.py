"""What a preset has to compute, and what comes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from lrlab import catalog
from lrlab.protocol import Spec

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Panel(NamedTuple):
    """A figure with its title and the sentence that sums it up."""

    title: str
    figure: "go.Figure"
    caption: str


@dataclass(frozen=True)
class Result:
    """Panels; table: points and, in rows of their own (`level`), summaries; trials: one row a trial."""

    panels: list[Panel]
    table: pd.DataFrame
    trials: pd.DataFrame


@dataclass(frozen=True)
class Plan:
    """What a preset has to compute: function(item) for all items, wherever they run; finish(results in order)."""

    function: Callable[[Any], Any]
    items: Sequence[Any]
    finish: Callable[[Sequence[Any]], Result]


def panel_spec(content: Mapping[str, Any], panel: Mapping[str, Any], **more: object) -> Spec:
    """Return the spec of a panel: what the file says for all panels, for this one, and `more`."""
    return catalog.spec(panel["model"], **{**content.get("spec", {}), **panel.get("spec", {}), **more})


def beside_paper(values: pd.Series, paper: float, times: float = 1.0) -> dict[str, Any]:
    """Return what trials gave beside what a paper printed (nan for nothing), in units of 1 / times of ours.

    ours: their mean; spread: standard deviation; trials: how many have a value; paper; difference: ours - paper.
    """
    ours, spread = times * float(values.mean()), times * float(values.std())
    trials = int(values.notna().sum())
    return {"ours": ours, "spread": spread, "trials": trials, "paper": paper, "difference": ours - paper}
