"""Published data sets that papers use: their sizes, where they come from, and their files in a folder.

None of the files is part of this package; in a folder they are found by their names as the usual archives unpack them.
"""

import os
from pathlib import Path
from typing import NamedTuple

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


SHAPES = {
    "bibtex": Shape(4_880, 2_515, 1_836, 159, 68.74, 2.40),
    "delicious": Shape(12_920, 3_185, 500, 983, 18.17, 19.03),
    "corel5k": Shape(4_500, 500, 499, 374, 8.26, 3.52),
    "emotions": Shape(391, 202, 72, 6, 72.0, 1.87),
    "eurlex": Shape(17_413, 1_935, 5_000, 3_993, 236.69, 5.30),
    "nus-wide": Shape(161_789, 107_859, 1_134, 1_000, 862.70, 5.78),
    "autofood": Shape(155, 38, 9_382, 162, 143.92, 15.80),
    "compphys": Shape(161, 40, 33_284, 208, 792.78, 9.80),
    "wiki": Shape(881_805, 10_000, 366_932, 213_707, 146.78, 7.06),
}

MULAN = "mulan.sourceforge.net/datasets.html: NAME-train.arff, NAME-test.arff, NAME.xml"
NOT_STATED = "not stated by its source"
NO_PAGE = "no public page known"

ABOUT = {
    "bibtex": (MULAN, NOT_STATED, "Katakis, Tsoumakas, Vlahavas (2008), ECML/PKDD discovery challenge"),
    "delicious": (
        MULAN,
        NOT_STATED,
        "Tsoumakas, Katakis, Vlahavas (2008), ECML/PKDD workshop on mining multidimensional data",
    ),
    "corel5k": (MULAN, NOT_STATED, "Duygulu, Barnard, de Freitas, Forsyth (2002), ECCV"),
    "emotions": (MULAN, NOT_STATED, "Trohidis, Tsoumakas, Kalliris, Vlahavas (2008), ISMIR, 325-330"),
    "eurlex": (
        "ke-tud.github.io/resources/eurlex.html (EUROVOC descriptors, first of ten splits); also on Mulan",
        "not stated for the set; EUR-Lex lets its legal documents be reused (Decision 2011/833/EU)",
        "Loza Mencía, Fürnkranz (2010), Semantic processing of legal texts, 192-215",
    ),
    "nus-wide": (
        "NUS-WIDE's page at lms.comp.nus.edu.sg: features of images, user tags",
        "not stated for features and tags; pictures are given on request, with a form of agreement",
        "Chua, Tang, Hong, Li, Luo, Zheng (2009), CIVR",
    ),
    "autofood": (NO_PAGE, NOT_STATED, "as Yu et al. (2014) use it"),
    "compphys": (NO_PAGE, NOT_STATED, "as Yu et al. (2014) use it"),
    "wiki": ("made by the authors of Wikipedia's pages; no public file known", NOT_STATED, "Yu et al. (2014)"),
}
"""Where the files are, their licence, who made the set."""

SETS = {
    name: {"rows": f"{shape.rows:,} + {shape.test_rows:,}", "features": shape.features, "labels": shape.labels}
    | dict(zip(("source", "licence", "reference"), ABOUT[name], strict=True))
    for name, shape in SHAPES.items()
}
"""What is said of each set, by name: rows to learn from and to test on, features, labels, and `ABOUT`."""

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
