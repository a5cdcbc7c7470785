"""The page of a preset: one HTML file that needs no other file."""

from collections.abc import Sequence
from html import escape
from string import Template

from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel, Result

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
.panels { display: grid; gap: 20px 28px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 380px), 1fr)); }
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
    """Return the page of a preset: title, explanation, panels side by side if the page is wide, captions."""
    name, reference = escape(preset.name), escape(preset.reference)
    body = (
        f"{about(preset)}{panels_in_rows(result.panels, first=True)}\n"
        f"<p>{reference}. Computed by <code>{escape(command(preset))}</code>; "
        f"the numbers are in <code>{name}.csv</code>, every trial with its seed in <code>{name}-trials.csv</code>.</p>"
    )
    return PAGE.substitute(title=escape(preset.title), body=body)


def command(preset: Preset) -> str:
    """Return the command that computes a preset."""
    at = "" if preset.at is None else f" --at {preset.at:g}"
    return f"python -m lrlab paper {preset.name}{' --quick' if preset.quick else ''}{at}"


def about(preset: Preset) -> str:
    """Return the explanation of a preset, after the LaTeX of its theorem: the page loads no other file."""
    text = preset.content.get("figure", {}).get("statement", "").strip()
    return (f"<pre>{escape(text)}</pre>\n" if text else "") + f"<p>{escape(preset.explanation)}</p>\n"


def panels_in_rows(panels: Sequence[Panel], first: bool, name: str = "panel") -> str:
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
    return f'<div class="panels">\n{"".join(sections)}\n</div>'
