"""Figures of papers: one TOML file each, and the code that turns a file into a figure and a table.

A file is a sweep definition with a table `figure`, see `definition`. A new figure of a known kind needs only a file.
"""

import os
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lrlab.engine.engine import on_workers
from lrlab.engine.results import Start, collect
from lrlab.parameters import InputError, require_known
from lrlab.runs.run import Progress, silent

if TYPE_CHECKING:
    from lrlab.presets.definition import Preset
    from lrlab.presets.papers import Sets
    from lrlab.presets.result import Plan, Result


def names() -> list[str]:
    """Return the names of all presets."""
    return sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))


@cache
def theorems(model: str) -> list[tuple[str, str]]:
    """Return names and titles of the theorems on a model."""
    own = [preset for preset in map(load, names()) if preset.is_theorem]
    return [(one.name, one.title) for one in own if model in {t.get("model") for t in (one.content, *one.series)}]


@cache
def load(name: str, quick: bool = False, at: float | None = None) -> "Preset":
    """Return a preset, or its reduced run; at: position of its slider.

    InputError for an unknown name or position, or, with its path, for a mistake in the file.
    """
    from lrlab.presets import definition

    require_known(name, tuple(names()), what="preset")
    preset = definition.read(name, files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    preset = preset if at is None else definition.moved(preset, at)
    return definition.quick(preset) if quick else preset


def plan(preset: "Preset", trials: int | None = None, data: "str | os.PathLike[str] | Sets | None" = None) -> "Plan":
    """Return the items to compute and the function that computes one; trials: number per point instead of the file's.

    data: the folder with published data sets, by default LRLAB_DATA, or their files by name. InputError, with the path,
    for an unknown metric, solver, model, axis, parameter or setting.
    """
    if trials is not None and (not isinstance(trials, int) or trials < 2):
        raise InputError("trials", "a whole number of 2 or more", trials, "a mean and its spread need two")
    if data is not None and not preset.data:
        raise InputError("data", f"nothing, as {preset.name} simulates its data", data, "leave it out")
    from lrlab.presets.claims import absent

    more: dict[str, Any] = {"data": data} if preset.data else {}
    work: Plan = import_module(f"{__name__}.{preset.kind}").plan(preset, trials, **more)
    return replace(work, absent=absent(preset))


def compute(
    preset: "Preset",
    progress: Progress = silent,
    start: Start = on_workers,
    trials: int | None = None,
    data: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
) -> "Result":
    """Return the result of a preset; trials, data: as for `plan`; store: a file that keeps results for the next run."""
    from lrlab.presets.result import Resumed
    from lrlab.store.store import Store

    work = plan(preset, trials, data)
    stream = start if store is None else partial(Resumed, open_store=lambda: Store(Path(store)), start=start)
    return work.finish(collect(stream(work.function, work.items), progress))


def run(
    name: str,
    out: str | os.PathLike[str],
    progress: Progress = silent,
    start: Start = on_workers,
    trials: int | None = None,
    data: str | os.PathLike[str] | None = None,
    quick: bool = False,
    store: str | os.PathLike[str] | None = None,
    at: float | None = None,
) -> list[Path]:
    """Compute a preset, or its reduced run, and write OUT/NAME.html, .csv and -trials.csv; return their paths.

    at: position of the slider; other parameters: as for `compute`. By default, trials run on the engine. The page is
    self-contained. The first table has points, predictions and, with another `level`, a summary of each panel; the
    second has every trial with its seed.
    """
    from lrlab.presets.result import page

    preset, folder = load(name, quick, at), writable(Path(out))
    result = compute(preset, progress, start, trials, data, store)
    paths = [folder / f"{name}{ending}" for ending in (".html", ".csv", "-trials.csv")]
    paths[0].write_text(page(preset, result), encoding="utf-8")
    result.table.to_csv(paths[1], index=False, float_format="%.8g")
    result.trials.to_csv(paths[2], index=False, float_format="%.8g")
    return paths


def writable(folder: Path) -> Path:
    """Return a folder, created if necessary; InputError if lrlab cannot write to it."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise InputError("out", "a directory that can be written to", folder, "name another one")
