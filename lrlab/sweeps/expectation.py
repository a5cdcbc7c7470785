"""What a sweep will take, worked out in a thread while a page is read: it takes about a second."""

import threading
from collections.abc import Callable

from lrlab.parameters import InputError
from lrlab.store.location import Lab
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.forecast import Forecast, forecast, require_time

PATIENCE = 0.4
"""Seconds until it begins: who is still typing asks for another sweep by then."""


class Expectation:
    """A forecast under way. found: once it is there. refused: the sentence why the sweep is not to be run."""

    def __init__(self, sweep: Sweep, lab: Lab, forecast: Callable[..., Forecast] = forecast) -> None:
        """Begin in a while."""
        self.sweep = sweep
        self.found: Forecast | None = None
        self.refused = ""
        self._lab, self._forecast = lab, forecast
        self._dropped, self._hurried, self._over = threading.Event(), threading.Event(), threading.Event()
        threading.Thread(target=self._serve, name="lrlab-forecast", daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether there is an answer, or will never be one."""
        return self._over.is_set()

    def drop(self) -> None:
        """Let go of it: another sweep is asked for. What has not begun does not begin any more."""
        self._dropped.set()
        self._hurried.set()

    def wait(self, seconds: float) -> None:
        """Begin at once, and wait for the answer, so many seconds at most."""
        self._hurried.set()
        self._over.wait(seconds)

    def _serve(self) -> None:
        self._hurried.wait(PATIENCE)
        try:
            if not self._dropped.is_set():
                with self._lab.open() as store:
                    self.found = self._forecast(self.sweep, store)
                require_time(self.sweep, self.found)
        except (InputError, RuntimeError) as error:
            self.refused = str(error) if isinstance(error, InputError) else ""
        finally:
            self._over.set()
