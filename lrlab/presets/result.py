"""The plan of a preset, its results, and the figures, tables, page and verdicts that are made of them.

stream = Resumed(plan.function, plan.items, store.open, start)     yields stored results first
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from jinja2 import Template

from lrlab import catalog, code_hash
from lrlab.engine.results import POLL_SECONDS, Failure, ItemResult, LocalResults, Results, Start
from lrlab.presets.definition import Preset
from lrlab.protocol import Spec, Stop
from lrlab.runs.run import Trial, TrialResult
from lrlab.store.store import ITEM_BYTES, Store, texts_of

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
    """A figure with its title, its caption, the verdicts on its claims, and what their rows also have, as `model`."""

    title: str
    figure: "Figure"
    caption: str
    judged: "Sequence[Verdict]" = ()
    about: Mapping[str, str] = {}


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
        judged = {panel.title: (panel.about, panel.judged) for panel in panels}
        judged |= {title: ({}, verdicts) for title, verdicts in self.absent.items() if title not in judged}
        claims = [
            {"level": "claim", "panel": name, **about, **one.row}
            for name, (about, own) in judged.items()
            for one in own
        ]
        table = pd.concat([*tables, pd.DataFrame(claims)], ignore_index=True)
        table = table[[*dict.fromkeys(["level", "panel", "model", *table.columns])]]
        said = [" ".join([panel.caption, *(one.sentence for one in panel.judged)]) for panel in panels]
        told = [panel._replace(caption=words) for panel, words in zip(panels, said, strict=True)]
        # Fits also have lists.
        trials = [{key: value for key, value in row.items() if not isinstance(value, list)} for row in rows + refused]
        return Result(told, table, pd.DataFrame(trials))


class Resumed(Results):
    """The stored results, then the other results as they arrive."""

    def __init__(
        self, function: Callable[[Any], Any], wanted: Sequence[Any], open_store: Callable[[], Store], start: Start
    ) -> None:
        """Read the store, and start to compute the missing items."""
        super().__init__(wanted)
        self._keys, self._open = [key(function, item) for item in wanted], open_store
        with open_store() as store:
            known = store.items(self._keys)
        self._stored = [
            ItemResult(k, item, as_computed(known[own]))
            for k, (own, item) in enumerate(zip(self._keys, wanted, strict=True))
            if own in known
        ]
        self._places = [k for k, own in enumerate(self._keys) if own not in known]
        # Without missing items, no engine starts.
        self._inner = (start if self._places else LocalResults)(function, [wanted[k] for k in self._places])

    @property
    def seconds_left(self) -> float | None:
        """Remaining time at the pace of the computed items."""
        return self._inner.seconds_left

    def take(self, wait_seconds: float = POLL_SECONDS) -> list[ItemResult]:
        """Return stored results at first, then new results, each stored before it is returned."""
        return self._handed_on([] if self._stored else self._inner.take(wait_seconds))

    def _end(self) -> list[ItemResult]:
        return self._handed_on(self._inner.cancel())

    def _handed_on(self, computed: Sequence[ItemResult]) -> list[ItemResult]:
        """Store computed results, and return them after the stored ones."""
        new = [ItemResult(self._places[number], item, value) for number, item, value in computed]
        # A failed or an interrupted trial is not a result.
        good = {
            self._keys[number]: value._asdict() if isinstance(value, TrialResult) else value
            for number, _, value in new
            if not isinstance(value, Failure) and getattr(value, "stop", "") != Stop.CANCELLED.name
        }
        if good:
            with self._open() as store:
                store.add_items(good)
        new, self._stored = [*self._stored, *new], []
        self.done += len(new)
        return new


def as_computed(read: Any) -> Any:
    """Return a result, read from JSON, as the function of the preset returned it."""
    return TrialResult(**read) if isinstance(read, dict) and "scores" in read else read


def key(function: Callable[[Any], Any], item: Any) -> bytes:
    """Return the key of an item: a hash of its values, and one of the code that computes it."""
    used: list[Any] = [function]
    values: list[Any]
    if isinstance(item, Trial):
        *values, version = [item.number, *texts_of(item.job)]
    else:
        spec, solver = getattr(item, "spec", None), getattr(item, "solver", "")
        model = spec.model if isinstance(spec, Spec) else "multilabel"
        # A quantity may run any solver of its model, but none of a plugin.
        own = [one for one in catalog.solvers_for(model) if one.run.__module__.startswith("lrlab.")]
        solvers = [catalog.solver(solver, model)] if solver else own
        used += [catalog.MODELS[model], *(one.run for one in solvers)]
        values, version = [model, asdict(item)], ""
    text = json.dumps([function.__name__, *values], sort_keys=True, default=_text)
    hashed = hashlib.blake2b(text.encode(), digest_size=ITEM_BYTES).digest()
    return hashed + bytes.fromhex(code_hash.digest(version + code_hash.version(*used)))


def _text(value: Any) -> Any:
    """Return name, size and modification time of a file, and other values as they print."""
    if isinstance(value, Path) and value.exists():
        return [value.name, value.stat().st_size, value.stat().st_mtime_ns]
    return repr(value)


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


def tally(shown: Sequence[Verdict]) -> dict[str, str]:
    """Return each verdict that claims have, and in words how many: "2 agree in direction"."""
    verb = {DIRECTION: "agree in direction"}
    return {word: f"{number} {verb.get(word, word) if number > 1 else word}" for word, number in counts(shown).items()}
