"""The page of all presets, after a table of verdicts."""

import os
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Start
from lrlab.parameters import InputError
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.page import PAGE, section_of
from lrlab.presets.papers import paper_of
from lrlab.presets.result import Result, Verdict, counts, lines
from lrlab.runs.run import Progress, silent

HEAD = "".join(f"<th>{title}</th>" for title in ("Experiment", "Panel", "The paper", "Here", "Verdict", "Remark"))
Part = tuple[Preset, Result | None, str]
"""A preset in a report, its result, and how lrlab computed it, or why it could not (no result)."""


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
    folder, parts = presets.writable(Path(out)), list[Part]()
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
                    result, words = run.drawn, run.words
                else:
                    own = data if preset.data else None
                    result = presets.compute(preset, progress, start, data=own, store=shared)
                    words = "A reduced run: fewer trials and points." if quick else "A full run."
                paths.append(folder / f"{name}.csv")
                result.table.to_csv(paths[-1], index=False, float_format="%.8g")
                parts.append((preset, result, words))
            except (InputError, RuntimeError) as error:
                parts.append((preset, None, f"Not computed: {str(error).rstrip('.')}."))
    paths[0].write_text(_report(parts), encoding="utf-8")
    return paths


def _report(parts: Sequence[Part]) -> str:
    """Return the page of all presets: a table of verdicts, then the panels of each."""
    rows, sections, judged, first = list[str](), list[str](), list[Verdict](), True
    for preset, result, words in parts:
        name, title, words = map(escape, (preset.name, preset.title, words))
        link = f'<a href="#{name}">{title}</a><br><small>{words}</small>'
        own = lines(result.table) if result else []
        judged += own
        for line in own or [Verdict("", "", "", "no verdict" if result else "not computed")]:
            cells = (line.panel, line.claim, line.ours, line.verdict, line.why)
            rows.append(f"<tr><td>{link}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
            link = ""
        paper = paper_of(name)
        bibtex = f"<pre>{escape(paper.bibtex)}</pre>" if paper else ""
        section = section_of(preset, result.panels if result else (), words, first, name)
        sections.append(f'<h2 id="{name}">{title}</h2>\n{section}\n{bibtex}')
        first = first and result is None
    table = f'<div class="table"><table><tr>{HEAD}</tr>\n{"".join(rows)}\n</table></div>'
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts(judged).items())
    summary = f"<p>{len(judged)} claims: {words}. Not decided: these runs cannot tell.</p>"
    return PAGE.substitute(
        title="Experiments of five papers, computed anew", body="\n".join([summary, table, *sections])
    )
