"""Controls of fits to ratings: solvers and settings; and the same fits as code."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from lrlab import catalog
from lrlab.engine.engine import Engine
from lrlab.engine.stream import Collection
from lrlab.fits.implicit import WEIGHTED
from lrlab.fits.ratings_solvers import BIASES, MODEL, OWN, solvers
from lrlab.fits.ratings_task import RatingsTask, run_task
from lrlab.models.own_rows import packed
from lrlab.parameters import InputError, Parameter, Value, nearest
from lrlab.removed import removed
from lrlab.ui.own_data.fit_controls import SECONDS, SEED
from lrlab.ui.own_data.ratings_source import RatingFiles
from lrlab.ui.shared import code
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

OWN_TITLES = {
    OWN: "ALS with biases, ridges from the ratings",
    BIASES: "Biases of users and items alone",
    WEIGHTED: "Weighted ALS, of pairs without ratings",
}
RANK = Parameter(
    meaning="rank of the low-rank part; 0 chooses it on held-out ratings",
    name="rank",
    symbol="k",
    kind=int,
    default=0,
    low=0,
    high=1000,
)
ITERATIONS = Parameter(
    meaning="most iterations; fewer where they are better on held-out ratings",
    name="iterations",
    symbol="iterations",
    kind=int,
    default=60,
    low=1,
    high=1000,
)
NUMBERS = (RANK, ITERATIONS, SECONDS, SEED)
SOLVERS = Parameter(meaning="solvers", name="ratings.solvers", kind=str, default=OWN)


class RatingsPlan(NamedTuple):
    """Fits of solvers to the same ratings."""

    files: RatingFiles
    tasks: Sequence[RatingsTask]


def title(solver: str) -> str:
    """Return the title of a solver of ratings."""
    return OWN_TITLES.get(solver) or catalog.solver(solver, MODEL).title


def choose(link: Permalink, files: RatingFiles | InputError | None) -> RatingsPlan | InputError | None:
    """Show settings and solvers; return the plan, the error in a setting, or None without ratings."""
    values = controls.widgets(link, NUMBERS, prefix="ratings.")
    chosen = choose_solvers(link)
    if not isinstance(files, RatingFiles):
        return None
    try:
        rank, iterations, seconds, seed = (parameter.check(values[parameter.name]) for parameter in NUMBERS)
    except InputError as error:
        return error
    if not chosen:
        return InputError("solvers", "at least one", "none", f"take {OWN}")
    paths, ending = files.paths, (int(rank), int(iterations), float(seconds), int(seed))
    given = paths["ratings"], paths["later"], paths["users"], paths["items"]
    return RatingsPlan(files, [RatingsTask(*given, name, *ending) for name in chosen])


def choose_solvers(link: Permalink) -> list[str]:
    """Show the choice of solvers and return their names."""
    names, key = solvers(), link.key(SOLVERS.name)
    if key not in st.session_state:
        given = [word for word in str(link.value(SOLVERS.name, SOLVERS)).split(",") if word]
        for word in given:
            if word not in names:
                remedy = removed(word) or nearest(word, tuple(names)) or "leave it out"
                link.add_error(InputError("solvers", "some of " + ", ".join(names), word, remedy))
        st.session_state[key] = [word for word in given if word in names]
    chosen = st.multiselect("Solvers", names, key=key, format_func=title, help="Biases are in every fit.")
    link.put(SOLVERS.name, ",".join(chosen), SOLVERS)
    return chosen


def begin(engine: Engine, plan: RatingsPlan) -> Collection:
    """Start the plan; workers without access to this machine's files get them with the tasks."""
    tasks = plan.tasks
    if not engine.local:
        train, test, users, items = (packed(Path(path)) if path else "" for path in tasks[0][:4])
        tasks = [task._replace(train=train, test=test, users=users, items=items) for task in tasks]
    return Collection(engine.map(run_task, tasks))


def arguments(task: RatingsTask) -> dict[str, Value]:
    """Return the settings of a task that are not the defaults."""
    given: dict[str, Value] = {"rank": task.rank, "iterations": task.iterations or 0, "seed": task.seed}
    return {name: value for name, value in given.items() if value}


def further_files(plan: RatingsPlan) -> dict[str, str]:
    """Return the names of the uploaded files beside the ratings, by their arguments."""
    names = {"test": "later.csv", "users": "users.csv", "items": "items.csv"}
    return {argument: name for argument, name in names.items() if getattr(plan.tasks[0], argument)}


def python(plan: RatingsPlan) -> str:
    """Return a script that fits and saves each solver."""
    files = further_files(plan)
    lines = [f"# {', '.join(['ratings.csv', *files.values()])}: the files as uploaded", "import lrlab", ""]
    given = [f"{argument}={name!r}" for argument, name in files.items()]
    for task in plan.tasks:
        first = ["'ratings.csv'", *given, f"solver={task.solver!r}"]
        lines.append(f"result = lrlab.fit_ratings({code.arguments(first, arguments(task))})")
        lines += ["print(result.summary())", f"lrlab.save_model('{task.solver}.npz', result.model)"]
    return "\n".join(lines)


def shell(plan: RatingsPlan) -> str:
    """Return one command per solver."""
    files, commands = [f"--{argument} {name}" for argument, name in further_files(plan).items()], []
    for task in plan.tasks:
        own = [f"--{name} {shlex.quote(str(value))}" for name, value in arguments(task).items()]
        words = ["python -m lrlab fit ratings.csv --ratings", *files, f"--solver {task.solver}", *own]
        commands.append(" ".join([*words, f"--save {task.solver}.npz --json"]))
    return "\n".join(commands)
