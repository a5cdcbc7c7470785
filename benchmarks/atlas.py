"""Computes the atlas of the home page: estimates of one trial at each grid point, success rates of others.

    python -m benchmarks.atlas FOLDER lrlab/ui/assets/files/atlas.bin

FOLDER keeps the trials, so that an interrupted computation continues. About a quarter of an hour on one core.

The file is gzipped: the length of a JSON header, the header, and estimates as bytes. Data are nested along the number
of measurements, so moving right adds measurements to the same experiment. Positions of sparse signals are relabeled and
signs flipped for display, so that supports are nested, too: Gaussian designs and the solvers are equivariant.
"""

import gzip
import json
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import lrlab
from lrlab.engine.results import LocalResults

FRAMES, SEED, P, SIDE = 8, 7, 200, 16
REACH = 1.6
"""Largest value that a byte holds, over the largest entry of the ground truth."""


RAMPS = {
    "light": ("#eef1f4", "#b7d3ea", "#4f94cf", "#0a4a8f"),
    "dark": ("#1a222b", "#1d466d", "#2f7fc4", "#a9d6ff"),
}
"""Colors of success rates from 0 to 1 on light and on dark pages."""
NAMES = {
    "gamp": "GAMP",
    "nbiht": "NBIHT",
    "marginal-mean": "Marginal mean",
    "gauss-newton": "Gauss-Newton",
    "altmin": "AltMin",
}


class Words(NamedTuple):
    """What the page says of a diagram: its title, titles of the axes, ticks of both, the meaning of its lines."""

    title: str
    axes: tuple[str, str]
    ticks: tuple[Sequence[int], Sequence[int]]
    lines: str


class Kind(NamedTuple):
    """A phase diagram: model, fixed parameters, axes (x, y), solvers with trials of their rates, metric, success.

    start: the column and the row that the page shows first.
    """

    model: str
    held: dict[str, Any]
    axes: dict[str, list[int]]
    solvers: dict[str, int]
    metric: str
    succeeds: Callable[[Any], Any]
    words: Words
    start: tuple[int, int]

    @property
    def facts(self) -> dict[str, Any]:
        """What the page shows of the diagram besides its solvers; positions of ticks and lines are in grid points."""
        xs, ys = self.axes.values()
        sparse = self.model == "one-bit-sensing"
        ticks = [
            [[f"{tick:,}", step] for tick, step in zip(ticks, steps(values, ticks, sparse), strict=True)]
            for ticks, values in zip(self.words.ticks, (xs, ys), strict=True)
        ]
        degrees = (
            [] if sparse else [[step, j] for j, step in enumerate(steps(xs, [k * (2 * SIDE - k) for k in ys], False))]
        )
        run = {"model": self.model, **self.held, "seed": SEED}
        return {
            **self.words._asdict(),
            "ticks": ticks,
            "degrees": degrees,
            "run": run,
            "names": [*self.axes],
            "start": self.start,
        }

    def spec(self, *at: int) -> Any:
        """Return the spec of a grid point, or of the first."""
        place = at or tuple(values[0] for values in self.axes.values())
        return lrlab.spec(self.model, **self.held, **dict(zip(self.axes, place, strict=True)), seed=SEED)


BITS = sorted({round(value) for value in np.geomspace(20, 1600, 24)})
ENTRIES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 60, 75, 90, 110]
KINDS = {
    "onebit": Kind(
        "one-bit-sensing",
        {"p": P, "noise": 0.1, "entries": "equal"},
        {"n": BITS, "sparsity": ENTRIES},
        {"gamp": 20, "nbiht": 6, "marginal-mean": 8},
        "support",
        lambda support: support > 0.999,
        Words(
            "A sparse signal",
            ("bits n", "non-zero entries s"),
            ([20, 50, 100, 200, 500, 1000], [1, 2, 5, 10, 20, 50, 100]),
            "Line: half of the trials find all entries.",
        ),
        (10, 9),
    ),
    "rankone": Kind(
        "rank-one-sensing",
        {"d1": SIDE, "d2": SIDE, "truth": "phantom"},
        {"m": [round(value) for value in np.linspace(24, 392, 24)], "rank": list(range(1, 9))},
        {"gauss-newton": 10, "altmin": 6},
        "error",
        lambda error: error < 1e-3,
        Words(
            "An image of low rank",
            ("measurements m", "rank k"),
            (range(50, 351, 50), range(1, 9)),
            "Solid: half of the trials are exact. Dashed: degrees of freedom, k(32 − k).",
        ),
        (9, 3),
    ),
}


def steps(values: Sequence[float], marks: Sequence[float], log: bool) -> list[float]:
    """Return the positions of marks among the values of an axis, in steps."""
    scale = np.log if log else np.asarray
    return np.interp(scale(marks), scale(values), np.arange(len(values))).round(3).tolist()


def contour(rate: Sequence[Sequence[float]]) -> list[list[list[float]]]:
    """Return the lines along which half of the trials succeed, as positions (column, row) in grid points."""
    pieces: list[list[list[float]]] = [[]]
    for j, row in enumerate(rate):
        rises = [i for i in range(1, len(row)) if row[i - 1] < 0.5 <= row[i]]
        if rises:
            low, high = row[rises[-1] - 1], row[rises[-1]]
            pieces[-1].append([round(rises[-1] - 1 + (0.5 - low) / (high - low), 3), j])
        else:
            pieces.append([])
    return [piece for piece in pieces if piece]


def ramp(colors: Sequence[str]) -> list[str]:
    """Return colors for success rates in steps of 0.05."""
    parts = np.array([[int(color[k : k + 2], 16) for k in (1, 3, 5)] for color in colors])
    at = np.linspace(0, len(colors) - 1, 21)
    mixed = np.stack([np.interp(at, range(len(colors)), part) for part in parts.T], axis=1).round().astype(int)
    return ["#" + "".join(f"{part:02x}" for part in color) for color in mixed]


