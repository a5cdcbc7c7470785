"""Claims of a paper: the tables [[claims]] of preset files, printed numbers, and formulas of growth; their verdicts.

A claim has the paper's words (`paper`), a panel, and a `rule` with its keys, see `rules`. A `remark` has a text and its
own rule, and appears if that rule holds. Every claim of a file has a verdict: if the run omits a series, panel or data
set of the claim, the claim is not decided.

A series may have formulas that bound its exponent from above, by axis: `claimed` for times, `memory` for memory.
`paper` quotes the formula; `why` explains a formula that does not hold.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd

from lrlab.presets import printed, rules
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, power
from lrlab.presets.items import COSTS
from lrlab.presets.result import FAILED, NOT_RUN, TOO_FEW, UNDECIDED, Judged, Result, Verdict

RULES = {**rules.RULES, **printed.RULES}
SERIES = ("series", "lower", "higher")
"""Keys of a rule that name series."""


def of_panel(preset: Preset, panel: str) -> list[Toml]:
    """Return the claims that belong to a panel."""
    first = preset.all_panels[0]
    return [claim for claim in preset.content.get("claims", ()) if claim.get("panel", first) == panel]


def verdicts(preset: Preset, panel: str, samples: Samples) -> list[Verdict]:
    """Return the verdicts on the claims that belong to a panel."""
    return [verdict(claim, samples) for claim in of_panel(preset, panel)]


def on_numbers(numbers: Mapping[str, Mapping[Any, float]], samples: Samples, best: int = 0) -> list[Verdict]:
    """Return the verdicts on printed numbers, by series and place, see `printed.claims_of`."""
    return [verdict(claim, samples, quoted=False) for claim in printed.claims_of(numbers, best)]


def verdict(claim: Toml, samples: Samples, quoted: bool = True) -> Verdict:
    """Return the verdict on a claim: a table with the paper's words and a rule."""
    judged = judge(claim, samples)
    remark = claim.get("why", "") if judged.word == FAILED else ""
    if (more := claim.get("remark")) and (further := judge(more, samples)).holds:
        remark = f"{more['text']} ({further.measured})."
    return Verdict(claim["paper"], judged.measured, judged.word, remark, claim, samples, quoted)


def judge(rule: Toml, samples: Samples) -> Judged:
    """Return the judgement of a rule on the samples.

    If a series of the rule is missing, the rule can fail, but not hold.
    """
    absent = [name for name in named(rule) if name not in samples.values]
    present = {key: [name for name in rule[key] if name not in absent] for key in SERIES if key in rule}
    missing = f"{NOT_RUN}: {', '.join(absent)}"
    if not all(present.values()):
        return Judged(None, missing)
    judged = RULES[rule["rule"]].judge({**rule, **present}, samples)
    if absent:
        return judged._replace(holds=judged.holds and None, measured=f"{judged.measured}; {missing}")
    # A series has a single trial at some place, without a sampling error.
    single = any(
        len(values) < 2 and not samples.error(name, place)
        for name in rule.get("printed", named(rule))
        for place, values in samples.values.get(name, {}).items()
    )
    few = single and judged.holds is None and TOO_FEW not in judged.measured
    return judged._replace(measured=f"{judged.measured}; {TOO_FEW}") if few else judged


def named(rule: Toml) -> list[str]:
    """Return the series in a rule."""
    return [label for key in SERIES for label in rule.get(key, ())]


def complete(preset: Preset, result: Result) -> Result:
    """Return a result with the verdict *not decided* on each claim of an omitted panel."""
    shown, lines = {panel.title for panel in result.panels}, list[dict[str, Any]]()
    for title in (title for title in preset.all_panels if title not in shown):
        claimed = [(claim["paper"], True) for claim in of_panel(preset, title)]
        # Panels of fits have printed numbers.
        claimed += [(text, False) for text in (printed.NUMBERS, printed.RANKING) if preset.data]
        for text, quoted in claimed:
            verdict = Verdict(text, f"this panel was {NOT_RUN}", UNDECIDED, quoted=quoted)
            lines.append({"level": "claim", **verdict.columns, "panel": title, "claim": text})
    return replace(result, table=pd.concat([result.table, pd.DataFrame(lines)], ignore_index=True)) if lines else result


def caption(judged: Sequence[Verdict]) -> str:
    """Return the sentences of verdicts, to append to a caption."""
    return "".join(f" {verdict.sentence}" for verdict in judged)


def rows(judged: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return the verdicts as rows of a table."""
    return [{"level": "claim", **verdict.columns} for verdict in judged]


def exponents(
    preset: Preset, panel: Toml, axis: str, measured: Mapping[str, Samples]
) -> tuple[list[dict[str, Any]], str, list[Verdict]]:
    """Return the exponents of a panel's series as rows of the table and in words, and the verdicts on formulas.

    measured: the numbers of trials by column of costs, or by "".
    """
    every = [*preset.series, *preset.content.get("left_out", ())]
    series = [one for one in every if one["label"] in panel.get("only", [one["label"]])]
    if not any("claimed" in one or "memory" in one for one in every):
        return [], "", []
    lines, sentences, judged = list[dict[str, Any]](), list[str](), list[Verdict]()
    for (column, samples), one in product(measured.items(), series):
        label, said = one["label"], {"quantity": COSTS[column]} if column else {}
        key = "memory" if column == "megabytes" else "claimed"
        slope, (low, high) = power(samples, [label], {})
        line = {"level": "series", "series": label, "exponent": slope, "low_95": low, "high_95": high, **said}
        words = f"{label} {slope:.2f} ({low:.2f} to {high:.2f})" if slope == slope else f"{label} unknown"
        if axis in one.get(key, {}) and panel.get("judged", True):
            bound = one[key][axis]
            # The paper's words in a series are about time.
            of_memory = f"memory of the data and of the method: at most {axis}^{bound:g}"
            claim = {"paper": of_memory if key == "memory" else one["paper"], "why": one.get("why", "")}
            claim |= {"rule": "exponent", "series": [label], "level": bound}
            judged.append(verdict(claim, samples, quoted=False))
            line |= {"claimed": bound, **judged[-1].columns}
            words += f", formula {bound:.3g}: {judged[-1].word}"
        lines.append(line)
        sentences += [": ".join([*said.values(), words])] if label in samples.values else []
    return lines, f" Exponents of {axis}: {'; '.join(sentences)}.", judged
