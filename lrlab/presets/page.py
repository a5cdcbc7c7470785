"""A preset as one HTML page that needs no other file."""

from html import escape
from string import Template

from lrlab.presets.definition import Preset
from lrlab.presets.result import Result

MAX_COLUMNS = 4
"""Panels side by side."""

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
h2 { font-size: 1.05rem; margin: 0; }
p { max-width: 75ch; }
.panels { display: grid; grid-template-columns: minmax(0, 1fr); gap: 20px 28px; }
@media (min-width: 1100px) { .panels { grid-template-columns: repeat($columns, minmax(0, 1fr)); } }
section { min-width: 0; }
code { overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>$title</h1>
<p>$explanation</p>
<div class="panels">
$panels
</div>
<p>$reference. Computed by <code>python -m lrlab paper $name</code>; the numbers are in <code>$name.csv</code>, every
trial with its seed in <code>$name-trials.csv</code>.</p>
</body>
</html>
""")


def page(preset: Preset, result: Result) -> str:
    """Return the page: title, explanation, the panels side by side, four at most (one on a telephone), captions."""
    sections = []
    for k, panel in enumerate(result.panels):
        drawn = panel.figure.to_html(
            full_html=False, include_plotlyjs=k == 0, div_id=f"panel-{k + 1}",
            default_height=panel.figure.layout.height,
            config={"responsive": True, "displaylogo": False},
        )  # fmt: skip
        sections.append(
            f"<section>\n<h2>{escape(panel.title)}</h2>\n{drawn}\n<p>{escape(panel.caption)}</p>\n</section>"
        )
    texts = {key: escape(getattr(preset, key)) for key in ("name", "title", "explanation", "reference")}
    return PAGE.substitute(texts, panels="\n".join(sections), columns=min(len(sections), MAX_COLUMNS))
