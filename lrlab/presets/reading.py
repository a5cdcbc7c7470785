"""Reads preset files, and checks them as a whole before anything is run."""

from lrlab.aliases import PRESET_KEYS, PRESET_KINDS
from lrlab.models.axes import axes
from lrlab.parameters import InputError, require_known
from lrlab.presets import claims
from lrlab.presets.definition import KINDS, Preset
from lrlab.presets.papers import paper_of
from lrlab.sweeps.definition import COUNT
from lrlab.sweeps.toml_source import Source


def read(name: str, text: str) -> Preset:
    """Return the preset in a text; InputError, with the path, for unknown or missing keys and wrong kinds."""
    source = Source(text, "preset file", f"{name}.toml")
    figure = source.content.get("figure")
    kind = str(figure.get("kind", "lines")) if isinstance(figure, dict) else "lines"
    kind = PRESET_KINDS.get(kind, kind)
    with source.locate(("figure",)):
        require_known(kind, KINDS, what="kind")
    _rename_keys(source)
    source.check(KINDS[kind], "a preset")
    needed = ("model", "tune_by", "paper", "panels", "series") if "data" in source.content else ("columns", "panels")
    for key in needed if kind == "table" else ():
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
    preset = Preset(name, title, kind, reference, explanation, source)
    claims.check(preset)
    _check_slider(preset)
    return preset


def _check_slider(preset: Preset) -> None:
    """Raise InputError, with the path, if the slider changes no parameter or misses the stored result."""
    if preset.positions:
        with preset.source.locate(("slider",)):
            require_known(preset.content["slider"]["name"], tuple(axes(type(preset.specs[0]))), what="parameter")
            if preset.start not in preset.positions:
                expected = f"with {preset.start:g}, the position of the stored result"
                raise InputError("values", expected, preset.positions, "add it")


def _rename_keys(source: Source) -> None:
    """Replace old keys of a file by today's keys."""
    for name, keys in PRESET_KEYS.items():
        tables = source.content.get(name)
        for table in tables if isinstance(tables, list) else ():
            for old in keys.keys() & set(table):
                table[keys[old]] = table.pop(old)
