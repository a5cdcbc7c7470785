"""Readers of users' own data: `read` for features and labels, `read_ratings` for ratings with side information.

Nothing in a file is executed or unpickled; sizes are checked before memory is taken; whatever is wrong is refused by
one InputError that names the line and what was expected there.
"""

from os import PathLike
from pathlib import Path

from lrlab.datasets.arff import read_arff
from lrlab.datasets.dataset import Dataset, matching, without_labels
from lrlab.datasets.labels import LabelChoice, Labels, choose_labels
from lrlab.datasets.npz import read_npz, save_npz
from lrlab.datasets.ratings import Ratings, read_pairs, read_ratings
from lrlab.datasets.svmlight import is_extreme, read_extreme, read_svmlight
from lrlab.datasets.table import read_table
from lrlab.datasets.text import LIMIT_BYTES, Source
from lrlab.datasets.unpacking import data_suffix
from lrlab.parameters import InputError, nearest

__all__ = ["FORMATS", "LIMIT_BYTES", "SUFFIXES", "Dataset", "Ratings", "read", "read_pairs", "read_ratings", "save_npz"]

FORMATS = {"arff": "ARFF", "svmlight": "svmlight", "extreme": "extreme classification", "csv": "CSV", "npz": ".npz"}
SUFFIXES = {".arff": "arff", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".txt": "text"}
SUFFIXES |= {".csv": "csv", ".tsv": "csv", ".npz": "npz"}
READERS = {"arff": read_arff, "extreme": read_extreme, "npz": read_npz}
LIKE_READERS = {"csv": read_table, "svmlight": read_svmlight}
"""Readers that need the columns of the other file."""


def read(
    path: str | PathLike[str],
    labels: Labels = None,
    *,
    like: Dataset | None = None,
    unlabelled: bool = False,
    file_format: str = "",
    limit: int = 0,
    limit_bytes: int = LIMIT_BYTES,
) -> Dataset:
    """Read features and labels from a file.

    `labels`: an XML file or a text file of names, a list of names, or how many columns (`last:6` or 6, `first:6`); for
    formats that number their labels, their names or number, if wanted. `like`: the data whose columns this file must
    have, such as the training data of a test file. `unlabelled`: rows of `like`'s columns may come without the labels,
    which are then unknown; what is not said of the labels is taken from there. `file_format`: one of FORMATS, else the
    suffix decides (a .txt that begins with three whole numbers is of the extreme classification repository, any other
    one svmlight). `limit`: how many rows are read, the first ones; 0 takes all. `limit_bytes`: the memory that reading
    may take.
    """
    path = Path(path)
    if limit < 0:
        raise InputError("limit", "a number of rows, 0 for all", limit, "leave it out to read all rows")
    kind = file_format or SUFFIXES.get(data_suffix(path), "")
    if kind not in FORMATS and kind != "text":
        remedy = nearest(kind, FORMATS) if kind else "name the format by file_format (in the shell --format)"
        expected = "one of " + ", ".join(FORMATS if file_format else SUFFIXES)
        raise InputError("file_format" if file_format else "file", expected, file_format or path.name, remedy)
    source = Source(path, FORMATS.get(kind, "text"), limit)
    # A packed file is checked by what its members declare.
    source.check_size(limit_bytes, **({"growth": 1} if kind == "npz" else {}))
    if kind == "text":
        kind = "extreme" if is_extreme(source) else "svmlight"
    choice = choose_labels(labels, limit_bytes)
    if unlabelled:
        known = like.label_names if like else None
        choice = (choice or LabelChoice(names=known or ()))._replace(optional=True)
    if choice and like and like.label_names:
        choice = choice._replace(known=like.label_names)
    source = source._replace(kind=FORMATS[kind])
    reader = READERS.get(kind)
    # Columns of words, and numbers of features that have no names, are those of the other file.
    data = reader(source, choice, limit_bytes) if reader else LIKE_READERS[kind](source, choice, limit_bytes, like)
    return matching(without_labels(data, like) if unlabelled and like and not data.L else data, like)
