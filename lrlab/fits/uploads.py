"""Reads what people upload, on a worker: files of a folder that the worker sees, or that travels with the task."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scipy.sparse import issparse

from lrlab import datasets
from lrlab.arrays import Array
from lrlab.datasets import Dataset, read_ratings
from lrlab.datasets.labels import Labels
from lrlab.datasets.ratings_features import read_features
from lrlab.fits import baselines, label_results
from lrlab.fits.label_results import LabelCorrelations
from lrlab.models.multilabel_problem import measured
from lrlab.models.own_rows import split
from lrlab.models.scaling import Scaling, automatic, deviations, spread_remark
from lrlab.runs.memory import memory_limit

TRAIN, TEST, OTHERS = "train.npz", "test.npz", "others.npz"
SIDES = ("user", "item")


class Reading(NamedTuple):
    """function(folder) for a folder with uploaded files: its path, "" where the worker does not see it, or files."""

    function: Callable[[Path], Any]
    folder: str
    files: Mapping[str, bytes]


def carry_out(reading: Reading) -> tuple[Any, dict[str, bytes]]:
    """Return the function's value and, of a folder that the worker does not see, the files that it has written."""
    if reading.folder:
        return reading.function(Path(reading.folder)), {}
    with tempfile.TemporaryDirectory(prefix="lrlab-own-") as name:
        for file, content in reading.files.items():
            (Path(name) / file).parent.mkdir(exist_ok=True)
            (Path(name) / file).write_bytes(content)
        value = reading.function(Path(name))
        return value, {path.name: path.read_bytes() for path in Path(name).glob("*.npz")}


@dataclass(frozen=True, eq=False)
class RowFacts:
    """What a page shows of training rows: the table without its rows, and statistics.

    units, automatic: deviations of features, and the scaling that auto is. spread: a sentence where they differ much.
    floor: the scores of label frequencies on the test rows. entries: stored features of the training rows. known: share
    of their labels that is known. counts, together: frequencies and correlations of their labels.
    """

    columns: Dataset
    n: int
    entries: int
    known: float
    counts: Any
    together: LabelCorrelations
    units: Array
    automatic: Scaling
    spread: str
    floor: Mapping[str, float]


def read_rows(folder: Path, files: Sequence[str], labels: Labels, share: float) -> RowFacts:
    """Read rows with features and labels from files of the folder, and write them there in a common format.

    files: training rows; test rows, or "", which holds out the share of the rows; a list of labels, or "" for `labels`.
    Those with rows are removed. InputError names the line of an error.
    """
    train, test, names = files
    labels = str(folder / names) if names else labels
    given = _read_and_remove(folder / train, labels)
    if test:
        fresh = _read_and_remove(folder / test, labels, given)
    else:
        given, fresh = split(given, share, 0)
    return store_rows(folder, given, fresh)


def _read_and_remove(path: Path, labels: Labels, like: Dataset | None = None) -> Dataset:
    try:
        return datasets.read(path, labels, like=like, limit_bytes=memory_limit())
    finally:
        path.unlink()


def store_rows(folder: Path, given: Dataset, fresh: Dataset) -> RowFacts:
    """Write both tables to the folder, and return their description."""
    entries = given.X.nnz if issparse(given.X) else given.X.size
    known = 1.0 if given.observed is None else given.observed.nnz / (given.n * given.L)
    frequent: Any = baselines.frequencies(given.d, given.Y, given.observed)
    datasets.save_npz(folder / TRAIN, given)
    datasets.save_npz(folder / TEST, fresh)
    return RowFacts(
        given.rows(slice(0, 0)),
        given.n,
        entries,
        known,
        label_results.label_counts(given),
        label_results.label_correlations(given),
        deviations(given.X),
        automatic(given.X),
        spread_remark(given.X),
        measured(frequent, fresh.X, fresh.Y, fresh.observed),
    )


def read_other_rows(folder: Path, file: str, like: Dataset) -> None:
    """Read rows with the features of `like`, with labels or without, and write them to the folder."""
    path = folder / file
    rows = datasets.read(path, None, like=like, unlabelled=True, limit_bytes=memory_limit())
    datasets.save_npz(folder / OTHERS, rows)


def read_file(folder: Path, file: str, reader: Callable[[Path], Any]) -> Any:
    """Return what a reader of one file makes of a file of the folder."""
    return reader(folder / file)


def count_ratings(folder: Path, paths: Mapping[str, str]) -> str:
    """Return the sizes of ratings and of the features of both sides in words; InputError names the line of an error."""
    limit = memory_limit()
    files = {part: folder / path for part, path in paths.items() if path}
    users, items = (read_features(files[f"{what}s"], what, limit) if f"{what}s" in files else None for what in SIDES)
    ratings = read_ratings(files["ratings"], users, items, limit)
    what = "pairs without ratings" if ratings.alike else "ratings"
    words = f"{len(ratings.values):,} {what} of {ratings.table[1]:,} items by {ratings.table[0]:,} users"
    for what, side in zip(SIDES, (users, items), strict=True):
        words += f"; {len(side.columns):,} features of {what}s" if side else f"; no features of {what}s"
    if "later" in files:
        words += f"; {len(read_ratings(files['later'], users, items, limit).values):,} test ratings"
    return words
