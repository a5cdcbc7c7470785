"""Has the ratings of *own data* read from uploads, or draws a sample; they lie on disk for the life of the session."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from lrlab.fits.uploads import count_ratings
from lrlab.parameters import InputError
from lrlab.ui.own_data import row_source
from lrlab.ui.own_data.row_source import SAMPLE_TITLE, SOURCES, Folder
from lrlab.ui.shared import live, uploads
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

SESSION_KEY = "own_data:ratings"
CSV = ("csv", "tsv", "txt", "gz")
PARTS = {
    "ratings": ("Ratings", "A row for each: user, item, rating; further columns are left alone. Or pairs: user, item."),
    "users": ("Features of users (optional)", "A row for each: name, then numbers or words."),
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
    given = {part: row_source.file(link, part, *words, suffixes=CSV) for part, words in PARTS.items()}
    if given["ratings"] is None:
        return None
    files = tuple(getattr(one, "file_id", None) for one in given.values())
    try:
        return uploads.once(SESSION_KEY, files, lambda: read(given))
    except InputError as error:
        return error


def read(given: dict[str, Any]) -> RatingFiles:
    """Store uploaded files and have them read; InputError names the line of an error."""
    folder = Folder()
    paths = {part: folder.write(part, one) for part, one in given.items()}
    with st.spinner("Reading the ratings..."):
        sizes = row_source.read_folder(folder, partial(count_ratings, paths=paths))
    return of(given["ratings"].name, folder, paths, sizes)


def of(title: str, folder: Folder, paths: dict[str, str], sizes: str) -> RatingFiles:
    """Return the files of a folder by part."""
    whole = {part: str(folder.path / path) if path else "" for part, path in paths.items()}
    return RatingFiles(folder, whole, f"{title}: {sizes}")


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
    return of(SAMPLE_TITLE, folder, paths, count_ratings(folder.path, paths))


def store(folder: Folder, part: str, rows: list[str]) -> str:
    """Write rows to a file of the folder and return its name."""
    (folder.path / f"{part}.csv").write_text("\n".join(rows) + "\n")
    return f"{part}.csv"
