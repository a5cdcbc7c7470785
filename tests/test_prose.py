"""English that takes two readings stays rare: constructions per 1,000 words, lengths of help texts and captions."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lrlab import catalog
from lrlab.parameters import declared

ROOT = Path(__file__).parents[1]
CONTORTED = {
    "free what-clause": r"\b[Ww]hat (?:is|are|was|has|can|cannot|does|they|it|comes?|needs|follows|fails|no|others"
    r"|one|each|the|a) ",
    "where for if or when": r"\b[Ww]here\b(?!\()",
    "verb without agent": r"\b(?:is|are|was|were|be|been|being) (?:said|named|told|called|asked|refused|taken|meant"
    r"|heard|looked|left|counted|seen|held|drawn)\b",
    "that of, those of": r"\b(?:that|those) (?:of|with|without|in|at|on|along|for|from|which|whose|by)\b",
    "preposition and which": r"\b(?:of|to|from|for|by|with|in|on|at|beside|without|after|before|until|into)"
    r" (?:which|whose|whom)\b",
    "is no": r"\b(?:is|are|was|were) no (?!longer|more|less|fewer|worse|larger|better|such|one|need|way|different"
    r"|reason)\w+",
    "beside": r"\bbeside\b",
    "alone for only": r"\balone\b",
    "own without owner": r"\bone's own\b|\b(?:an|of|with|for|as) own\b|\bof (?:its|their|your|one's) own\b",
    "a for per": r"\b(?:one|each|two|\d+|once) an? (?:row|step|iteration|core|browser|label|sample|person|run|trial"
    r"|second|point|user|item)\b",
    "is of": r"\b(?:is|are|was|were) of (?!the order|order|course|interest)\b",
    "fronted of or so": r"(?:(?<=[.:;] )|(?<=^))(?:Of|So) (?:a|an|the|few|many|far|it|is|are)\b",
    "in the place of": r"\bin (?:the |its )?place of\b",
    "at hand": r"\bat hand\b",
}
TEXTS = {
    "README": ["README.md"],
    "documentation": ["docs/**/*.md", "CONTRIBUTING.md", "SECURITY.md"],
    "changelog": ["CHANGELOG.md"],
    "measurements": ["benchmarks/*.md"],
    "lessons": ["lrlab/lessons/*.toml", "lrlab/lessons/*.md"],
    "presets": ["lrlab/presets/**/*.toml"],
    "strings": ["lrlab/**/*.py", "pages/*.py"],
    "docstrings": ["lrlab/**/*.py", "pages/*.py"],
    "comments": ["lrlab/**/*.py", "pages/*.py", "tests/**/*.py"],
}
MOST = 6.0
"""Hits per 1,000 words; numpy, scipy and scikit-learn have 2 to 4."""


def pieces(surface: str, path: Path) -> Iterator[str]:
    """Yield the texts of a file that people read on a surface."""
    text = path.read_text("utf-8")
    if surface == "comments":
        yield from re.findall(r"^\s*#([^!].*)", text, re.M)
    elif surface in ("strings", "docstrings"):
        tree = ast.parse(text)
        strings = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        yield from (one.value for one in strings if (id(one) in alone) == (surface == "docstrings"))
    else:
        yield re.sub(r"```.*?```", "", text, flags=re.S)


@pytest.mark.slow
@pytest.mark.parametrize("surface", TEXTS)
def test_contorted_constructions_are_rare(surface):
    paths = {path for glob in TEXTS[surface] for path in ROOT.glob(glob) if not {"_build", "generated"} & {*path.parts}}
    texts = [text for path in sorted(paths) for text in pieces(surface, path) if len(text.split()) > 3]
    words = sum(len(text.split()) for text in texts)
    counts = {name: sum(len(re.findall(one, text, re.M)) for text in texts) for name, one in CONTORTED.items()}
    assert 1000 * sum(counts.values()) / words <= MOST, {name: count for name, count in counts.items() if count}


def test_a_contorted_sentence_counts():
    text = "What is stored is used again where there are rows enough; of that of one's own, nothing is said."
    assert sum(len(re.findall(one, text)) for one in CONTORTED.values()) >= 4


def test_help_of_parameters_and_options_is_short():
    """At most 15 words before a list of choices."""
    parameters = [(model, p) for model, spec in catalog.MODELS.items() for p in declared(spec).values()]
    solvers = [(s.name, p) for entries in catalog.SOLVERS.values() for s in entries for p in s.options.values()]
    long = [(name, p.name) for name, p in [*parameters, *solvers] if len(p.meaning.partition(":")[0].split()) > 15]
    assert not long


def test_captions_are_short():
    """At most 20 words per sentence of a caption that the source spells out."""
    long = []
    for path in sorted((ROOT / "lrlab" / "ui").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "caption" and node.args:
                text = getattr(node.args[0], "value", "")
                if isinstance(text, str):
                    long += [s for s in re.split(r"(?<=[.;:])\s", text) if len(s.split()) > 20]
    assert not long
