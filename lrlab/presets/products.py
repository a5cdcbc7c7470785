"""Presets of kind `products`: LEML's fast products against direct ones, and on several threads (Yu et al. 2014).

The gradient and the Hessian product of the factor W (eq. 8 and 9) on drawn rows, squared loss. A panel along
`features_per_row` shows by how much the fast ones (eq. 10 and 11) are faster than products with a stored table of the
rows h_j (x) x_i, and, dashed, how many times as many multiplications that table takes; one along `threads` by how much
rows in as many parts are faster than all of them on one. Speed-ups are ratios of times that were taken in turn.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array, diags_array, hstack

from lrlab.arrays import Array
from lrlab.figures.series import series as draw
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem
from lrlab.parameters import InputError, require_known
from lrlab.presets import claims
from lrlab.presets.cases import axes_path, axis_of
from lrlab.presets.definition import Preset
from lrlab.presets.evidence import samples_of
from lrlab.presets.result import Panel, Plan, Result, assembled, panel_table
from lrlab.runs.memory import cores
from lrlab.solvers.multilabel.label_losses import SQUARED
from lrlab.solvers.multilabel.labels import Labels
from lrlab.solvers.multilabel.leml_steps import Risk

AXES = {"features_per_row": "features of a row that are not 0", "threads": "threads"}
PRODUCTS = ("gradient", "Hessian product")
REPEATS = 7
Action = Callable[[], Array]


@dataclass(frozen=True)
class ProductTrial:
    """A measurement: a panel, a value on its axis, the rows (whose rank is that of W), the number of the trial."""

    panel: str
    axis: str
    value: int
    spec: Multilabel
    trial: int


def plan(preset: Preset, trials: int | None = None) -> Plan:
    """Return the measurements of all panels; those of more threads than there are cores are left out."""
    items = []
    for number, panel in enumerate(preset.panels):
        path = ("panels", number)
        axis, values = axis_of(preset, path)
        spec: Any = preset.spec(path)
        with preset.source.locate(axes_path(preset, path)):
            require_known(axis, AXES, what="axis")
            if not all(type(value) is int and 0 < value <= spec.d for value in values):
                raise InputError(axis, f"whole numbers in 1..{spec.d}", values, "write such numbers")
        for label in (series["label"] for series in preset.series):
            require_known(label, PRODUCTS, what="series")
        values = [value for value in values if axis != "threads" or value <= cores()]
        numbers = range(trials or preset.content["trials"])
        items += [ProductTrial(panel["title"], axis, value, spec, trial) for value in values for trial in numbers]
    items.sort(key=lambda item: item.trial)
    return Plan(measure, items, lambda rows: figures(preset, [row for row in rows if row is not None]))


def measure(item: ProductTrial) -> dict[str, Any]:
    """Return the speed-up of both products, and that in multiplications."""
    density = item.value / item.spec.d if item.axis == "features_per_row" else item.spec.density
    spec = item.spec.replace(density=density, seed=item.spec.seed + item.trial)
    problem, rng = spec.build(), np.random.default_rng(spec.seed)
    W, S, H = (rng.standard_normal((size, spec.rank)) for size in (spec.d, spec.d, spec.labels))
    row = {"panel": item.panel, item.axis: item.value, "trial": item.trial, "seed": spec.seed}
    if item.axis == "threads":
        with ThreadPoolExecutor(item.value) as pool:
            slow, fast = in_parts(problem, W, S, H, 1, pool), in_parts(problem, W, S, H, item.value, pool)
            return row | {name: speed_up(*pair) for name, *pair in zip(PRODUCTS, slow, fast, strict=True)}
    observed, stored = spec.observed_entries, problem.X.nnz
    work = observed * stored / spec.n / (observed + stored + spec.d)
    slow, fast = direct(problem, W, S, H), in_parts(problem, W, S, H, 1, None)
    return row | {name: speed_up(*pair) for name, *pair in zip(PRODUCTS, slow, fast, strict=True)} | {"work": work}


def speed_up(slow: Action, fast: Action) -> float:
    """Return the ratio of median times, taken in turn."""
    seconds = [[timed(action) for action in (slow, fast)] for _ in range(REPEATS + 1)][1:]
    return float(np.divide(*np.median(seconds, axis=0)))


def timed(action: Action) -> float:
    """Return the seconds that an action takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def in_parts(
    problem: MultilabelProblem, W: Array, S: Array, H: Array, count: int, pool: ThreadPoolExecutor | None
) -> tuple[Action, Action]:
    """Return the fast gradient at W and the Hessian product with S, of rows in parts on as many threads."""
    cuts = np.linspace(0, len(problem.Y.indptr) - 1, count + 1).astype(int)
    parts = [Risk(labels_of(problem, slice(*ends)), 0.0).of_features(H) for ends in zip(cuts, cuts[1:], strict=False)]
    products = [part.derivatives(W)[1] for part in parts]
    run: Any = map if count == 1 or pool is None else pool.map
    return (
        lambda: sum(run(lambda part: part.derivatives(W)[0], parts)),
        lambda: sum(run(lambda product: product(S), products)),
    )


