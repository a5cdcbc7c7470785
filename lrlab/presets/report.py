"""Writes one page with all experiments and a table of verdicts, computed or from the results that are shipped."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Start
from lrlab.parameters import InputError
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.page import report
from lrlab.presets.result import Result
from lrlab.runs.trial import Progress, silent


def write(
    out: str | os.PathLike[str],
    quick: bool = False,
    stored: bool = False,
    start: Start = on_workers,
    data: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
    begin: Callable[[str], None] = lambda name: None,
) -> list[Path]:
    """Write OUT/papers.html and a CSV of points for each preset; return their paths.

    quick: compute the quick forms. stored: take the shipped results and compute nothing. store, data: as for
    `presets.run`; what several presets have in common is computed once. A preset whose data is missing, or a trial of
    which failed, is named with the reason. begin(name) is called before each.
    """
    folder = presets.writable(Path(out))
    chosen, results, made = list[Preset](), dict[str, Result](), dict[str, str]()
    paths = [folder / "papers.html"]
    with TemporaryDirectory() as temporary:
        retained = store or Path(temporary) / "results.sqlite"
        for name in presets.names():
            begin(name)
            preset = presets.load(name, quick and not stored)
            chosen.append(preset)
            try:
                results[name], made[name] = (
                    _shipped(name) if stored else _computed(preset, start, data, retained, progress)
                )
            except (InputError, RuntimeError) as error:
                # The others are computed all the same.
                made[name] = f"Not computed: {str(error).rstrip('.')}."
                continue
            paths.append(folder / f"{name}.csv")
            results[name].table.to_csv(paths[-1], index=False, float_format="%.8g")
    paths[0].write_text(report(chosen, results, made), encoding="utf-8")
    return paths


def _shipped(name: str) -> tuple[Result, str]:
    run = shipped.load(name)
    if run is None:
        raise InputError("result", "shipped with the package", "none", "leave out --shipped")
    return run.drawn, run.words


def _computed(
    preset: Preset,
    start: Start,
    data: str | os.PathLike[str] | None,
    store: str | os.PathLike[str],
    progress: Progress,
) -> tuple[Result, str]:
    own = data if preset.data else None
    result = presets.compute(preset, progress, start, data=own, store=store)
    return result, "The quick form: fewer trials and points." if preset.quick else "A full run."
