"""Computes what theory says of the defaults and of the lessons at their own sizes, which takes minutes, and stores it.

`python -m benchmarks.shipped_theory` writes the file that `runs.theory` reads, after a change of a solver or of
theory; a test computes some of it again.
"""

import json
from collections.abc import Iterator
from typing import Any

from lrlab import catalog, lessons
from lrlab.engine.engine import close_engines, on_workers
from lrlab.engine.results import collect
from lrlab.lessons.figures import Scores
from lrlab.models.axes import positions
from lrlab.models.single_index import FAMILY
from lrlab.parameters import InputError
from lrlab.runs import theory
from lrlab.runs.job import Job, make_job

DIGITS = 6


def jobs() -> Iterator[Job]:
    """Yield the jobs whose theory is shipped: of the defaults of single-index models, and of lessons."""
    for model in FAMILY.model_order:
        for entry in catalog.solvers_for(model):
            try:
                yield make_job(catalog.spec(model), entry.name)
            except InputError:
                continue
    # Whoever drags a slider for the first time, as a class at one server, begins with these.
    first = FAMILY.model_order[0]
    for name in FAMILY.solvers:
        for n in positions(catalog.model_entry(first), "n"):
            yield make_job(catalog.spec(first, n=n), name)
    for lesson in lessons.lessons().values():
        for step in lesson.steps:
            figure = step.figure
            if isinstance(figure, Scores) and figure.spec.model in FAMILY.model_order:
                yield from (figure.job(one, at) for one in figure.series for at in figure.slider.values)


def items() -> list[Any]:
    """Return what is computed: items of `theory.exact`, each once."""
    own = [theory.without_seed(one) for one in jobs()]
    return list({theory.key_of(item): item for item in (*(one.spec for one in own), *own)}.values())


def main() -> None:
    """Write the file."""
    wanted = items()
    computed = collect(on_workers(theory.exact, wanted), lambda done, total: print(f"{done} of {total}", flush=True))
    table = {
        theory.key_of(item): {name: float(f"{value:.{DIGITS}g}") for name, value in numbers.items()}
        for item, numbers in zip(wanted, computed, strict=True)
    }
    theory.SHIPPED.write_text(json.dumps(table, indent=0, sort_keys=True, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
    close_engines()
