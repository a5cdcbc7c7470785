"""Settings from the environment: one table of `LRLAB_*`, for a laptop and for a server of a class.

`LRLAB_PROFILE=classroom` takes the second column; each setting can still be set by itself.
"""

import math
import os
from typing import NamedTuple

from lrlab.parameters import Parameter


class Setting(NamedTuple):
    """A number: its meaning, its value on a laptop and in a class, and its least value."""

    meaning: str
    laptop: float
    classroom: float
    low: float = 1.0


PROFILES = ("laptop", "classroom")
SETTINGS = {
    "LRLAB_SWEEP_HOURS": Setting("hours after which a page pauses a sweep", 24.0, 1.0, low=1e-12),
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
    """Return the value of a setting, inf for no limit; InputError if it is not a number in its range."""
    setting, given = SETTINGS[name], os.environ.get(name, "").strip().lower()
    if not given:
        return setting.classroom if profile() == "classroom" else setting.laptop
    if given == "inf":
        return math.inf
    parameter = Parameter(name=name, meaning=setting.meaning, low=setting.low, default=setting.laptop)
    return float(parameter.check(given))


def profile() -> str:
    """Return "laptop" or "classroom"."""
    parameter = Parameter(name="LRLAB_PROFILE", meaning="a profile", kind=str, choices=PROFILES, default=PROFILES[0])
    return str(parameter.check(os.environ.get("LRLAB_PROFILE") or PROFILES[0]))
