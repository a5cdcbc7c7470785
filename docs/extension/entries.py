"""Pages of solvers and models, of what the catalogue says of them; the figure of each is made by the code above it."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import figures

import lrlab
from lrlab import catalog
from lrlab.figures import convergence, picture
from lrlab.figures.recovery import Recovery
from lrlab.model_entry import ModelEntry
from lrlab.parameters import InputError, Parameter, declared
from lrlab.protocol import Spec
from lrlab.runs.trace import Trace
from lrlab.solver_entry import SolverEntry
from lrlab.ui.shared.captions import style_of

OTHERS: tuple[dict[str, str], ...] = ({}, {"features": "canonical"}, {"observation": "full"})
"""Settings of models, tried in turn, for solvers that do not take the defaults."""
MOST = 60
"""Iterations of a run."""


def solvers() -> dict[str, SolverEntry]:
    """Return the entries of solvers by the names of their pages; of several with one name, each has its family's."""
    counts = Counter(entry.name for entry in catalog.ENTRIES)
    return {
        entry.name if counts[entry.name] == 1 else f"{entry.name}-{catalog.family(entry.models[0]).name}": entry
        for entry in catalog.ENTRIES
    }


def solver_page(entry: SolverEntry) -> str:
    """Return the page of a solver."""
    models = ", ".join(f"[{name}](../models/{name}.md)" for name in entry.models)
    spec, settings = example(entry)
    trace = run(spec, entry.name)
    parts = [
        f"# {entry.title}",
        entry.summary,
        f"Its name is `{entry.name}`; it is made for {models}. {entry.given}",
        f"$$\n{entry.update}\n$$",
        literal(inspect.getdoc(entry.run) or ""),
        f"*Reference*: {plain(entry.reference)}.",
        "## Options",
        table(list(entry.options.values())) if entry.options else "It has none.",
        "## A run",
        code(spec.model, settings, f'trace = lrlab.solve(spec, "{entry.name}", max_iter={MOST})'),
        f"{drawn(spec)} {plain(trace.ending)}",
        curves([trace]),
    ]
    return "\n\n".join(parts)


def example(entry: SolverEntry) -> tuple[Spec, Mapping[str, str]]:
    """Return the first problem that a solver takes, with what is not its default."""
    for model in entry.models:
        for settings in OTHERS:
            try:
                spec = catalog.spec(model, seed=0, **settings)
                entry.refuse(spec, dict(entry.settle({}).options))
                return spec, settings
            except InputError:
                continue
    raise LookupError(f"{entry.name} takes none of its models")


def model_page(entry: ModelEntry) -> str:
    """Return the page of a model."""
    spec, family = entry.spec(), entry.family
    names = [name for name in family.solvers if spec.model in catalog.solver(name, spec.model).models]
    places = {one.name: page for page, one in solvers().items() if spec.model in one.models}
    measured = family.measured(spec)
    solved = [
        f"- [{one.title}](../solvers/{places[one.name]}.md), `{one.name}`: {one.summary}"
        for one in catalog.solvers_for(spec.model)
    ]
    parts = [
        f"# {entry.spec.title}",
        entry.spec.summary,
        f"Its name is `{spec.model}`.",
        f"$$\n{spec.equation}\n$$",
        literal(inspect.getdoc(entry.spec) or ""),
        "## Parameters",
        table([one for one in declared(entry.spec).values() if not one.hidden]),
        "## Measures",
        "\n".join(f"- **{plain(m.title)}** (`{name}`): {plain(m.meaning)}" for name, m in family.measures.items()),
        "## Solvers",
        "\n".join(solved),
        "## What is measured",
        f"{plain(measured.words)}.",
        raw(picture.measured(measured.panels, 300), "measured") if measured.panels else "",
        "## Runs",
        code(spec.model, {}, f"traces = [lrlab.solve(spec, name, max_iter={MOST}) for name in {names}]"),
        drawn(spec),
        curves([run(spec, name) for name in names]),
    ]
    return "\n\n".join(parts)


def run(spec: Spec, solver: str) -> Trace:
    """Return the trace that a page shows."""
    return lrlab.solve(spec, solver, worker=False, max_iter=MOST)


def curves(traces: Sequence[Trace]) -> str:
    """Return the figure of the measure that maps show, of runs against iterations."""
    family = catalog.family(traces[0].job.spec.model)
    measure, measures = family.goal.measure, family.measures
    runs: list[Recovery] = [
        replace(style_of(trace.job.spec.model, trace.job.solver), rows=trace.rows, predictions=trace.metrics)
        for trace in traces
    ]
    log_y = not measures[measure].rising
    return raw(convergence.curves(runs, measure, measures=measures, log_y=log_y, height=380), "runs")


def drawn(spec: Spec) -> str:
    """Return what the curves of a figure show."""
    family = catalog.family(spec.model)
    meaning = plain(family.measures[family.goal.measure].meaning)
    return f"Each iterate's {meaning}; dashed: what theory expects, where that is known."


def code(model: str, settings: Mapping[str, str], line: str) -> str:
    """Return the code of a run."""
    given = "".join(f', {name}="{value}"' for name, value in settings.items())
    return f'```python\nimport lrlab\n\nspec = lrlab.spec("{model}"{given}, seed=0)\n{line}\n```'


def table(parameters: Sequence[Parameter]) -> str:
    """Return declarations as a table."""
    lines = ["| name | meaning | values | default |", "|---|---|---|---|"]
    for one in parameters:
        values = ", ".join(f"`{choice}`" for choice in one.choices) or f"{one.low:g} to {one.high:g}"
        default = f"{one.default:g}" if isinstance(one.default, float) else one.default
        lines.append(f"| `{one.name}` | {plain(one.meaning)} | {values} | {f'`{default}`' if default != '' else ''} |")
    return "\n".join(lines)


def raw(figure: Any, name: str) -> str:
    """Return a figure as a part of a page."""
    return f"```{{raw}} html\n{figures.html(figure, name)}\n```"


def literal(text: str) -> str:
    """Return a docstring as it is written."""
    return f"```text\n{text}\n```"


def plain(text: str) -> str:
    """Return words whose marks are no Markdown."""
    return "".join(f"\\{letter}" if letter in "\\*_|<>[]$#`" else letter for letter in text)
