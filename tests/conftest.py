"""Shared by all tests: one BLAS thread, one engine per session, long files first, and processes that Ctrl-C ends."""

import functools
import hashlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from lrlab.engine.engine import Engine

# Read when numpy is imported, which is why lrlab is imported inside the fixture. Each core runs a test: threads of
# linear algebra would compete with them and take twice the time.
os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

# Examples have no time limit, because a slow machine would exceed it. The suite tries the same ones, soak new ones.
SOAK = {"LRLAB_FUZZ", "LRLAB_RANDOM_SPECS"} & os.environ.keys()
hypothesis.settings.register_profile(
    "lrlab", deadline=None, suppress_health_check=list(hypothesis.HealthCheck), derandomize=not SOAK, database=None
)
hypothesis.settings.load_profile("lrlab")

LONGEST = "test_journeys.py"
"""The file whose tests take a fifth of the time of all."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files, so that no core ends with one of them while the others have finished."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path.name != LONGEST, item.path not in slow, item.path.parent.name != "ui"))


@pytest.fixture(autouse=True)
def _catalogue_as_before() -> Iterator[None]:
    """Remove entries from the catalog that a test added."""
    from lrlab import catalog

    before = catalog.PLUGINS, catalog.LEFT_OUT
    yield
    if (catalog.PLUGINS, catalog.LEFT_OUT) != before:
        catalog.PLUGINS, catalog.LEFT_OUT = before
        catalog.add([])


TOGETHER = (
    # They show the same runs, which one process computes once.
    ("lessons/test_lessons.py", "ui/test_every_page.py"),
    # Loading the app for the first time takes ten seconds per server and browser.
    ("ui/test_accessibility.py", "ui/test_foreign_text.py"),
)
"""Files that one process runs."""


class FilesTogether(LoadFileScheduling):
    """Gives a process a whole file, with its server or engine, and the files that share them."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return next((str(files) for files in TOGETHER if file.endswith(files)), file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FilesTogether | None:
    """Let several processes share the tests by files."""
    return FilesTogether(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def lab(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give pages, in this process and in servers of tests, a store apart from the user's."""
    os.environ["LRLAB_STORE"] = str(tmp_path_factory.mktemp("lab") / "trials.sqlite")
    # Tests start some fifty engines in other processes; each would import scikit-learn for a second.
    os.environ["LRLAB_PRELOAD"] = ""


@pytest.fixture(scope="session")
def engine() -> "Iterator[Engine]":
    """Return the engine of this process, warm; pages that are tested in this process use the same one."""
    from lrlab.engine.engine import close_engines, get_engine

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LRLAB_PRELOAD")
        engine = get_engine()
        engine.warm()
    yield engine
    close_engines()


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Start the app on a free port, and return its address."""
    from tests.server import serve

    with serve() as server:
        yield server.address


@pytest.fixture(scope="session", autouse=True)
def _interruptible() -> Iterator[None]:
    """Handle SIGINT even if a shell started the tests in the background, so that children inherit the handler."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def _figures_are_valid() -> Iterator[None]:
    """Have plotly check every figure that a test sends to a browser; the app skips the check to save time.

    The check leaves out repeated figures, and sees the common template once.
    """
    from lrlab.figures.build import Figure

    valid: set[str] = set()

    def check(part: dict[str, Any], text: str) -> None:
        if text not in valid:
            import plotly.graph_objects as go

            go.Figure(part)
            valid.add(text)

    def checked(figure: Figure, **settings: bool) -> str:
        text = to_json(figure, **settings)
        if (short := hashlib.sha256(text.encode()).hexdigest()) not in valid:
            part = json.loads(text)
            template = part["layout"].pop("template", {})
            check({"layout": {"template": template}}, json.dumps(template))
            part["layout"]["template"] = "none"  # without it plotly would put in, and check, its own
            check(part, short)
        return text

    to_json, Figure.to_json = Figure.to_json, checked  # type: ignore[method-assign]
    yield
    Figure.to_json = to_json  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def _components_are_listed_once() -> Iterator[None]:
    """Let Streamlit search the installed packages for components once, as a server does, not for every page."""
    if "streamlit.testing.v1" not in sys.modules:  # imported with the tests of pages
        yield
        return
    from streamlit.components.v2 import manifest_scanner

    before = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = functools.cache(before)
    yield
    manifest_scanner.scan_component_manifests = before
