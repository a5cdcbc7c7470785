"""The papers whose experiments are presets: the one place of their authors, titles and BibTeX entries."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper. key: what the names of its presets begin with. venue: where it appeared; arxiv: its number there."""

    key: str
    authors: tuple[str, ...]
    title: str
    year: int
    venue: str = ""
    arxiv: str = ""

    @property
    def short(self) -> str:
        """Family names, of three or more the first, and the year."""
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


PAPERS = {
    paper.key: paper
    for paper in (
        Paper(
            "yi2015",
            ("Xinyang Yi", "Zhaoran Wang", "Constantine Caramanis", "Han Liu"),
            "Optimal linear estimation under unknown nonlinear transform",
            2015,
            "Advances in Neural Information Processing Systems 28",
            "1505.03257",
        ),
        Paper(
            "jain2013",
            ("Prateek Jain", "Inderjit S. Dhillon"),
            "Provable inductive matrix completion",
            2013,
            arxiv="1306.0626",
        ),
        Paper(
            "soltani2018",
            ("Mohammadreza Soltani", "Chinmay Hegde"),
            "Towards provable learning of polynomial neural networks using low-rank matrix estimation",
            2018,
            "Proceedings of the 21st International Conference on Artificial Intelligence and Statistics, PMLR 84",
        ),
        Paper(
            "yu2014",
            ("Hsiang-Fu Yu", "Prateek Jain", "Purushottam Kar", "Inderjit S. Dhillon"),
            "Large-scale multi-label learning with missing labels",
            2014,
            "Proceedings of the 31st International Conference on Machine Learning, PMLR 32",
            "1307.5101",
        ),
        Paper(
            "qiu2017",
            ("Shuang Qiu", "Tingjin Luo", "Jieping Ye", "Ming Lin"),
            "Nonconvex one-bit single-label multi-label learning",
            2017,
            arxiv="1703.06104",
        ),
    )
}
"""By key."""


def paper_of(name: str) -> Paper | None:
    """Return the paper of a preset, None where it is of none of them."""
    return PAPERS.get(name.partition("-")[0])
