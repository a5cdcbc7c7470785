"""Claims of a paper, the tables [[claims]] of preset files, and printed numbers; and the verdicts on both.

A claim has the paper's words (`paper`), a panel, and a `rule` with its keys: see `rules` and `rules_slopes`. A `remark`
has a text and its own rule, and appears if that rule holds. Every claim of a file has a verdict: if the run omits a
series, panel or data set of the claim, the claim is not decided.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from lrlab.presets import rules
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import ARRANGEMENTS, Samples
from lrlab.presets.result import NOT_RUN, TOO_FEW, UNDECIDED, Judged, Result, Verdict
from lrlab.presets.rules_numbers import NUMBER_RULES
from lrlab.presets.rules_slopes import EXPONENT, SLOPE_RULES

RULES = {**rules.RULES, **SLOPE_RULES}
"""Rules of claims in files."""
ALL_RULES = {**RULES, "exponent": EXPONENT, **NUMBER_RULES}
"""These, and the rules of printed exponents and numbers, which need no table [[claims]]."""


SERIES = ("series", "lower", "higher")
"""Keys of a rule that name series."""
NUMBERS, RANKING = "the numbers of the table", "the order of the methods in the table"
"""Claims of printed numbers."""


def verdicts(preset: Preset, panel: str, samples: Samples) -> list[Verdict]:
    """Return the verdicts on the claims that belong to a panel."""
    return [verdict(claim, samples) for claim in of_panel(preset, panel)]


def of_panel(preset: Preset, panel: str) -> list[Toml]:
    """Return the claims that belong to a panel."""
    return [claim for claim in preset.content.get("claims", ()) if _panel(preset, claim) == panel]


def verdict(claim: Toml, samples: Samples, predicted: str = "", remark: str = "") -> Verdict:
    """Return the verdict on a claim: a table with the paper's words and a rule."""
    judged, added = judge(claim, samples), remark
    if more := claim.get("remark"):
        judged_remark = judge(more, samples)
        added = f"{more['text']} ({judged_remark.measured})." if judged_remark.holds else remark
    quoted = claim["rule"] in RULES
    return Verdict(claim["paper"], judged.measured, predicted, judged.word, added, claim, samples, quoted)


def judge(rule: Toml, samples: Samples) -> Judged:
    """Return the judgement of a rule on the samples.

    If a series of the rule is missing, the rule can fail, but not hold.
    """
    absent = [name for name in named(rule) if name not in samples.values]
    if not absent:
        judged = ALL_RULES[rule["rule"]].judge(rule, samples)
        few = judged.holds is None and TOO_FEW not in judged.measured and _single(rule, samples)
        return judged._replace(measured=f"{judged.measured}; {TOO_FEW}") if few else judged
    words = f"{NOT_RUN}: {', '.join(absent)}"
    present = {key: [name for name in rule[key] if name not in absent] for key in SERIES if key in rule}
    if not all(present.values()):
        return Judged(None, words)
    judged = ALL_RULES[rule["rule"]].judge({**rule, **present}, samples)
    return judged._replace(holds=False if judged.holds is False else None, measured=f"{judged.measured}; {words}")


def _single(rule: Toml, samples: Samples) -> bool:
    """Return whether a series has a single trial at some place, without a sampling error."""
    return any(
        len(values) < 2 and not samples.error(name, place)
        for name in rule.get("printed", named(rule))
        for place, values in samples.values.get(name, {}).items()
    )


def named(rule: Toml) -> list[str]:
    """Return the series in a rule."""
    return [label for key in SERIES for label in rule.get(key, ())]


def complete(preset: Preset, result: Result) -> Result:
    """Return a result with the verdict *not decided* on each claim of an omitted panel."""
    shown = {panel.title for panel in result.panels}
    claimed = [(_panel(preset, claim), claim["paper"]) for claim in preset.content.get("claims", ())]
    # Panels of fits have printed numbers.
    claimed += [(title, text) for title in preset.all_panels for text in (NUMBERS, RANKING) if preset.data]
    lines = [
        {**Verdict(text, f"this panel was {NOT_RUN}", "", UNDECIDED, quoted=text not in (NUMBERS, RANKING)).columns}
        | {"level": "claim", "panel": title, "claim": text}
        for title, text in claimed
        if title not in shown
    ]
    return replace(result, table=pd.concat([result.table, pd.DataFrame(lines)], ignore_index=True)) if lines else result


def caption(judged: Sequence[Verdict]) -> str:
    """Return the sentences of verdicts, to append to a caption."""
    return "".join(f" {verdict.sentence}" for verdict in judged)


def rows(judged: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return the verdicts as rows of a table."""
    return [{"level": "claim", **verdict.columns} for verdict in judged]


def printed(numbers: Mapping[str, Mapping[Any, float]], samples: Samples, best: int = 0) -> list[Verdict]:
    """Return the verdicts on printed numbers, by series and place: on the numbers of each method, and on their order.

    best: 1 if large numbers are better, -1 if small ones are, 0 if neither. One verdict covers all methods if the table
    has so few places that the numbers of one method could agree by chance.
    """
    own = {name: {at: value for at, value in row.items() if value == value} for name, row in numbers.items()}
    own = {name: row for name, row in own.items() if row}
    if not own:
        return []
    digits = max(len(str(value).partition(".")[2]) for row in own.values() for value in row.values())
    table = {"printed": own, "unit": 10.0**-digits, "best": best}
    ways = [math.prod(sum(place in other for other in own.values()) for place in row) for row in own.values()]
    groups = [[name] for name in own] if min(ways) >= ARRANGEMENTS else [list(own)]
    claimed = [(f"{NUMBERS}, {names[0]}" if len(groups) > 1 else NUMBERS, "numbers", names) for names in groups]
    claimed += [(RANKING, "ranking", list(own))] if len(own) > 1 else []
    return [verdict({"paper": text, "rule": rule, "series": names, **table}, samples) for text, rule, names in claimed]


def _panel(preset: Preset, claim: Toml) -> str:
    return str(claim.get("panel", preset.all_panels[0]))
