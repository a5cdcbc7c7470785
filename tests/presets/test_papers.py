"""What is written of the papers: their authors are all named, or the first with et al., wherever one is cited."""

import re
from pathlib import Path

import pytest

import lrlab
from lrlab.presets.papers import PAPERS

TEXTS = {
    path: " ".join(path.read_text("utf-8").split())
    for folder in (Path(lrlab.__file__).parent, Path(lrlab.__file__).parents[1] / "pages")
    for path in folder.rglob("*")
    if path.suffix in (".py", ".toml", ".md")
}


@pytest.mark.parametrize("paper", PAPERS.values(), ids=lambda paper: paper.key)
def test_citations_name_the_authors_of_the_paper(paper):
    first, *others = (name.split()[-1] for name in paper.authors)
    # After a comma it is an author of another paper, but not the first one.
    cited = re.compile(rf"(?<!, )\b{first}\b((?:,? (?:&|and|et al\.|[A-Z]\w+),?)*) \(?{paper.year}\b")
    accepted = {("et", "al"), tuple(others)}
    found = [(path.name, match[0]) for path, text in TEXTS.items() for match in cited.finditer(text)]
    assert found
    wrong = [
        (name, words)
        for name, words in found
        if tuple(w for w in re.findall(r"\w+", words)[1:-1] if w != "and") not in accepted
    ]
    assert not wrong