def dense(estimate: Any) -> Any:
    """Return an estimate as an array."""
    return np.asarray(estimate if isinstance(estimate, np.ndarray) else (estimate[0] * estimate[1]) @ estimate[2].T)


def relabeling(truth: Any) -> Callable[[Any], Any]:
    """Return what relabels positions and flips signs of a sparse vector, so that supports are nested."""
    rng = np.random.default_rng(3)
    place, wanted = rng.permutation(P), rng.choice([-1.0, 1.0], P)
    support = np.flatnonzero(truth)
    to, sign = np.empty(P, int), np.ones(P)
    to[support], to[np.setdiff1d(np.arange(P), support)] = place[: len(support)], place[len(support) :]
    sign[support] = wanted[: len(support)] * np.sign(truth[support])

    def moved(vector: Any) -> Any:
        made = np.empty(P)
        made[to] = sign * vector / (np.linalg.norm(vector) or 1.0)
        return made

    return moved


def frames(trace: Any) -> tuple[list[Any], list[int], list[float]]:
    """Return estimates evenly spaced in the logarithm of the iteration, their iterations, and their errors."""
    kept = [*trace.history]
    if kept[-1][0] != trace.iterations:
        kept.append((trace.iterations, trace.estimate))
    at = np.unique([0, *(np.geomspace(1, len(kept), FRAMES - 1).round().astype(int) - 1)])
    at = np.concatenate([at, np.repeat(at[-1], FRAMES)])[:FRAMES]
    at[-1] = len(kept) - 1
    errors = {int(row["iteration"]): float(f"{row['error']:.3g}") for row in trace.rows}
    return [dense(kept[k][1]) for k in at], [kept[k][0] for k in at], [errors[kept[k][0]] for k in at]


def as_bytes(values: Any, scale: float) -> Any:
    """Return values as signed bytes."""
    return np.clip(np.round(127 * values.ravel() / scale), -127, 127).astype(np.int8)


def computed(kind: Kind, folder: Path, at: int) -> tuple[dict[str, Any], list[Any]]:
    """Return the header of a kind, whose bytes begin at a place of the file, and its bytes."""
    xs, ys = kind.axes.values()
    sparse = kind.model == "one-bit-sensing"
    truths = [dense(kind.spec(xs[-1], y).build().truth) for y in ys]
    moves: list[Callable[[Any], Any]] = [relabeling(truth) if sparse else np.ravel for truth in truths]
    truths = [move(truth) for move, truth in zip(moves, truths, strict=True)]
    scales = [REACH * abs(truth).max() for truth in truths]
    blobs = [np.concatenate([as_bytes(*pair) for pair in zip(truths, scales, strict=True)])]
    head: dict[str, Any] = {**kind.facts, "x": xs, "y": ys, "size": truths[0].size, "truth": at, "solvers": {}}
    for solver, trials in kind.solvers.items():
        points = [(j, *frames(lrlab.solve(kind.spec(x, y), solver))) for j, y in enumerate(ys) for x in xs]
        made = np.array([[as_bytes(moves[j](one), scales[j]) for one in several] for j, several, _, _ in points])
        number = FRAMES if max(max(own) for _, _, own, _ in points) > 1 else 1
        made = made[:, FRAMES - number :]
        if number > 1:
            # Neighbors along the iterates are alike: differences compress better.
            steps = np.diff(made.astype(np.int16)[:, ::-1], axis=1).astype(np.int8)
            made = np.concatenate([made[:, -1:], steps], axis=1)
        facts = {"at": at + sum(map(len, blobs)), "frames": number}
        facts["iterations"] = [own[FRAMES - number :] for _, _, own, _ in points]
        facts["errors"] = [own[FRAMES - number :] for _, _, _, own in points]
        rate = rates(kind, solver, trials, folder)
        shown = {"name": NAMES[solver], "contour": contour(rate), "rate": rate, "trials": trials}
        head["solvers"][solver] = {**facts, **shown}
        blobs.append(made.ravel())
    return head, blobs


def rates(kind: Kind, solver: str, trials: int, folder: Path) -> list[list[float]]:
    """Return the success rates of a solver, a row for each value of the second axis."""
    axes: dict[str, Sequence[int]] = dict(kind.axes)
    store = str(folder / f"{kind.model}.sqlite")
    table = pd.DataFrame(lrlab.sweep(kind.spec(), axes, [solver], trials, store=store, start=LocalResults))
    table["succeeds"] = kind.succeeds(table[kind.metric])
    x, y = kind.axes
    rows: list[list[float]] = table.pivot_table(index=y, columns=x, values="succeeds").round(3).to_numpy().tolist()
    return rows


def main() -> None:
    """Write the atlas."""
    folder, file = map(Path, sys.argv[1:])
    diagrams, blobs = dict[str, Any](), list[Any]()
    for name, kind in KINDS.items():
        diagrams[name], own = computed(kind, folder, sum(map(len, blobs)))
        blobs += own
    write(file, diagrams, np.concatenate(blobs).tobytes())


def write(file: Path, diagrams: dict[str, Any], data: bytes) -> None:
    """Write the file: a header, and bytes."""
    header = {"ramps": {theme: ramp(colors) for theme, colors in RAMPS.items()}, "diagrams": diagrams}
    text = json.dumps(header, separators=(",", ":")).encode()
    file.write_bytes(gzip.compress(struct.pack("<I", len(text)) + text + data, 9, mtime=0))


if __name__ == "__main__":
    main()
