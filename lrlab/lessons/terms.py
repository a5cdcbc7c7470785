"""The words of the glossary, by term: what lessons explain where a term stands."""

import re
from functools import cache
from importlib.resources import files

ENTRY = re.compile(r"^- \*\*(?P<names>[^*]+)\*\*: (?P<words>.+)$", re.MULTILINE)


@cache
def terms() -> dict[str, str]:
    """Return the explanation of each term of glossary.md; a line may have several terms."""
    text = files(__package__).joinpath("glossary.md").read_text(encoding="utf-8")
    return {
        name.partition(" (")[0].strip().lower(): match["words"]
        for match in ENTRY.finditer(text)
        for name in match["names"].split(",")
    }
