"""The papers whose experiments are presets: authors, titles and BibTeX entries, read from `papers.json`."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files


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
