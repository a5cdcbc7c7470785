"""The papers whose experiments are presets, and the published data sets that they use, which the user must provide.

`papers.json` has authors, titles and venues; `data_sets.json` has sizes and sources. The package contains none of the
data files. lrlab finds them by the names that the usual archives give them.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from lrlab.data.files import data_suffix
from lrlab.parameters import InputError

ENDINGS = (".arff", ".txt", ".svm", ".svmlight", ".libsvm", ".npz", ".csv")
FOLDER = "LRLAB_DATA"
"""Environment variable with the default folder."""
SETS: dict[str, dict[str, Any]] = json.loads(files("lrlab.presets").joinpath("data_sets.json").read_text("utf-8"))
"""Facts about each set, by name: numbers of training samples (`rows`), test samples, features and labels; means of
nonzero features and positive labels per sample; source, license and reference. From Yu et al. (2014), Table 2; for
emotions and corel5k, counted in the files."""
HOW = (
    "For a set NAME the folder, or its subfolder NAME, holds NAME-train and NAME-test in any format that lrlab reads "
    "(.arff, .svm, .txt, .csv, .npz; also as .gz or .bz2), and NAME.xml with the labels if the format is ARFF."
)
"""Layout of a folder of data sets."""


@dataclass(frozen=True)
class Paper:
    """A paper. key: first part of the names of its presets; venue: journal or conference; arxiv: its arXiv number."""

    key: str
    authors: Sequence[str]
    title: str
    year: int
    venue: str = ""
    arxiv: str = ""

    @property
    def short(self) -> str:
        """Family names and the year; only the first name if there are three or more."""
        names = [name.split()[-1] for name in self.authors]
        return f"{names[0]} et al. {self.year}" if len(names) > 2 else f"{' & '.join(names)} {self.year}"

    @property
    def citation(self) -> str:
        """Authors, year and title."""
        return f"{', '.join(self.authors)} ({self.year}), {self.title}"

    @property
    def bibtex(self) -> str:
        """The entry for a bibliography."""
        authors = " and ".join(f"{name.split()[-1]}, {' '.join(name.split()[:-1])}" for name in self.authors)
        fields = {"author": authors, "title": f"{{{self.title}}}", "year": str(self.year)}
        fields |= {"booktitle": self.venue} if self.venue else {}
        fields |= {"eprint": self.arxiv, "archiveprefix": "arXiv"} if self.arxiv else {}
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
        return f"@{'inproceedings' if self.venue else 'misc'}{{{self.key},\n{lines}\n}}"


_KNOWN = json.loads(files("lrlab.presets").joinpath("papers.json").read_text("utf-8"))
PAPERS = {about["key"]: Paper(**about) for about in _KNOWN}
"""All papers by key."""


def paper_of(name: str) -> Paper | None:
    """Return the paper of a preset, or None if it belongs to no paper."""
    return PAPERS.get(name.partition("-")[0])


class Files(NamedTuple):
    """The files of a data set: training samples, test samples, and the list of labels, if any."""

    train: Path
    test: Path
    labels: Path | None


Sets = dict[str, Files]
"""Files of data sets by name."""


def located(folder: str | os.PathLike[str] | None, names: tuple[str, ...]) -> Sets:
    """Return the files of the named data sets that a folder holds, or, if it holds none of them, of all its sets.

    folder: by default LRLAB_DATA, with the layout HOW; upper and lower case are the same. InputError without any set.
    """
    given = folder or os.environ.get(FOLDER)
    if not given or not Path(given).is_dir():
        raise InputError("data", "a folder with data sets", given or "none", f"name one by --data or {FOLDER}")
    stems = [path.stem.lower() for path in (*Path(given).iterdir(), *Path(given).glob("*/*")) if path.suffix in ENDINGS]
    others = {name for stem in stems if "train" in stem and (name := stem.partition("train")[0].rstrip("-_. "))}
    for wanted in (names, sorted(others)):
        if found := {name: files for name, files in presence(given, wanted).items() if files}:
            return found
    remedy = f"put {names[0]}-train.arff, {names[0]}-test.arff and {names[0]}.xml there, for example"
    raise InputError("data", f"a folder with one of {', '.join(names)}", given, remedy)


def presence(folder: str | os.PathLike[str] | None, names: Sequence[str]) -> dict[str, Files | None]:
    """Return for each data set its files in a folder, by default LRLAB_DATA, or None if they are missing."""
    given = folder or os.environ.get(FOLDER)
    return {name: _files(Path(given), name) if given and Path(given).is_dir() else None for name in names}


def _files(folder: Path, name: str) -> Files | None:
    """Return the files of a set in a folder or in its subfolder of that name; None without training or test samples."""
    parts: dict[str, Path] = {}
    inside = sorted(path for path in folder.glob("*/*") if path.parent.name.lower() == name)
    for path in [*sorted(folder.iterdir()), *inside]:
        ending = data_suffix(path)
        stem = path.name.lower().rpartition(ending or ".")[0]
        if ending == ".xml" and stem == name:
            parts.setdefault("labels", path)
        for part in ("train", "test") if ending in ENDINGS and stem.startswith(name) else ():
            if part in stem.removeprefix(name):
                parts.setdefault(part, path)
    return Files(parts["train"], parts["test"], parts.get("labels")) if {"train", "test"} <= parts.keys() else None
