"""Published data sets in a folder, found by their names as the usual archives unpack them."""

import os
from pathlib import Path
from typing import NamedTuple

from lrlab.datasets.unpacking import data_suffix
from lrlab.parameters import InputError

ENDINGS = (".arff", ".txt", ".svm", ".svmlight", ".libsvm", ".npz", ".csv")
FOLDER = "LRLAB_DATA"
"""The environment variable that names the folder where none is given."""


class Files(NamedTuple):
    """The files of a data set: rows to learn from, rows to test on, and the list of labels, where there is one."""

    train: Path
    test: Path
    labels: Path | None


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
