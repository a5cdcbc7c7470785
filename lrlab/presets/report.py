"""All presets on one self-contained page, computed or shipped, after a table of verdicts."""

import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from lrlab import presets
from lrlab.engine.engine import on_workers
from lrlab.engine.results import Start
from lrlab.parameters import InputError
from lrlab.presets import shipped
from lrlab.presets.definition import Preset
from lrlab.presets.page import PAGE, about, panels_in_rows
from lrlab.presets.papers import paper_of
from lrlab.presets.result import Line, Result, counts, lines
from lrlab.runs.run import Progress, silent

HEAD = "".join(f"<th>{title}</th>" for title in ("Experiment", "Panel", "The paper", "Here", "Verdict", "Remark"))


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
                    if (run := shipped.load(name)) is None:
                        raise InputError("result", "shipped with the package", "none", "leave out --shipped")
                    results[name], made[name] = run.drawn, run.words
                else:
                    own = data if preset.data else None
                    results[name] = presets.compute(preset, progress, start, data=own, store=shared)
                    made[name] = "A reduced run: fewer trials and points." if preset.quick else "A full run."
            except (InputError, RuntimeError) as error:
                made[name] = f"Not computed: {str(error).rstrip('.')}."
                continue
            paths.append(folder / f"{name}.csv")
            results[name].table.to_csv(paths[-1], index=False, float_format="%.8g")
    paths[0].write_text(_all_pages(chosen, results, made), encoding="utf-8")
    return paths


def _all_pages(chosen: Sequence[Preset], results: Mapping[str, Result], made: Mapping[str, str]) -> str:
    """Return the page of all presets: a table of verdicts, then the panels of each.

    results: by the name of the preset. made: how lrlab computed each, or why it could not.
    """
    rows, sections, judged = list[str](), list[str](), list[Line]()
    first = next(iter(results), "")
    for preset in chosen:
        result, (name, title, words) = (
            results.get(preset.name),
            map(escape, (preset.name, preset.title, made[preset.name])),
        )
        link = f'<a href="#{name}">{title}</a><br><small>{words}</small>'
        own = lines(result.table) if result else []
        judged += own
        for line in own or [Line("", "", "", "no verdict" if result else "not computed", "")]:
            cells = (line.panel, line.claim, line.ours, line.verdict, line.why)
            rows.append(f"<tr><td>{link}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
            link = ""
        figures = panels_in_rows(result.panels, first=preset.name == first, name=preset.name) if result else ""
        paper = paper_of(preset.name)
        bibtex = f"<pre>{escape(paper.bibtex)}</pre>" if paper else ""
        sections.append(
            f'<h2 id="{name}">{title}</h2>\n{about(preset)}<p>{words}</p>\n{figures}\n'
            f"<p>{escape(preset.reference)}</p>\n{bibtex}"
        )
    table = f'<div class="table"><table><tr>{HEAD}</tr>\n{"".join(rows)}\n</table></div>'
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts(judged).items())
    summary = f"<p>{len(judged)} claims: {words}. Not decided: these runs cannot tell.</p>"
    return PAGE.substitute(
        title="Experiments of five papers, computed anew", body="\n".join([summary, table, *sections])
    )
