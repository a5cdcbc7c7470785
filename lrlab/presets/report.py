"""All presets on one self-contained page, computed or shipped."""

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
from lrlab.presets.page import all_pages
from lrlab.presets.result import Result
from lrlab.runs.trial import Progress, silent


def write_report(
    out: str | os.PathLike[str],
    quick: bool = False,
    stored: bool = False,
    start: Start = on_workers,
    data: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    progress: Progress = silent,
    begin: Callable[[str], None] = lambda name: None,
) -> list[Path]:
    """Write OUT/papers.html with all presets, and a CSV of points for each; return their paths.

    quick: compute reduced runs. stored: use the shipped results and compute nothing. store, data: as for
    `presets.run`; lrlab computes a trial that several presets share once. If data is missing or a trial fails, the page
    says why, and the other presets follow. begin(name) is called before each preset.
    """
    folder = presets.writable(Path(out))
    chosen, results, made = list[Preset](), dict[str, Result](), dict[str, str]()
    paths = [folder / "papers.html"]
    with TemporaryDirectory() as temporary:
        shared = store or Path(temporary) / "results.sqlite"
        for name in presets.names():
            begin(name)
            preset = presets.load(name, quick and not stored)
            chosen.append(preset)
            try:
                if stored:
                    results[name], made[name] = _shipped(name)
                else:
                    own = data if preset.data else None
                    results[name] = presets.compute(preset, progress, start, data=own, store=shared)
                    made[name] = "A reduced run: fewer trials and points." if preset.quick else "A full run."
            except (InputError, RuntimeError) as error:
                made[name] = f"Not computed: {str(error).rstrip('.')}."
                continue
            paths.append(folder / f"{name}.csv")
            results[name].table.to_csv(paths[-1], index=False, float_format="%.8g")
    paths[0].write_text(all_pages(chosen, results, made), encoding="utf-8")
    return paths


def _shipped(name: str) -> tuple[Result, str]:
    run = shipped.load(name)
    if run is None:
        raise InputError("result", "shipped with the package", "none", "leave out --shipped")
    return run.drawn, run.words
