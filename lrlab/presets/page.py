"""The page of a preset: an HTML file that needs no other file."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template

from lrlab.presets.definition import Preset
from lrlab.presets.result import Panel, Result

PAGE = Template(files("lrlab.presets").joinpath("page.html").read_text(encoding="utf-8"))


def page(preset: Preset, result: Result) -> str:
    """Return the page of a preset: title, explanation, panels side by side if the page is wide, captions."""
    name = escape(preset.name)
    source = (
        f"Computed by <code>{escape(command(preset))}</code>; the numbers are in <code>{name}.csv</code>, "
        f"every trial with its seed in <code>{name}-trials.csv</code>."
    )
    return PAGE.substitute(title=escape(preset.title), body=section_of(preset, result.panels, source, first=True))


def command(preset: Preset) -> str:
    """Return the command that computes a preset."""
    at = "" if preset.at is None else f" --at {preset.at:g}"
    return f"python -m lrlab paper {preset.name}{' --quick' if preset.quick else ''}{at}"


def section_of(preset: Preset, panels: Sequence[Panel], source: str, first: bool, name: str = "panel") -> str:
    """Return the LaTeX of a theorem, the explanation of a preset, its panels, its reference and its source.

    The first panels of a page bring the plotting library.
    """
    statement = preset.content.get("figure", {}).get("statement", "").strip()
    about = (f"<pre>{escape(statement)}</pre>\n" if statement else "") + f"<p>{escape(preset.explanation)}</p>"
    figures = list[str]()
    for k, panel in enumerate(panels):
        drawn = panel.figure.to_html(
            full_html=False,
            include_plotlyjs=first and k == 0,
            div_id=f"{name}-{k + 1}",
            default_height=panel.figure.layout.height,
            config={"responsive": True, "displaylogo": False},
        )
        figures.append(
            f"<section>\n<h3>{escape(panel.title)}</h3>\n{drawn}\n<p>{escape(panel.caption)}</p>\n</section>"
        )
    shown = "\n".join(figures)
    return f'{about}\n<div class="panels">\n{shown}\n</div>\n<p>{escape(preset.reference)}. {source}</p>'
