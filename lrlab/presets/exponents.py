"""Exponents of series along an axis beside those of formulas, which bound them from above.

A series has the exponents by axis: `claimed` of times, `memory` of memory, along the axes of `logarithms` with the
logarithm of the size as a factor, too. `paper` are the words of the formula, `why` is said if it does not hold.
"""

import math
from typing import Any

import numpy as np
import pandas as pd

from lrlab.presets import claims
from lrlab.presets.definition import Preset, Toml
from lrlab.presets.evidence import Samples, samples_of
from lrlab.presets.items import COSTS
from lrlab.presets.result import FAILED, REPRODUCED, Verdict
from lrlab.presets.rules_slopes import exponent

KEYS = {"processor": "claimed", "megabytes": "memory"}


def exponents(
    preset: Preset, panel: Toml, axis: str, rows: pd.DataFrame, values: pd.DataFrame
) -> tuple[list[dict[str, Any]], str, list[Verdict]]:
    """Return the exponents of a panel's series as rows of the table and in words, with verdicts on the claimed ones."""
    every = [*preset.series, *preset.content.get("left_out", ())]
    shown = [one for one in every if one["label"] in panel.get("only", [one["label"]])]
    if not any("claimed" in one or "memory" in one for one in every):
        return [], "", []
    costs = {key: samples_of(rows, axis, key) for key in COSTS if key in rows}
    measured = costs or {"": samples_of(values, "x", "value")}
    lines, sentences, judged = list[dict[str, Any]](), list[str](), list[Verdict]()
    for column, samples in measured.items():
        said = {"quantity": COSTS[column]} if costs else {}
        for one in shown:
            label, bound = one["label"], one.get(KEYS.get(column, "claimed"), {}).get(axis)
            slope, (low, high) = exponent(samples, label)
            line = {"level": "series", "series": label, "exponent": slope, "low_95": low, "high_95": high, **said}
            words = f"{label} {slope:.2f} ({low:.2f} to {high:.2f})" if slope == slope else f"{label} unknown"
            if bound is not None and panel.get("judged", True):
                verdict, bound = _verdict(one, axis, samples, bound, column == "megabytes")
                judged.append(verdict)
                line |= {"claimed": bound, **verdict.columns}
                words += f", formula {bound:.3g}: {verdict.word}"
            lines.append(line)
            sentences += [f"{said['quantity']}: {words}" if said else words] if label in samples.values else []
    return lines, f" Exponents of {axis}: {'; '.join(sentences)}.", judged


def _verdict(one: Toml, axis: str, samples: Samples, bound: float, memory: bool) -> tuple[Verdict, float]:
    """Return the verdict on an exponent of a series, and the exponent with what a logarithm adds."""
    label, formula = one["label"], f"{axis}^{bound:g}"
    # The text of a series is on its time.
    said = f"memory of the data and of what the method holds: at most {formula}" if memory else one.get("paper", label)
    if axis in one.get("logarithms", ()):
        formula, bound = f"{formula} log({axis})", bound + of_logarithm(samples, label)
    claim = {"paper": said, "rule": "exponent", "series": [label], "claimed": bound, "axis": axis}
    verdict, (_, high) = claims.verdict(claim, samples, formula), exponent(samples, label)[1]
    below = "It grows more slowly than the formula, which bounds it from above." if high < bound else ""
    remark = {REPRODUCED: below, FAILED: one.get("why", "")}.get(verdict.word, "")
    return verdict._replace(remark=remark), bound


def of_logarithm(samples: Samples, series: str) -> float:
    """Return what a factor log(size) adds to an exponent over the sizes of a series: .19 from 100 to 500."""
    logarithms = {place: np.array([math.log(float(place))]) for place in samples.values.get(series, ())}
    slope, _ = exponent(Samples({series: logarithms}), series)
    return slope if slope == slope else 0.0
