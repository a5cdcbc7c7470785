"""The page of a preset: one HTML file that needs no other file."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel, Result

PAGE = Template(files("lrlab.presets").joinpath("page.html").read_text(encoding="utf-8"))


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