def labels_of(problem: MultilabelProblem, rows: slice) -> Labels:
    """Return the labels observed of some rows."""
    part: Any = SimpleNamespace(X=problem.X[rows], Y=problem.Y[rows], mask=problem.mask[rows], intercept=False)
    return Labels(part, SQUARED)


def direct(problem: MultilabelProblem, W: Array, S: Array, H: Array) -> tuple[Action, Action]:
    """Return both with a stored table of the rows h_j (x) x_i, one for each label observed (eq. 8 and 9)."""
    rows, columns = problem.mask.nonzero()
    Z = csr_array(hstack([diags_array(H[columns, c]) @ problem.X[rows] for c in range(H.shape[1])]))
    y, w, s = problem.Y.toarray()[rows, columns], W.T.ravel(), S.T.ravel()
    shape = W.shape[::-1]
    return lambda: (Z.T @ (Z @ w - y)).reshape(shape).T, lambda: (Z.T @ (Z @ s)).reshape(shape).T


def exactly(name: str, values: pd.Series) -> pd.DataFrame:
    """Return exact values of a series along the index, as lines of theory without a band."""
    return pd.DataFrame(
        {"kind": "predicted", "series": name, "x": values.index, "y": values, "low": np.nan, "high": np.nan}
    )


def figures(preset: Preset, rows: Sequence[dict[str, Any]]) -> Result:
    """Return a panel for each axis: medians and quartiles of the speed-ups."""
    trials, parts = pd.DataFrame(rows), []
    for number, panel in enumerate(preset.panels):
        axis, title = axis_of(preset, ("panels", number))[0], panel["title"]
        own = trials[trials["panel"] == title]
        if own.empty:
            continue
        points = pd.concat([summary(own, axis, label) for label in (one["label"] for one in preset.series)])
        work = own.groupby(axis)["work"].mean() if "work" in own and own["work"].notna().any() else None
        theory = None if work is None else exactly("multiplications", work)
        log = axis != "threads"
        figure = draw(points, axis_title=AXES[axis], value_title="speed-up", theory=theory, log_x=log, log_y=log)
        long = own.melt([axis, "trial"], [one["label"] for one in preset.series], "series", "y")
        judged = claims.verdicts(preset, title, samples_of(long, axis, "y"))
        machine = f" This machine has {cores()} cores." if axis == "threads" else ""
        words = f"Ratios of times; dots: medians, bars: quartiles.{machine}{claims.caption(judged)}"
        table = points.rename(columns={"x": axis, "y": "speed_up"})
        parts.append(
            (Panel(title, figure, words, judged), panel_table(title, "multilabel", table, claims.rows(judged)))
        )
    return assembled(parts, trials)


def summary(rows: pd.DataFrame, axis: str, label: str) -> pd.DataFrame:
    """Return the median and quartiles of a speed-up at each value of the axis."""
    groups = rows.groupby(axis)[label]
    low, middle, high = (groups.quantile(share) for share in (0.25, 0.5, 0.75))
    columns = {"x": middle.index, "y": middle, "low": low, "high": high, "trials": groups.size(), "series": label}
    return pd.DataFrame(columns).reset_index(drop=True)
