"""python -m lrlab fit on ratings, and predict with a model of them."""

import argparse
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell.common import DONE, print_json, require_left_out, require_place, say, show_progress

RATINGS_COLUMNS = (3, 4)
"""Columns of a CSV that is taken for ratings: user, item, rating, and a time. Two may be anything."""
SUFFIXES = (".csv", ".tsv")
TOP = 5
"""Labels of a row, or items of a user, that are listed unless another number is given."""
LINES = {
    "rmse_biases": "biases of users and items alone",
    "rmse_mean": "the mean of the ratings",
    "rmse_cold_users": "users without ratings",
    "rmse_cold_items": "items without ratings",
    "precision@10_popularity": "precision@10 of the most popular items",
    "recall@10_popularity": "recall@10 of the most popular items",
}


def chosen(options: argparse.Namespace) -> bool:
    """Return whether the files are ratings: by an option, or a CSV of 3 or 4 columns where no labels are named."""
    if options.ratings or options.users or options.items:
        return True
    if options.labels or options.train.suffix.lower() not in SUFFIXES:
        return False
    from lrlab.datasets.table import csv_rows
    from lrlab.datasets.text import LIMIT_BYTES, Source

    source = Source(options.train, "CSV")
    source.check_size(LIMIT_BYTES)
    return any(len(row) in RATINGS_COLUMNS for _, row in itertools.islice(csv_rows(source, LIMIT_BYTES), 1))


def run(options: argparse.Namespace, settings: dict[str, Any]) -> int:
    """Fit, print the scores, and save the model with --save."""
    from lrlab.fits.fitted_model import save_model
    from lrlab.fits.fitting_ratings import fit_ratings
    from lrlab.fits.ratings_solvers import BIASES, OWN, ratings_options

    of_labels = {"labels": None, "tune": "", "observed": 1.0, "no-intercept": False, "scaling": "auto"}
    require_left_out(options, of_labels | {"limit": 0, "areas": None}, "where ratings are fitted")
    if options.save:
        require_place("--save", options.save, ".npz")
    if "regularization" in settings:
        if "ridge" in settings:
            raise InputError(
                "ridge", "left out beside regularization, which is the same", settings["ridge"], "give one"
            )
        settings["ridge"] = settings.pop("regularization")
    solver = options.solver or OWN
    # Checked here, too: a name that is not an option of the solver might be an argument of `fit_ratings`.
    ratings_options(solver, settings)
    if solver == BIASES:
        require_left_out(options, {"rank": 0}, "of biases, which have none")
    result = fit_ratings(
        options.train,
        options.test,
        options.users,
        options.items,
        solver=solver,
        rank=options.rank,
        iterations=options.iterations,
        seed=options.seed,
        duplicates=options.duplicates,
        progress=show_tuning,
        **settings,
    )
    if options.save and result.model:
        save_model(options.save, result.model)
    print_json(result.summary()) if options.json else show(result.summary())
    return DONE


def show_tuning(count: int, best: float) -> None:
    """Show the progress of tuning."""
    show_progress(f"{count} settings tried, the best held-out score {best:.4f} ")


def show(result: Mapping[str, Any]) -> None:
    """Print a fit as text: what was tried, the iterations, and the errors beside the baselines."""
    for title, rows in (("held-out", result["tried"]), ("fitted", result["trace"])):
        for row in rows:
            say(f"{title}  " + "  ".join(f"{name} {value:.4g}" for name, value in row.items() if value == value))
    penalty = f", ridge {result['options']['ridge']:.4g}" if result["options"].get("ridge") else ""
    say(f"{result['solver']}: rank {result['rank']}{penalty}; {result['iterations']} iterations. {result['message']}")
    for name in ("rmse", "precision@10", "recall@10"):
        if name in result:
            say(f"  {name} {result[name]:.5f} on {result['test_ratings']} test ratings")
    for name, words in LINES.items():
        if (value := result.get(name, math.nan)) == value:
            say(f"  {value:10.5f} {words}")
    if result["remark"]:
        say(result["remark"])


def predict(options: argparse.Namespace, model: Any) -> int:
    """Predict the ratings of pairs, or with --user the best items that a user has not rated."""
    from lrlab.datasets import read_pairs
    from lrlab.fits.ratings_model import PAIR_COLUMNS, TOP_COLUMNS

    require_left_out(options, {"labels": None, "format": ""}, "where ratings are predicted")
    if options.user is None:
        require_left_out(options, {"top": TOP}, "without --user")
    elif options.file is not None:
        raise InputError("FILE", "left out with --user", options.file, "leave out one of them")
    users, items = (
        side.read(path, what) if path else None
        for side, path, what in ((model.users, options.users, "user"), (model.items, options.items, "item"))
    )
    if options.user is not None:
        rows, names = model.top(options.user, options.top, users), TOP_COLUMNS
    elif options.file is None:
        raise InputError("FILE", "a CSV of user, item", "nothing", "name it, or request a user's best items by --user")
    else:
        rows, names = model.predict(read_pairs(options.file), users, items), PAIR_COLUMNS
    write(options.out, rows, names)
    if options.json:
        print_json({"solver": model.solver, "predictions": rows})
    elif options.out:
        say(options.out)
    else:
        for row in rows:
            say("  ".join(f"{row[name]:.4f}" if name == "prediction" else str(row[name]) for name in names))
    return DONE


def write(path: Path | None, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """Write rows as CSV where there is a path."""
    from lrlab.fits.ratings_model import write_rows

    if path:
        with path.open("w", newline="", encoding="utf-8") as stream:
            write_rows(rows, names, stream)
