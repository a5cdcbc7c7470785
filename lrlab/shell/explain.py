"""python -m lrlab explain: why a saved label model predicts what it does, and how sure it may be."""

import argparse
from pathlib import Path
from typing import Any

from lrlab.parameters import InputError
from lrlab.shell.common import DONE, add_json, print_json, require_left_out, require_place, say


def add(commands: Any) -> None:
    """Add the command."""
    words = "strongest features, reasons, alike labels and calibration of a model"
    command = commands.add_parser("explain", help=words)
    option = command.add_argument
    option("model", type=Path, metavar="MODEL", help="an .npz file of `fit --save`")
    words = "rows with the model's features: with labels for confusion and calibration, or for --row"
    option("file", type=Path, nargs="?", metavar="FILE", help=words)
    option("--label", metavar="NAME", help="label whose features, alike labels and reasons are listed")
    option("--row", type=int, metavar="N", help="row of FILE, from 1, whose score for --label is explained")
    option("--labels", metavar="FILE", help="as for `fit`, where the rows come with labels")
    option("--top", default=10, type=int, metavar="K", help="features and labels to list (default: 10)")
    option("--embeddings", type=Path, metavar="FILE", help="write the embedding of each label as CSV")
    add_json(command)


def run(options: argparse.Namespace) -> int:
    """Explain, and print tables."""
    from lrlab.fits import explanations
    from lrlab.fits.fitted_model import load_model
    from lrlab.fits.ratings_model import RatingModel

    if options.embeddings:
        require_place("--embeddings", options.embeddings, ".csv")
    if options.top < 1:
        raise InputError("top", "a whole number above 0", options.top, "request at least one")
    model = load_model(options.model)
    if isinstance(model, RatingModel):
        raise InputError("MODEL", "a model of labels", "one of ratings", "take `predict --user`")
    tables = dict[str, Any]()
    if options.label is not None:
        label = explanations.place_of(model, options.label)
        tables["features"] = explanations.strongest_features(model, label, options.top)
        tables["nearest labels"] = explanations.nearest_labels(model, label, options.top)
    if options.embeddings:
        explanations.embedding_table(model).to_csv(options.embeddings, index=False)
    if options.file is not None:
        tables |= of_rows(model, options)
    elif options.row is not None:
        raise InputError("FILE", "given for --row", "nothing", "name the file of the row")
    else:
        require_left_out(options, {"labels": None}, "without FILE")
    if not tables and not options.embeddings:
        raise InputError("explain", "one of --label, --embeddings and FILE", "none", "say what is explained")
    if options.json:
        print_json({k: rows if isinstance(rows, float) else rows.to_dict("records") for k, rows in tables.items()})
        return DONE
    for name, rows in tables.items():
        say(f"{name}: {rows:.6g}" if isinstance(rows, float) else f"{name}\n{rows.to_string(index=False)}")
    return DONE


def of_rows(model: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Return the reasons for a row, or, without --row, the confusion of each label and the calibration."""
    from lrlab.fits import explanations, label_results

    data = model.read(options.file, options.labels)
    if options.row is not None:
        if options.label is None:
            raise InputError("--label", "given for --row", "nothing", "name the label whose score is explained")
        if not 1 <= options.row <= data.n:
            raise InputError("row", f"in 1..{data.n}", options.row, "name another row")
        label = explanations.place_of(model, options.label)
        table, mean = explanations.contributions(model, data.X, options.row - 1, label, options.top)
        return {"mean score": mean, "contributions": table, "score": mean + float(table["contribution"].sum())}
    if data.observed is not None and not data.observed.nnz:
        raise InputError("FILE", "rows with labels, or --row", "rows without", "add the labels, or name a row")
    calibrated = explanations.calibration(model, data)
    return {
        "labels": label_results.metrics_by_label(model, data),
        "calibration": calibrated,
        "calibration error": explanations.calibration_error(calibrated),
    }
