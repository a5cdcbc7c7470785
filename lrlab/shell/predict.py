"""python -m lrlab predict: labels of new rows, or ratings, by a model that `fit --save` has written."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell import fit_ratings
from lrlab.shell.common import DONE, add_format, add_json, print_json, require_left_out, require_place, say


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("predict", help="predict labels of new rows, or ratings, by a model of `fit --save`")
    option = command.add_argument
    option("model", type=Path, metavar="MODEL", help="an .npz file of `fit --save`")
    words = "rows with the model's features, labels may be there; for a model of ratings, CSV: user, item"
    option("file", type=Path, nargs="?", metavar="FILE", help=words)
    add_format(option)
    option("--user", metavar="NAME", help="of a model of ratings: the best items this user has not rated")
    for side in ("users", "items"):
        option(f"--{side}", type=Path, metavar="FILE", help=f"of ratings: features of new {side}, CSV")
    option("--labels", metavar="FILE", help="as for `fit`, where the rows come with labels")
    option(
        "--top",
        default=fit_ratings.TOP,
        type=int,
        metavar="K",
        help=f"labels of a row, items of --user (default: {fit_ratings.TOP})",
    )
    words = "write them as CSV: row, place, label, score, predicted (user, item, prediction)"
    option("--out", type=Path, metavar="FILE", help=words)
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Predict, and print or write the predictions."""
    from lrlab.fits.fitted_model import PREDICTION_COLUMNS, load_model
    from lrlab.fits.ratings_model import RatingModel

    if options.top < 1:
        raise InputError("top", "a whole number above 0", options.top, "request at least one label")
    if options.out:
        require_place("--out", options.out, ".csv")
    model = load_model(options.model)
    if isinstance(model, RatingModel):
        return fit_ratings.predict(options, model)
    require_left_out(options, dict.fromkeys(("user", "users", "items")), "where labels are predicted")
    if options.file is None:
        raise InputError("FILE", "a file of rows", "nothing", "name the rows to predict")
    rows = model.predict(model.read(options.file, options.labels, file_format=options.format).X, options.top)
    fit_ratings.write(options.out, rows, PREDICTION_COLUMNS)
    if options.json:
        print_json({"solver": model.solver, "threshold": model.threshold, "predictions": rows})
    elif options.out:
        say(options.out)
    else:
        show(rows)
    return DONE


def show(rows: list[dict[str, Any]]) -> None:
    """Print predictions as text: one line per row, a star at each predicted label."""
    lines: dict[int, list[str]] = {}
    for row in rows:
        star = "*" if row["predicted"] else ""
        lines.setdefault(row["row"], []).append(f"{row['label']}{star} {row['score']:.3g}")
    say("\n".join(f"{number}  " + "  ".join(words) for number, words in lines.items()))
