"""Looks up a key of a session without a copy of all of them, which Streamlit makes for every widget of a page."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from streamlit.runtime.state.session_state import SessionState

_all_of: Callable[[SessionState], dict[str, Any]] = vars(SessionState)["filtered_state"].fget
"""Streamlit's own property: a dictionary of all keys that a script may see."""


class SessionLookup(Mapping[str, Any]):
    """The keys of a session that a script may see, each looked up when it is wanted."""

    def __init__(self, state: SessionState) -> None:
        """Copy nothing."""
        self._state = state

    def __getitem__(self, key: str) -> Any:
        """Return the value of a key that a script has given."""
        if key.startswith("$$"):
            raise KeyError(key)
        return self._state[key]

    def __iter__(self) -> Iterator[str]:
        """Return an iterator over all keys."""
        return iter(_all_of(self._state))

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(_all_of(self._state))


setattr(SessionState, "filtered_state", property(SessionLookup))  # noqa: B010
