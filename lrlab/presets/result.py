"""The plan of a preset, the figures, tables and page of its results, and the verdicts on claims and numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from jinja2 import Template

from lrlab.presets.definition import Preset
from lrlab.runs.run import Trial

if TYPE_CHECKING:
    from lrlab.figures.build import Figure
    from lrlab.presets.evidence import Samples

REPRODUCED, BETTER, DIRECTION = "reproduced", "better than printed", "agrees in direction"
FAILED, UNDECIDED = "not reproduced", "not decided"
WORDS = (REPRODUCED, BETTER, DIRECTION, FAILED, UNDECIDED)
"""Outcomes. Better than printed: all numbers that differ are better here, as tuning can explain. Agrees in direction:
the effect exists, but its size differs."""
TOO_FEW, NOT_RUN = "too few trials", "not run"
"""Reasons in a measurement why a claim is open: more trials could decide it, or lrlab omitted a part of the run."""

PAGE = Template(files("lrlab.presets").joinpath("page.html").read_text(encoding="utf-8"), autoescape=True)
"""An HTML page that needs no other file."""


class Panel(NamedTuple):
    """A figure with its title, its caption, and the verdicts on its claims."""

    title: str
    figure: "Figure"
    caption: str
    judged: "Sequence[Verdict]" = ()


@dataclass(frozen=True)
class Result:
    """Panels; table: points and, with another `level`, summaries; trials: one row per trial."""

    panels: list[Panel]
    table: pd.DataFrame
    trials: pd.DataFrame


@dataclass(frozen=True)
class Plan:
    """The work of a preset: function(item) for all items, anywhere; then finish(results in order).

    function: returns a row, a list of rows, or a `TrialResult`. labelled: for each item the labels of its rows and the
    number of its trial, or, for an item that a solver rejects, the reason. draw: makes panels and tables of points from
    all rows. panels: the titles of all panels. absent: the verdicts on a panel without results, by its title.
    """

    function: Callable[[Any], Any]
    labelled: Sequence[tuple[Mapping[str, Any], int, Any]]
    draw: Callable[[pd.DataFrame], Any]
    panels: Sequence[str]
    absent: Mapping[str, "Sequence[Verdict]"] = field(default_factory=dict)

    @cached_property
    def items(self) -> list[Any]:
        """The items, each once; the first trials come first, so that a growing figure has all lines early."""
        numbers = {item: number for _, number, item in self.labelled if not isinstance(item, str)}
        return sorted(numbers, key=lambda item: (numbers[item], not isinstance(item, Trial)))

    def finish(self, results: Sequence[Any]) -> Result:
        """Return panels and tables; results may be None, but not all of them. Panels without results are omitted."""
        known, rows, refused = dict(zip(self.items, results, strict=True)), list[Any](), list[Any]()
        for labels, _, item in self.labelled:
            if isinstance(item, str):
                refused.append({**labels, "trial": 0, "refused": item})
            elif result := known[item]:
                own = result if isinstance(result, list) else [result if isinstance(result, dict) else result.row(item)]
                rows += [{**labels, **row, **labels} for row in own]
        panels, tables = self.draw(pd.DataFrame(rows))
        judged = {panel.title: panel.judged for panel in panels}
        judged |= {title: verdicts for title, verdicts in self.absent.items() if title not in judged}
        claims = [{"level": "claim", "panel": title, **one.row} for title, own in judged.items() for one in own]
        table = pd.concat([*tables, pd.DataFrame(claims)], ignore_index=True)
        table = table[[*dict.fromkeys(["level", "panel", "model", *table.columns])]]
        said = [" ".join([panel.caption, *(one.sentence for one in panel.judged)]) for panel in panels]
        told = [panel._replace(caption=words) for panel, words in zip(panels, said, strict=True)]
        # Fits also have lists.
        trials = [{key: value for key, value in row.items() if not isinstance(value, list)} for row in rows + refused]
        return Result(told, table, pd.DataFrame(trials))


def page(preset: Preset, result: Result) -> str:
    """Return the page of a preset: title, explanation, panels side by side if the page is wide, captions."""
    return PAGE.render(title=preset.title, parts=[(preset, result, "")], command=preset.command)


class Judged(NamedTuple):
    """Whether a rule holds, None if the measurements do not decide it, and the measurements as text.

    falls_short: the outcome if the rule does not hold: FAILED, BETTER or DIRECTION.
    """

    holds: bool | None
    measured: str
    falls_short: str = FAILED

    @property
    def word(self) -> str:
        """The outcome, one of WORDS."""
        return UNDECIDED if self.holds is None else REPRODUCED if self.holds else self.falls_short


class Verdict(NamedTuple):
    """A claim in a panel: the paper's words, our measurement, the outcome (one of WORDS), and a remark ("" for none).

    rule, samples: the rule and the numbers that it judged; absent if the verdict was read from a table.
    """

    panel: str
    claim: str
    ours: str
    verdict: str
    why: str = ""
    rule: Mapping[str, Any] = {}
    samples: "Samples | None" = None

    @property
    def sentence(self) -> str:
        """The verdict as a sentence for users."""
        return f"Verdict: {self.verdict}. The paper: {self.claim}. Measured: {self.ours}. {self.why}".rstrip()

    @property
    def row(self) -> dict[str, str]:
        """The columns of a table of verdicts."""
        return {"claim": self.claim, "verdict": self.verdict, "measured": self.ours, "remark": self.why}


def lines(table: pd.DataFrame) -> list[Verdict]:
    """Return the verdicts in the table of a preset."""
    if "verdict" not in table:
        return []
    rows = table[table["verdict"].isin(WORDS)].astype(object)
    keys = ["panel", "claim", "measured", "verdict", "remark"]
    return [Verdict(*row) for row in rows.where(rows.notna(), "")[keys].itertuples(index=False)]


def open_for(shown: Sequence[Verdict]) -> str:
    """Return how many claims need more trials, and how many are on omitted parts; "" for none."""
    still = [line.ours for line in shown if line.verdict == UNDECIDED]
    absent = sum(NOT_RUN in ours for ours in still)
    few = sum(TOO_FEW in ours and NOT_RUN not in ours for ours in still)
    words = [f"{few} open for want of trials"] * (few > 0) + [f"{absent} on what was not run"] * (absent > 0)
    return ", ".join(words)


def counts(shown: Sequence[Verdict]) -> dict[str, int]:
    """Return how many claims have each verdict, without zeros."""
    numbers = {word: sum(line.verdict == word for line in shown) for word in WORDS}
    return {word: number for word, number in numbers.items() if number}
