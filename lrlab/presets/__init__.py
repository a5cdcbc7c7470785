"""Figures of papers, and lessons: one TOML file each, and the code that turns any of them into a figure and a table.

A file is a sweep definition with a table `figure`, see `definition`; a further figure of a known kind is one more file.
"""

import os
import tomllib
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
from lrlab.runs.trial import Progress, silent

if TYPE_CHECKING:
    from lrlab.presets.definition import Preset
    from lrlab.presets.published import Sets
    from lrlab.presets.result import Line, Plan, Result


def names() -> list[str]:
    """Return the names of all presets."""
    return sorted(file.name.removesuffix(".toml") for file in files(__name__).iterdir() if file.name.endswith(".toml"))


@cache
def theorems(model: str) -> list[tuple[str, str]]:
    """Return names and titles of the theorems on a model, without reading them as presets: pages ask when they open."""
    listed = list[tuple[str, str]]()
    for name in names():
        content = tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
        models = {table.get("model") for table in (content, *content.get("series", ()))}
        if "statement" in content["figure"] and model in models:
            listed.append((name, content["title"]))
    return listed


@cache
def load(name: str, quick: bool = False, at: float | None = None) -> "Preset":
    """Return a preset, or its quick form, at a position of its slider if one is given.

    Raises InputError for an unknown name or position, and with the path of a mistake in its file.
    """
    from lrlab.presets.moved import moved
    from lrlab.presets.quick import quick as quick_form
    from lrlab.presets.reading import read

    require_known(name, tuple(names()), what="preset")
    preset = read(name, files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    preset = preset if at is None else moved(preset, at)
    return quick_form(preset) if quick else preset


def plan(preset: "Preset", trials: int | None = None, data: "str | os.PathLike[str] | Sets | None" = None) -> "Plan":
    """Return what has to be computed, for whoever runs it piece by piece; `trials` overrides the numbers in the file.

    data: the folder with the data sets of a preset that needs some, LRLAB_DATA if not given, or their files by name.
    Raises InputError before anything is run: with the path for an unknown measure, solver, model, axis, parameter or
    setting.
    """
    if trials is not None and (not isinstance(trials, int) or trials < 2):
        raise InputError("trials", "a whole number of 2 or more", trials, "a mean and its spread need two")
    if data is not None and not preset.data:
        raise InputError("data", f"nothing, as {preset.name} draws its own", data, "leave it out")
    from lrlab.presets.claims import complete

    more: dict[str, Any] = {"data": data} if preset.data else {}
    work: Plan = import_module(f"{__name__}.{preset.kind}").plan(preset, trials, **more)
    panels = work.panels or [panel["title"] for panel in preset.panels]
    return replace(work, finish=lambda results: complete(preset, work.finish(results)), panels=panels)


def compute(
    preset: "Preset",
    progress: Progress = silent,
    start: Start = on_workers,
    trials: int | None = None,
    data: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
) -> "Result":
    """Compute a preset; `trials` and `data` are as for `plan`, store: a file whose results are not computed again."""
    from lrlab.presets.resumed import Resumed
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
    """Compute a preset, or its quick form, and write OUT/NAME.html, .csv and -trials.csv; return their paths.

    By default the trials run on the engine; at: the position of its slider, if it has one; other parameters are as for
    `compute`. The page holds all panels and needs
    no other file. The first table has the points with their predictions and, in rows of their own (`level`), the
    summary of each panel; the second has every trial with the seed that opens it again.
    """
    from lrlab.presets.page import page

    preset, folder = load(name, quick, at), writable(Path(out))
    result = compute(preset, progress, start, trials, data, store)
    paths = [folder / f"{name}{ending}" for ending in (".html", ".csv", "-trials.csv")]
    paths[0].write_text(page(preset, result), encoding="utf-8")
    result.table.to_csv(paths[1], index=False, float_format="%.8g")
    result.trials.to_csv(paths[2], index=False, float_format="%.8g")
    return paths


def verdicts(table: Path) -> "list[Line]":
    """Return a line for each claim of the paper that the table of points and summaries judges."""
    import pandas as pd

    from lrlab.presets.result import lines

    return lines(pd.read_csv(table, dtype=str))


def writable(folder: Path) -> Path:
    """Return a folder, made if it is not there; InputError where nothing can be written to it."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise InputError("out", "a directory that can be written to", folder, "name another one")
