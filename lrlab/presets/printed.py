"""Figures of papers, redrawn from the numbers that these print: of the kinds whose files have such numbers."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from lrlab import presets
from lrlab.figures.build import Figure
from lrlab.presets import comparison, fits
from lrlab.presets.definition import Preset

KINDS: Mapping[str, Callable[[Preset], dict[str, Figure]]] = {"comparison": comparison.printed, "fits": fits.printed}


@lru_cache(maxsize=64)
def redrawn(name: str) -> Mapping[str, Figure]:
    """Return the panels of a preset for which the paper prints numbers, drawn of these alone, by their titles."""
    preset = presets.load(name)
    return KINDS[preset.kind](preset) if preset.kind in KINDS else {}
