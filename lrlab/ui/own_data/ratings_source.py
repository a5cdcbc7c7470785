"""Reads the ratings of *own data* from uploads or a sample; stores them on disk for the life of the session."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from lrlab.datasets import read_ratings
from lrlab.datasets.ratings_features import read_features
from lrlab.parameters import InputError
from lrlab.runs.memory import memory_limit
from lrlab.ui.own_data.row_source import LIMIT_MB, SOURCES, Folder, write_upload
from lrlab.ui.shared import live
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

SESSION_KEY = "own_data:ratings"
PARTS = {
    "ratings": ("Ratings", "A row for each: user, item, rating; further columns are left alone."),
    "users": (
        "Features of users (optional)",
        "A row for each: name, then numbers or words.",
    ),
    "items": ("Features of items (optional)", "As for users; words of one field are separated by |."),
    "later": ("Test ratings (optional)", "As the ratings; by default a fifth of the ratings is held out."),
}
SAMPLE_SIZES = 200, 120, 6000
JOBS = ("teacher", "nurse", "farmer", "student", "lawyer", "baker")
GENRES = ("drama", "comedy", "war", "crime", "music", "western")


@dataclass(frozen=True, eq=False)
class RatingFiles:
    """Files of ratings and of features by part, "" for one that is not there, and a line that says their sizes."""

    folder: Folder
    paths: dict[str, str]
    words: str


def choose(link: Permalink) -> RatingFiles | InputError | None:
    """Show the choice of ratings; return them, the error in a file, or None where there is no file yet."""
    source = controls.choose(link, "from", SOURCES, "sample", "the ratings that solvers are fitted to", "Ratings")
    if source == "sample":
        return live.once(SESSION_KEY, "sample", sample)
    uploads = {part: upload(link, part) for part in PARTS}
    if uploads["ratings"] is None:
        return None
    files = tuple(getattr(one, "file_id", None) for one in uploads.values())
    try:
        # An error leaves the old ratings in place.
        return live.once(SESSION_KEY, files, lambda: read(uploads))
    except InputError as error:
        return error


def upload(link: Permalink, part: str, title: str = "", words: str = "") -> Any:
    """Show the upload of a CSV; its content stays in the session."""
    title, words = (title, words) if title else PARTS[part]
    return st.file_uploader(
        title, ["csv", "tsv", "txt", "gz"], key=link.key(part), help=f"CSV. {words} At most {LIMIT_MB} MB.",
        max_upload_size=LIMIT_MB,
    )  # fmt: skip


def read(uploads: dict[str, Any]) -> RatingFiles:
    """Store uploaded files and read them once; InputError names the line of an error."""
    folder = Folder()
    paths = {part: str(write_upload(folder, part, one)) if one else "" for part, one in uploads.items()}
    with st.spinner("Reading the ratings..."):
        return checked(uploads["ratings"].name, folder, paths)


def checked(title: str, folder: Folder, paths: dict[str, str]) -> RatingFiles:
    """Return the files with their sizes; InputError where one cannot be read."""
    limit = memory_limit()
    users, items = (read_features(paths[f"{what}s"], what, limit) if paths[f"{what}s"] else None for what in SIDES)
    ratings = read_ratings(paths["ratings"], users, items, limit)
    words = f"{title}: {len(ratings.values):,} ratings of {ratings.table[1]:,} items by {ratings.table[0]:,} users"
    for what, side in zip(SIDES, (users, items), strict=True):
        words += f"; {len(side.columns):,} features of {what}s" if side else f"; no features of {what}s"
    if paths["later"]:
        words += f"; {len(read_ratings(paths['later'], users, items, limit).values):,} test ratings"
    return RatingFiles(folder, paths, words)


SIDES = ("user", "item")


def sample() -> RatingFiles:
    """Return synthetic ratings by people with jobs of films with genres, so that the page has data at first."""
    rng, folder = np.random.default_rng(0), Folder()
    n1, n2, m = SAMPLE_SIZES
    paths, vectors = dict.fromkeys(PARTS, ""), []
    for part, letter, words, n in (("users", "user", JOBS, n1), ("items", "film", GENRES, n2)):
        chosen = rng.integers(len(words), size=n)
        vectors.append(rng.standard_normal((len(words), 4))[chosen] + 0.7 * rng.standard_normal((n, 4)))
        rows = [f"{letter} {i + 1},{words[w]}" for i, w in enumerate(chosen)]
        paths[part] = store(folder, part, [f"{letter},{'job' if part == 'users' else 'genre'}", *rows])
    places = rng.choice(n1 * n2, size=m, replace=False)
    i, j = np.divmod(places, n2)
    u, v = vectors[0][i], vectors[1][j]
    values = 3.2 + 0.35 * (u[:, 0] + v[:, 0] + (u[:, 1:] * v[:, 1:]).sum(axis=1)) + 0.5 * rng.standard_normal(m)
    stars = np.clip(2 * values, 1, 10).round() / 2
    rows = [f"user {a + 1},film {b + 1},{c:g}" for a, b, c in zip(i, j, stars, strict=True)]
    paths["ratings"] = store(folder, "ratings", ["user,film,rating", *rows])
    return checked("A synthetic sample", folder, paths)


def store(folder: Folder, part: str, rows: list[str]) -> str:
    """Write rows to a file of the folder and return its path."""
    path = Path(folder.path / f"{part}.csv")
    path.write_text("\n".join(rows) + "\n")
    return str(path)
