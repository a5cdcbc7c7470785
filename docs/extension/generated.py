"""Writes the pages that are made of what the package says: solvers, models, settings, papers, commands."""

from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from entries import model_page, plain, solver_page, solvers

import lrlab
from lrlab import catalog, lessons
from lrlab.__main__ import main
from lrlab.parameters import InputError
from lrlab.presets.papers import PAPERS
from lrlab.settings import SETTINGS, TEXTS
from lrlab.shell.commands import COMMANDS

LECTURE_MINUTES = 45


def pages() -> dict[str, Any]:
    """Return all files by name: functions that give their text, and what these are given."""
    return {
        **{f"solvers/{name}.md": (solver_page, entry) for name, entry in solvers().items()},
        **{f"models/{name}.md": (model_page, entry) for name, entry in catalog.MODEL_ENTRIES.items()},
        "solvers/index.md": (solver_list,),
        "models/index.md": (model_list,),
        "profiles.inc": (profiles,),
        "settings.inc": (texts,),
        "papers.inc": (citations,),
        "shell.inc": (commands,),
        "lecture.inc": (lecture,),
        "compared.inc": (compared,),
    }


def solver_list() -> str:
    """Return the page that lists solvers."""
    parts = ["# Solvers", "Each is made for some models; the figure on its page is a run at their defaults."]
    for family in catalog.FAMILIES:
        own = [name for name, one in solvers().items() if catalog.family(one.models[0]) is family]
        parts += contents(family.name, own) if own else []
    return "\n\n".join(parts)


def model_list() -> str:
    """Return the page that lists models."""
    parts = ["# Models", "A model draws a signal and its measurements."]
    for family in catalog.FAMILIES:
        parts += contents(family.name, [m for m, entry in catalog.MODEL_ENTRIES.items() if entry.family is family])
    return "\n\n".join(parts)


def compared() -> str:
    """Return a table per family: oracle information, metric and seconds of each solver at the defaults."""
    parts = []
    for family in catalog.FAMILIES:
        model = next(name for name, entry in catalog.MODEL_ENTRIES.items() if entry.family is family)
        metric = family.goal.metric
        parts += [f"### {family.name.replace('-', ' ').capitalize()} (`{model}`)"]
        title = plain(family.measures[metric].title)
        rows = [f"| solver | oracle information | {title} | seconds |", "|---|---|---|---|"]
        for entry in catalog.solvers_for(model):
            with suppress(InputError):
                run = lrlab.solve(catalog.spec(model, seed=0), entry.name, max_seconds=5)
                given = ", ".join(entry.oracle) or "none"
                seconds = run.table["seconds"].iloc[-1]
                rows.append(f"| `{entry.name}` | {given} | {run.metrics[metric]:.3g} | {seconds:.2g} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def contents(title: str, names: Iterable[str]) -> list[str]:
    """Return a section with links to pages."""
    lines = "\n".join(names)
    return [f"## {title.replace('-', ' ').capitalize()}", f"```{{toctree}}\n:maxdepth: 1\n\n{lines}\n```"]


def profiles() -> str:
    """Return the table of numbers that a profile sets."""
    rows = [f"| `{name}` | {one.laptop:g} | {one.classroom:g} | {one.meaning} |" for name, one in SETTINGS.items()]
    return "\n".join(["| setting | laptop | classroom | |", "|---|---|---|---|", *rows])


def texts() -> str:
    """Return the list of the other settings."""
    return "\n".join(f"- `{name}`: {plain(meaning)}" for name, meaning in TEXTS.items())


def citations() -> str:
    """Return the papers with their entries for a bibliography."""
    return "\n\n".join(f"{plain(paper.citation)}.\n\n```bibtex\n{paper.bibtex}\n```" for paper in PAPERS.values())


def commands() -> str:
    """Return what each command of the shell says with --help."""
    return "\n\n".join(f"## {name}\n\n```text\n{printed([name, '--help'])}```" for name in COMMANDS)


def lecture() -> str:
    """Return the lessons of a lecture, each with the minute at which it begins and its questions."""
    begins, parts = 0, []
    for name, lesson in lessons.lessons().items():
        if begins + lesson.minutes > LECTURE_MINUTES:
            break
        parts += [f"## {begins // 60}:{begins % 60:02} {lesson.title}"]
        parts += [f"{lesson.minutes} minutes, at `/learn?lesson={name}&teacher=true`."]
        asked = [step for step in lesson.steps if step.question]
        parts += ["\n".join(f"- *{step.title}*: {step.filled(step.question.text)}" for step in asked)]
        begins += lesson.minutes + 1
    return "\n\n".join(parts)


def printed(arguments: Sequence[str]) -> str:
    """Return what a command prints that ends by itself."""
    with redirect_stdout(StringIO()) as written, suppress(SystemExit):
        main(arguments)
    return written.getvalue()


def write(app: Any) -> None:
    """Write all pages; one that is as it was keeps its time, and is not read again."""
    folder = Path(app.srcdir) / "generated"
    for name, (page, *of) in pages().items():
        path, text = folder / name, page(*of)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
