"""Makes the pages of solvers and models from the catalog; the code above each figure draws it."""

import inspect
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import figures

from lrlab import catalog
from lrlab.figures import recovery
from lrlab.model_entry import ModelEntry
from lrlab.parameters import InputError, Parameter, declared
from lrlab.protocol import Spec
from lrlab.solver_entry import SolverEntry

OTHERS: tuple[dict[str, Any], ...] = ({}, {"features": "canonical"}, {"observation": "full"}, {"noise": 0})
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
    parts = [
        f"# {entry.title}",
        entry.summary,
        f"Its name is `{entry.name}`; it is made for {models}. {entry.given()}",
        f"$$\n{entry.update}\n$$",
        literal(entry.words.rest),
        f"*Reference*: {plain(entry.reference.rstrip('.'))}.",
        "## Options",
        table(list(entry.options.values())) if entry.options else "It has none.",
        "## A run",
        *run(spec, settings, f'trace = lrlab.solve(spec, "{entry.name}", max_iter={MOST})', "[trace]"),
    ]
    return "\n\n".join(parts)


def example(entry: SolverEntry) -> tuple[Spec, Mapping[str, Any]]:
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
    made = {one.name for one in catalog.solvers_for(spec.model)}
    names = [name for name in family.solvers if name in made]
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
        raw(recovery.measured(measured.panels, 300).plotly(), "measured") if measured.panels else "",
        "## Runs",
        *run(spec, {}, f"traces = [lrlab.solve(spec, name, max_iter={MOST}) for name in {names}]", "traces"),
    ]
    return "\n\n".join(parts)


def run(spec: Spec, settings: Mapping[str, Any], traces: str, shown: str) -> list[str]:
    """Return the code of runs and of their figure, what the figure shows, how the runs end, and the figure."""
    family = catalog.family(spec.model)
    measure, known = family.goal.metric, family.measures[family.goal.metric]
    given = "".join(f", {name}={json.dumps(value)}" for name, value in settings.items())
    scale = ", log_y=False" if known.rising else ""
    lines = ["import lrlab", "", f'spec = lrlab.spec("{spec.model}"{given}, seed=0)', traces]
    last = f'lrlab.compare({shown}, "{measure}"{scale})'
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    figure = eval(last, names)
    words = f"Each iterate's {plain(known.meaning)}; dashed: what theory expects, where that is known."
    ends = [f"*{trace.job.entry.title}*: {plain(trace.ending)}" for trace in eval(shown, names)]
    return ["```python\n" + "\n".join([*lines, last]) + "\n```", words, *ends, raw(figure, "runs")]


def table(parameters: Sequence[Parameter]) -> str:
    """Return declarations as a table."""
    lines = ["| name | meaning | values | default |", "|---|---|---|---|"]
    for one in parameters:
        form = ",.0f" if one.kind is int else "g"
        values = ", ".join(f"`{choice}`" for choice in one.choices) or f"{one.low:{form}} to {one.high:{form}}"
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
