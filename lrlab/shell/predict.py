"""python -m lrlab predict: labels of new samples, by a model that `fit --save` has written."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell.common import DONE, add_json, print_json, require_place, say


def add(commands: Any) -> None:
    """Add the command."""
    command = commands.add_parser("predict", help="predict labels of new samples by a model of `fit --save`")
    option = command.add_argument
    option("model", type=Path, metavar="MODEL", help="an .npz file of `fit --save`")
    option("file", type=Path, metavar="FILE", help="samples with the model's features; labels may be there")
    option("--labels", metavar="FILE", help="as for `fit`, if the rows come with labels")
    option("--top", default=5, type=int, metavar="K", help="labels of a row (default: 5)")
    option("--out", type=Path, metavar="FILE", help="write them as CSV: row, position, label, score, predicted")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Predict, and print or write the predictions."""
    from lrlab.data.label_models import load_model
    from lrlab.data.reading import read

    if options.top < 1:
        raise InputError("top", "a whole number above 0", options.top, "request at least one label")
    if options.out:
        require_place("--out", options.out, ".csv")
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
