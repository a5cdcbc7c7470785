"""Settings from the environment: one table of `LRLAB_*`, for a laptop and for a server of a class.

`LRLAB_PROFILE=classroom` takes the second column; each setting can still be set by itself.
"""

import math
import os
from typing import NamedTuple

from lrlab.parameters import InputError


class Setting(NamedTuple):
    """A number: its meaning, and its value on a laptop and in a class."""

    meaning: str
    laptop: float
    classroom: float
    low: float = 1.0
    expected: str = "a number of at least 1"


PROFILES = ("laptop", "classroom")
SETTINGS = {
    "LRLAB_SWEEP_HOURS": Setting("hours that a sweep may take", 24.0, 1.0, 0.0, "a number of hours above 0"),
    "LRLAB_SPARE_WORKERS": Setting("workers beyond the cores, for what must not wait", 2, 4),
    "LRLAB_BROWSER_RUNS": Setting("runs and sweeps under way that one browser may have", 10, 3),
    "LRLAB_SERVER_RUNS": Setting("runs and sweeps under way that all browsers together may have", 100, 100),
}
TEXTS = {
    "LRLAB_MEMORY_GIB": "GiB that one job may use; 80% of the machine's, shared by all workers",
    "LRLAB_STORE": "the file of stored trials",
    "LRLAB_PLUGINS": "Python files with your solvers and models, separated as in PATH",
    "LRLAB_SCHEDULER": "the address of a dask scheduler that runs the jobs",
    "LRLAB_PRELOAD": "modules that workers import before their first job; none: the engine is ready a second sooner",
    "LRLAB_DATA": "the folder of data sets",
    "LRLAB_EMBED": "sites that may show pages in a frame, as https://course.example, separated by spaces",
}
"""Settings without a number, and their meaning; the same in both profiles."""


def number(name: str) -> float:
    """Return the value of a setting; InputError if it is set to anything but a number in its range."""
    setting = SETTINGS[name]
    usual = setting.classroom if profile() == "classroom" else setting.laptop
    given = os.environ.get(name, "")
    try:
        value = float(given) if given else usual
    except ValueError:
        value = math.nan
    if not (value >= setting.low and value > 0.0):
        raise InputError(name, setting.expected, given, "set it to a number, or unset it")
    return value


def profile() -> str:
    """Return "laptop" or "classroom"."""
    chosen = os.environ.get("LRLAB_PROFILE", PROFILES[0])
    if chosen not in PROFILES:
        raise InputError("LRLAB_PROFILE", f"one of {', '.join(PROFILES)}", chosen, "set it to one of them, or unset it")
    return chosen
