"""python -m lrlab fit FILE (or recover FILE): read a file, state its reading, run a solver, save the estimate.

python -m lrlab predict: labels of new samples, by a model that `fit --save` has written.
"""

import argparse
from pathlib import Path
from typing import Any

from lrlab.data.hints import Hints
from lrlab.parameters import InputError, declared
from lrlab.protocol import Stop
from lrlab.shell.common import DONE, INTERRUPTED, add_json, add_settings, print_json, require_place, say
from lrlab.shell.solve import settings_from, show

ALIASES = {"rows": ("--users",), "columns": ("--items",)}


def add(commands: Any) -> None:
    """Add the commands."""
    words = "run a solver on a file: responses, a matrix with missing entries, ratings, patterns or labels"
    command = commands.add_parser("fit", aliases=["recover"], help=words)
    option = command.add_argument
    words = "CSV (any separator), parquet or npz; of labels ARFF, svmlight, extreme classification too; or example:NAME"
    option("file", type=Path, metavar="FILE", help=words)
    for name, hint in declared(Hints).items():
        metavar = "|".join(hint.choices) or name.upper()
        names = f"--{name.lower()}", *ALIASES.get(name, ())
        option(*names, dest=name, default="", metavar=metavar, help=hint.meaning)
    words = "columns are row, column and value of a matrix: kind=triples"
    option("--triples", "--ratings", action="store_true", help=words)
    words = "as listed by `models` (default: by kind; of labels by held-out samples)"
    option("--solver", default="", metavar="NAME", help=words)
    option("--rank", type=int, metavar="K", help="rank of the estimate (default: chosen on held-out numbers)")
    option("--iterations", type=int, metavar="N", help="most iterations")
    option("--seed", type=int, metavar="S", help="of the held-out part and of the solver")
    words = "of labels: choose settings that are not given by this metric on held-out samples (default: macro_auc)"
    option("--tune", nargs="?", const="macro_auc", metavar="METRIC", help=words)
    option("--biases", action="store_true", default=None, help="of a matrix: subtract means of rows and columns first")
    words = "write the estimate: .npz (a model of labels too), or .csv of the direction, matrix, signal or labels"
    option("--save", type=Path, metavar="FILE", help=words)
    add_settings(command, "held_out, an option of the data or the solver, tol, max_iter or max_seconds")
    command.set_defaults(run=run_fit)
    add_json(command)

    command = commands.add_parser("predict", help="predict labels of new samples by a model of `fit --save`")
    option = command.add_argument
    option("model", type=Path, metavar="MODEL", help="an .npz file of `fit --save`")
    option("file", type=Path, metavar="FILE", help="samples with the model's features; labels may be there")
    option("--labels", metavar="FILE", help="as for `fit`, if the rows come with labels")
    option("--top", default=5, type=int, metavar="K", help="labels of a row (default: 5)")
    option("--out", type=Path, metavar="FILE", help="write them as CSV: row, position, label, score, predicted")
    command.set_defaults(run=run_predict)
    add_json(command)


def run_fit(options: argparse.Namespace) -> int:
    """Read a file, state its reading, run one job, print its scores, and save the estimate."""
    from lrlab.data.recover import Fit, in_units
    from lrlab.engine import solve

    if options.save:
        suffix = ".csv" if options.save.suffix == ".csv" else ".npz"
        require_place("--save", options.save, suffix, *map(vars(options).get, ("file", *declared(Hints))))
    task, settings = task_of(options)
    if not options.json:
        say(task.source())
    [job] = task.plan([options.solver], **settings)
    fitted = Fit(task, in_units(solve.run(job)))
    if options.json:
        print_json(fitted.summary())
    else:
        show(fitted.trace.summary())
        say(fitted.compared or "Nothing is held out.")
    # Last, so that a full disk loses no more than the file.
    if options.save and fitted.trace.estimate is not None:
        fitted.save(options.save)
        if not options.json:
            say(options.save)
    return INTERRUPTED if fitted.trace.stop is Stop.CANCELLED else DONE


def task_of(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """Return the task of a file or an example, and the settings of its job."""
    from lrlab.data.recover import read_task

    settings: dict[str, Any] = settings_from(options.settings)
    for name in ("y", "X", "Z", "model", "solver"):
        if name in settings:
            raise InputError("--set", "a setting", name, f"take --{name.lower()}" if name != "X" else "leave it out")
    given = {"seed": options.seed, "rank": options.rank, "tune_by": options.tune, "biases": options.biases}
    given["max_iter"] = options.iterations
    settings |= {name: value for name, value in given.items() if value not in (None, "")}
    options.kind = options.kind or ("triples" if options.triples else "")
    return read_task(options.file, Hints(**{name: getattr(options, name) for name in declared(Hints)})), settings


def run_predict(options: argparse.Namespace) -> int:
    """Predict, and print or write the predictions."""
    from lrlab.data.label_task import load_model
    from lrlab.data.reading import read

    if options.top < 1:
        raise InputError("top", "a whole number above 0", options.top, "request at least one label")
    if options.out:
        require_place("--out", options.out, ".csv", options.file, options.model)
    model = load_model(options.model)
    data = read(options.file, options.labels, like=model.columns, unlabelled=True)
    table = model.predict(data.X, options.top)
    rows: Any = table.to_dict("records")
    if options.out:
        table.to_csv(options.out, index=False)
    if options.json:
        print_json({"threshold": model.threshold, "predictions": rows})
    elif options.out:
        say(options.out)
    else:
        lines: dict[int, list[str]] = {}
        for row in rows:
            star = "*" if row["predicted"] else ""
            lines.setdefault(row["row"], []).append(f"{row['label']}{star} {row['score']:.3g}")
        say("\n".join(f"{number}  " + "  ".join(words) for number, words in lines.items()))
    return DONE
