"""Presets as one self-contained HTML page: a single preset, or all of them after a table of verdicts."""

from collections.abc import Mapping, Sequence
from html import escape
from string import Template

from lrlab.presets.definition import Preset
from lrlab.presets.papers import paper_of
from lrlab.presets.result import Line, Panel, Result, counts, lines

MAX_COLUMNS = 4
"""Most panels in a row."""

PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 12px; max-width: 1680px; }
h1 { font-size: 1.35rem; line-height: 1.25; }
h2 { font-size: 1.2rem; line-height: 1.25; margin: 2.5rem 0 0; }
h3 { font-size: 1.05rem; margin: 0; }
p { max-width: 75ch; }
.panels { display: grid; grid-template-columns: minmax(0, 1fr); gap: 20px 28px; }
@media (min-width: 1100px) { .panels { grid-template-columns: repeat(var(--columns), minmax(0, 1fr)); } }
section { min-width: 0; }
code, pre { overflow-wrap: anywhere; white-space: pre-wrap; }
.table { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: 4px 12px 4px 0; border-bottom: 1px solid #8886; }
</style>
</head>
<body>
<h1>$title</h1>
$body
</body>
</html>
""")


def page(preset: Preset, result: Result) -> str:
    """Return the page of a preset: title, explanation, panels in rows of up to four (one on a phone), captions."""
    name, reference = escape(preset.name), escape(preset.reference)
    body = (
        f"{_about(preset)}{_panels(result.panels, first=True)}\n"
        f"<p>{reference}. Computed by <code>{escape(command(preset))}</code>; "
        f"the numbers are in <code>{name}.csv</code>, every trial with its seed in <code>{name}-trials.csv</code>.</p>"
    )
    return PAGE.substitute(title=escape(preset.title), body=body)


def command(preset: Preset) -> str:
    """Return the command that computes a preset."""
    at = "" if preset.at is None else f" --at {preset.at:g}"
    return f"python -m lrlab paper {preset.name}{' --quick' if preset.quick else ''}{at}"


def all_pages(chosen: Sequence[Preset], results: Mapping[str, Result], made: Mapping[str, str]) -> str:
    """Return the page of all presets: a table of verdicts, then the panels of each.

    results: by the name of the preset. made: how lrlab computed each, or why it could not.
    """
    rows, sections, drawn, judged = list[str](), list[str](), False, list[Line]()
    for preset in chosen:
        result = results.get(preset.name)
        link = (
            f'<a href="#{escape(preset.name)}">{escape(preset.title)}</a><br><small>{escape(made[preset.name])}</small>'
        )
        own = lines(result.table) if result else []
        judged += own
        for line in own or [Line("", "", "", "no verdict" if result else "not computed", "")]:
            cells = (line.panel, line.claim, line.ours, line.verdict, line.why)
            rows.append(f"<tr><td>{link}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
            link = ""
        figures = _panels(result.panels, first=not drawn, name=preset.name) if result else ""
        drawn |= result is not None
        paper = paper_of(preset.name)
        bibtex = f"<pre>{escape(paper.bibtex)}</pre>" if paper else ""
        sections.append(
            f'<h2 id="{escape(preset.name)}">{escape(preset.title)}</h2>\n'
            f"{_about(preset)}<p>{escape(made[preset.name])}</p>\n{figures}\n<p>{escape(preset.reference)}</p>\n{bibtex}"
        )
    titles = ("Experiment", "Panel", "The paper", "Here", "Verdict", "Remark")
    head = "".join(f"<th>{title}</th>" for title in titles)
    table = f'<div class="table"><table><tr>{head}</tr>\n{"".join(rows)}\n</table></div>'
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts(judged).items())
    about = f"<p>{len(judged)} claims: {words}. Not decided: these runs cannot tell.</p>"
    return PAGE.substitute(title="Experiments of five papers, computed anew", body="\n".join([about, table, *sections]))


def _about(preset: Preset) -> str:
    """Return the explanation of a preset, after the LaTeX of its theorem: the page loads no other file."""
    text = preset.content.get("figure", {}).get("statement", "").strip()
    return (f"<pre>{escape(text)}</pre>\n" if text else "") + f"<p>{escape(preset.explanation)}</p>\n"


def _panels(panels: Sequence[Panel], first: bool, name: str = "panel") -> str:
    """Return panels in rows. The first panels of a page bring the plotting library."""
    sections = []
    for k, panel in enumerate(panels):
        drawn = panel.figure.to_html(
            full_html=False,
            include_plotlyjs=first and k == 0,
            div_id=f"{name}-{k + 1}",
            default_height=panel.figure.layout.height,
            config={"responsive": True, "displaylogo": False},
        )
        sections.append(
            f"<section>\n<h3>{escape(panel.title)}</h3>\n{drawn}\n<p>{escape(panel.caption)}</p>\n</section>"
        )
    columns = min(len(sections), MAX_COLUMNS)
    return f'<div class="panels" style="--columns: {columns}">\n{"".join(sections)}\n</div>'
