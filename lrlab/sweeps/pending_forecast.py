"""Forecasts computed in a thread while a page is shown: one takes about a second."""

import threading
from collections.abc import Callable

from lrlab.parameters import InputError
from lrlab.store.location import SharedStore
from lrlab.sweeps.definition import Sweep
from lrlab.sweeps.forecast import Forecast, forecast, require_time

DELAY_SECONDS = 0.4
"""Until a forecast begins: while somebody is typing, the next sweep comes before."""


class PendingForecast:
    """A forecast under way. value: None until it is ready. refused: the sentence why the sweep is not to be run."""

    def __init__(self, sweep: Sweep, shared: SharedStore, forecast: Callable[..., Forecast] = forecast) -> None:
        """Begin after a delay."""
        self.sweep = sweep
        self.value: Forecast | None = None
        self.refused = ""
        self._shared, self._forecast = shared, forecast
        self._dropped, self._begin, self._over = threading.Event(), threading.Event(), threading.Event()
        threading.Thread(target=self._serve, name="lrlab-forecast", daemon=True).start()

    @property
    def over(self) -> bool:
        """Whether there is an answer, or will never be one."""
        return self._over.is_set()

    def drop(self) -> None:
        """Give it up, as another sweep is to be forecast: one that has not begun never begins."""
        self._dropped.set()
        self._begin.set()

    def wait(self, seconds: float) -> None:
        """Begin at once, and wait for the answer, so many seconds at most."""
        self._begin.set()
        self._over.wait(seconds)

    def _serve(self) -> None:
        self._begin.wait(DELAY_SECONDS)
        try:
            if not self._dropped.is_set():
                with self._shared.open() as store:
                    self.value = self._forecast(self.sweep, store)
                require_time(self.sweep, self.value)
        except (InputError, RuntimeError) as error:
            self.refused = str(error) if isinstance(error, InputError) else ""
        finally:
            self._over.set()
