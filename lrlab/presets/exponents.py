"""Measured exponents of series along an axis, compared with formulas that bound them from above.

A series has exponents by axis: `claimed` for times, `memory` for memory. Along the axes in `logarithms` the formula has
the logarithm of the size as a further factor. `paper` quotes the formula; `why` explains a formula that does not hold.
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
    """Return the exponents of a panel's series as rows of the table and in words, and the verdicts on formulas."""
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
    """Return the verdict on an exponent of a series, and the formula's exponent with the share of its logarithm."""
    label, formula = one["label"], f"{axis}^{bound:g}"
    # The paper's words in a series are about time.
    said = f"memory of the data and of the method: at most {formula}" if memory else one.get("paper", label)
    if axis in one.get("logarithms", ()):
        formula, bound = f"{formula} log({axis})", bound + of_logarithm(samples, label)
    claim = {"paper": said, "rule": "exponent", "series": [label], "claimed": bound, "axis": axis}
    verdict, (_, high) = claims.verdict(claim, samples, formula), exponent(samples, label)[1]
    below = "It grows more slowly than the formula, which bounds it from above." if high < bound else ""
    remark = {REPRODUCED: below, FAILED: one.get("why", "")}.get(verdict.word, "")
    return verdict._replace(remark=remark), bound


def of_logarithm(samples: Samples, series: str) -> float:
    """Return how much a factor log(size) adds to an exponent over the sizes of a series: 0.19 from 100 to 500."""
    logarithms = {place: np.array([math.log(float(place))]) for place in samples.values.get(series, ())}
    slope, _ = exponent(Samples({series: logarithms}), series)
    return slope if slope == slope else 0.0
