"""The page of all presets, after a table of verdicts."""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Start
from lrlab.parameters import InputError
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.papers import paper_of
from lrlab.presets.result import PAGE, lines, tally
from lrlab.runs.run import Progress, silent


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
    folder, parts = presets.writable(Path(out)), list[tuple[Preset, Any, str]]()
    paths = [folder / "papers.html"]
    with TemporaryDirectory() as temporary:
        shared = store or Path(temporary) / "results.sqlite"
        for name in presets.names():
            begin(name)
            preset = presets.load(name, quick and not stored)
            try:
                if stored:
                    if (run := shipped.load(name)) is None:
                        raise InputError("result", "shipped with the package", "none", "leave out --shipped")
                    result: Any = run
                    words = run.words
                else:
                    own = data if preset.data else None
                    result = presets.compute(preset, progress, start, data=own, store=shared)
                    words = "A reduced run: fewer trials and points." if quick else "A full run."
                paths.append(folder / f"{name}.csv")
                result.table.to_csv(paths[-1], index=False, float_format="%.8g")
                parts.append((preset, result, words))
            except (InputError, RuntimeError) as error:
                parts.append((preset, None, f"Not computed: {str(error).rstrip('.')}."))
    judged = [line for _, result, _ in parts if result for line in lines(result.table)]
    about = {"judged": judged, "tally": ", ".join(tally(judged).values()), "lines": lines, "paper_of": paper_of}
    text = PAGE.render(title="Experiments of five papers, computed anew", parts=parts, **about)
    paths[0].write_text(text, encoding="utf-8")
    return paths
