"""Published data sets that papers use: their sizes, where they come from, and their files in a folder.

None of the files is part of this package; in a folder they are found by their names as the usual archives unpack them.
"""

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from lrlab.data.files import data_suffix
from lrlab.parameters import InputError

ENDINGS = (".arff", ".txt", ".svm", ".svmlight", ".libsvm", ".npz", ".csv")
FOLDER = "LRLAB_DATA"
"""The environment variable that names the folder where none is given."""


class Shape(NamedTuple):
    """Numbers of rows to learn from and to test on, features, labels, and means: features not 0 and labels on in a row.

    Those of Yu et al. (2014), Table 2; of emotions and corel5k those of their files.
    """

    rows: int
    test_rows: int
    features: int
    labels: int
    features_per_row: float
    labels_per_row: float


_KNOWN: dict[str, dict[str, Any]] = json.loads(files("lrlab.presets").joinpath("data_sets.json").read_text("utf-8"))
SHAPES = {name: Shape(*(about[key] for key in Shape._fields)) for name, about in _KNOWN.items()}
SETS = {
    name: {"rows": f"{shape.rows:,} + {shape.test_rows:,}", "features": shape.features, "labels": shape.labels}
    | {key: _KNOWN[name][key] for key in ("source", "licence", "reference")}
    for name, shape in SHAPES.items()
}
"""What is said of each set, by name: numbers of rows, features and labels, source, licence and reference."""

HOW = (
    "Of a set NAME a folder holds NAME-train and NAME-test in any format that is read (.arff, .svm, .txt, .csv, "
    ".npz; packed as .gz or .bz2 or not), in itself or in a folder NAME, and NAME.xml with the labels where the format "
    "is ARFF."
)
"""What a folder of data sets looks like."""


class Files(NamedTuple):
    """The files of a data set: rows to learn from, rows to test on, and the list of labels, where there is one."""

    train: Path
    test: Path
    labels: Path | None


Sets = dict[str, Files]
"""Files of data sets by name."""


def located(folder: str | os.PathLike[str] | None, names: tuple[str, ...]) -> dict[str, Files]:
    """Return the files of those data sets that a folder holds, by name; where it has none of them, of all it does hold.

    folder: by default that of LRLAB_DATA. Of a set NAME it holds NAME...train... and NAME...test... in any known
    format, and NAME.xml with the labels where the format needs them, in itself or in a folder NAME; upper and lower
    case are the same. InputError where no set is there.
    """
    given = folder or os.environ.get(FOLDER)
    remedy = f"put {names[0]}-train.arff, {names[0]}-test.arff and {names[0]}.xml there, for example"
    if not given:
        raise InputError("data", "a folder with data sets", "none", f"name one by --data or {FOLDER}")
    if not Path(given).is_dir():
        raise InputError("data", "a folder with data sets", given, "name one that is there")
    present = {name: files for name in names if (files := _files(Path(given), name))}
    if not present:
        present = {name: files for name in _names(Path(given)) if (files := _files(Path(given), name))}
    if not present:
        raise InputError("data", f"a folder with one of {', '.join(names)}", given, remedy)
    return present


def presence(folder: str | os.PathLike[str] | None, names: tuple[str, ...]) -> dict[str, Files | None]:
    """Return for each data set its files in a folder, by default that of LRLAB_DATA; None where it is not there."""
    given = folder or os.environ.get(FOLDER)
    there = bool(given) and Path(given or "").is_dir()
    return {name: _files(Path(given or ""), name) if there else None for name in names}


def _names(folder: Path) -> list[str]:
    """Return what stands before "train" in the names of files of a folder and of the folders in it, in lower case."""
    inside = [path for path in folder.iterdir() if path.is_dir()]
    stems = [path.stem.lower() for place in (folder, *inside) for path in place.iterdir() if path.suffix in ENDINGS]
    return sorted({name for stem in stems if (name := stem.partition("train")[0].rstrip("-_. ")) and "train" in stem})


def _files(folder: Path, name: str) -> Files | None:
    parts: dict[str, Path] = {}
    # The files of the folder, then those of the folder of that name in it.
    inside = [path for path in sorted(folder.iterdir()) if path.is_dir() and path.name.lower() == name.lower()]
    for path in (path for place in (folder, *inside) for path in sorted(place.iterdir()) if path.is_file()):
        ending = data_suffix(path)
        stem = path.name.lower()[: path.name.lower().rindex(ending)] if ending else path.stem.lower()
        if ending == ".xml" and stem == name.lower():
            parts.setdefault("labels", path)
        elif ending in ENDINGS and stem.startswith(name.lower()):
            for part in ("train", "test"):
                if part in stem.removeprefix(name.lower()):
                    parts.setdefault(part, path)
    return Files(parts["train"], parts["test"], parts.get("labels")) if {"train", "test"} <= parts.keys() else None
