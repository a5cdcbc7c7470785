"""Reads preset files, and checks them as a whole before anything is run."""

from importlib import import_module
from importlib.util import find_spec

from lrlab.parameters import InputError, require_known
from lrlab.presets import claims, moved
from lrlab.presets.definition import Preset
from lrlab.presets.file_keys import KINDS, REQUIRED
from lrlab.presets.papers import paper_of
from lrlab.sweeps.definition import COUNT
from lrlab.sweeps.toml_source import Keys, Source


def keys_of(kind: str) -> Keys:
    """Return the keys of a file of a kind: of `KINDS`, or `KEYS` of its own module; InputError if neither."""
    module = f"{__package__}.{kind}"
    if kind not in KINDS and kind.isidentifier() and find_spec(module):
        keys = getattr(import_module(module), "KEYS", None)
        if isinstance(keys, Keys):
            return keys
    require_known(kind, KINDS, what="kind")
    return KINDS[kind]


def read(name: str, text: str) -> Preset:
    """Return the preset of a file's text; InputError, with the path, for unknown or missing keys and wrong kinds."""
    source = Source(text, "preset file", f"{name}.toml")
    figure = source.content.get("figure")
    kind = figure.get("kind") if isinstance(figure, dict) else None
    with source.locate(("figure",)):
        keys = keys_of(kind if isinstance(kind, str) else "curves")
    source.check(keys, "a preset")
    for key in REQUIRED.get(str(kind), ()):
        if not source.content.get(key):
            remedy = f'add a line or a table "{key}" to the preset'
            raise source.located(InputError(key, "given", "nothing", remedy), ())
    with source.locate(("trials",)):
        COUNT.check(source.content["trials"])
    for key, label in (("panels", "title"), ("series", "label"), ("columns", "label")):
        used = set[str]()
        for number, table in enumerate(source.content.get(key, ())):
            if table[label] in used:
                error = InputError(label, f"different in all {key}", table[label], "name each differently")
                raise source.located(error, (key, number, label))
            used.add(table[label])
    title, reference, explanation = (source.content[key].strip() for key in ("title", "reference", "explanation"))
    if paper := paper_of(name):
        reference = f"{paper.citation}, {reference.removeprefix(f'{paper.citation}, ')}"
    preset = Preset(name, title, str(kind), reference, explanation, source)
    claims.check(preset)
    moved.check(preset)
    return preset
