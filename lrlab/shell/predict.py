"""python -m lrlab predict: labels of new rows by a model that `fit --save` has written."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell.common import DONE, add_json, print_json, require_place


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("predict", help="predict labels of new rows by a model that `fit --save` has written")
    command.add_argument("model", type=Path, metavar="MODEL", help="an .npz file of `fit --save`")
    command.add_argument("file", type=Path, metavar="FILE", help="rows with the model's features; labels may be there")
    command.add_argument("--labels", metavar="FILE", help="as for `fit`, where the rows come with labels")
    command.add_argument("--top", default=5, type=int, metavar="K", help="labels for each row (default: 5)")
    command.add_argument(
        "--out", type=Path, metavar="FILE", help="write them as CSV: row, place, label, score, predicted"
    )
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Predict, and print or write the predictions."""
    from lrlab.fits.fitted_model import load_model, write_predictions

    if options.top < 1:
        raise InputError("top", "a whole number above 0", options.top, "request at least one label")
    if options.out:
        require_place("--out", options.out, ".csv")
    model = load_model(options.model)
    rows = model.predict(model.read(options.file, options.labels).X, options.top)
    if options.out:
        with options.out.open("w", newline="", encoding="utf-8") as stream:
            write_predictions(rows, stream)
    if options.json:
        print_json({"solver": model.solver, "threshold": model.threshold, "predictions": rows})
    elif options.out:
        print(options.out)
    else:
        show(rows)
    return DONE


def show(rows: list[dict[str, Any]]) -> None:
    """Print predictions as text: one line per row, a star at each predicted label."""
    lines: dict[int, list[str]] = {}
    for row in rows:
        star = "*" if row["predicted"] else ""
        lines.setdefault(row["row"], []).append(f"{row['label']}{star} {row['score']:.3g}")
    print("\n".join(f"{number}  " + "  ".join(words) for number, words in lines.items()))
