"""Reads preset files; an unknown key or a value of the wrong kind is an error with its path."""

from typing import Any

from lrlab.aliases import PRESET_KEYS, PRESET_KINDS
from lrlab.parameters import require_known
from lrlab.presets.definition import KINDS, Preset
from lrlab.presets.papers import paper_of
from lrlab.sweeps.toml import Source


def read(name: str, text: str) -> Preset:
    """Return the preset in a text; InputError, with the path, for unknown or missing keys and wrong kinds."""
    source = Source(text, "preset file", f"{name}.toml")
    content = source.content
    figure = content.get("figure")
    kind = str(figure.get("kind", "lines")) if isinstance(figure, dict) else "lines"
    kind = PRESET_KINDS.get(kind, kind)
    with source.locate(("figure",)):
        require_known(kind, KINDS, what="kind")
    _rename_keys(content)
    source.check(KINDS[kind], "a preset")
    title, reference, explanation = (content[key].strip() for key in ("title", "reference", "explanation"))
    if paper := paper_of(name):
        reference = f"{paper.citation}, {reference.removeprefix(f'{paper.citation}, ')}"
    return Preset(name, title, kind, reference, explanation, content)


def _rename_keys(content: dict[str, Any]) -> None:
    """Replace old keys of a file by today's keys."""
    for name, keys in PRESET_KEYS.items():
        tables = content.get(name)
        for table in tables if isinstance(tables, list) else ():
            for old in keys.keys() & set(table):
                table[keys[old]] = table.pop(old)
