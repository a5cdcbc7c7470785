"""Reads and writes the parameters of a page in its address.

The address holds what differs from the defaults, as `?n=8000&noise=0.3`. A page opened by such an address takes its
values; wrong ones are reported in one sentence each and replaced by the default. From then on the address follows the
widgets, so that a reload or a shared link shows the same page.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from lrlab.parameters import InputError, Parameter, Value, nearest
from lrlab.removed import removed
from lrlab.ui.widgets.text import plain

START = "start"
"""The only name in an address to which the browser's Back leads, and which had no parameters (`live.js`)."""


class Permalink:
    """The address of one page: `value` reads a parameter, `put` records a shown value, `write` sets the address."""

    def __init__(self, page: str) -> None:
        """Read the address if the page was opened by it, and it is not the one that this page wrote itself."""
        self.page = page
        state = st.session_state.setdefault(
            f"{page}:link", {"given": {}, "written": None, "errors": [], "values": {}, "kept": {}}
        )
        self._state: dict[str, Any] = state
        self._now: dict[str, str] = {}
        state["now"] = self._now
        self._known: set[str] = set()
        self._words = st.container()
        address = st.query_params.to_dict()
        run, start, came = address.pop("run", "") == "1", address.pop(START, "") == "1", self._came()
        # An empty address, without run=1, is a page that was left and is visited again: it shows its last values.
        named = bool(address or run or start)
        self.arrived = state["written"] is None or (came and named and address != state["written"])
        if self.arrived:
            opened = None if run else dict(address)
            # No values: a script that ends before it writes the address has changed none.
            state.update(given=dict(address), written=address, errors=[], first=None, opened=opened, kept={}, values={})
            for key in [k for k in st.session_state if str(k).startswith(f"{page}.")]:
                del st.session_state[key]
        # A link with run=1 opens a page that runs; one that ran already shows what came of it.
        if run and (self.arrived or f"{page}:run" not in st.session_state):
            st.session_state[f"{page}:autorun"] = True

    def _came(self) -> bool:
        """Return whether the page was opened by its address, and not by a widget.

        A run after a changed widget has no new address, only sometimes an old one: the address written last may not
        have reached the browser yet. Taking that for a new one would undo the input.
        """
        before, st.session_state["page"] = st.session_state.get("page"), self.page
        # Until the address is written: a script that ends before, to be run again, has not answered the widget.
        by_widget, known = st.session_state.get("by-widget", False), self._state["values"]
        # What a page no longer shows is forgotten by Streamlit, and was not changed; nor was what is new.
        changed = any(st.session_state.get(key, value) != value for key, value in known.items())
        return before != self.page or not (by_widget or changed)

    def _values(self) -> dict[str, Any]:
        # Not `items`, which looks up each of them twice.
        return {key: value for key, value in st.session_state.to_dict().items() if key.startswith(f"{self.page}.")}

    def key(self, name: str, scope: str = "") -> str:
        """Return the widget key of a name."""
        return ".".join(part for part in (self.page, scope, name) if part)

    @property
    def kept(self) -> dict[str, Any]:
        """The values of widgets that are not drawn at present, by their keys.

        Not in the session itself, of which Streamlit copies all places for each number and each choice of a page.
        """
        kept: dict[str, Any] = self._state["kept"]
        return kept

    def value(self, name: str, parameter: Parameter) -> Value:
        """Return the value of a name in the address, or the default; a wrong value is recorded as an error."""
        self._known.add(name)
        given = self._state["given"]
        if name not in given:
            return parameter.default
        try:
            return parameter.check(given[name])
        except InputError as error:
            # Wrong input in a widget stays there, to be corrected.
            if self.arrived:
                self.add_error(error)
                del given[name]
            return parameter.default

    def put(self, name: str, value: Value | None, parameter: Parameter) -> None:
        """Record the value that is shown under a name: the address contains it where it is not the default."""
        self._known.add(name)
        self._state["given"].pop(name, None)
        self._now.pop(name, None)
        if value is not None and value != parameter.default:
            self._now[name] = self._state["given"][name] = format_exact(value)

    @contextmanager
    def part(self, names: set[str]) -> Iterator[None]:
        """Have what the block puts take the place of what it put before, of which `names` holds the names."""
        for name in names:
            self._now.pop(name, None)
        others = set(self._now)
        yield
        names.clear()
        names.update(self._now.keys() - others)

    @property
    def refused(self) -> bool:
        """Whether the page shows errors of its address."""
        return bool(self._state["errors"])

    def held(self, parameter: Parameter) -> Any:
        """Return and record the value of a parameter without a widget: the session's, at first that of the address."""
        key = self.key(parameter.name)
        if key not in st.session_state:
            st.session_state[key] = self.value(parameter.name, parameter)
        self.put(parameter.name, st.session_state[key], parameter)
        return st.session_state[key]

    def leave_out(self, name: str) -> None:
        """Take a name out of the address: with the settings that are there it would be refused."""
        self._now.pop(name, None)

    def accept(self, names: Iterable[str]) -> None:
        """Accept names in the address that no widget shows at present."""
        self._known.update(names)

    def add_error(self, error: InputError) -> None:
        """Record an error of the address; it is shown until a widget changes."""
        self._state["errors"].append(str(error))

    def write(self) -> None:
        """Set the address, and show the errors of the one that opened the page."""
        state = self._state
        st.session_state.pop("by-widget", None)
        state["values"] = self._values()
        if self.arrived:
            for name in [name for name in state["given"] if name not in self._known]:
                remedy = removed(name) or nearest(name, tuple(sorted(self._known))) or "leave it out"
                self.add_error(InputError("address", "made of this page's parameters", name, remedy))
                del state["given"][name]
        # An address set by a callback can be lost on a busy machine; setting it twice does no harm.
        taken = st.session_state.pop(f"{self.page}:taken", False)
        shown = {name: value for name, value in st.query_params.to_dict().items() if name != START}
        if not taken and not state["errors"] and shown == state["opened"] and state["first"] in (None, self._now):
            # It may name defaults, too, and stays until something is changed: another one would be one more entry of
            # the browser's history.
            state["first"] = dict(self._now)
            return
        if taken or self._now != shown or self._now != state["written"]:
            # Setting an empty address sends nothing to the browser.
            st.query_params.from_dict(self._now) if self._now else st.query_params.clear()
        state["written"] = dict(self._now)
        if state["first"] is None:
            state["first"] = dict(self._now)
        if self._now != state["first"]:
            state["errors"] = []
        for message in state["errors"]:
            self._words.error(plain(message))


def by_widget() -> None:
    """Say, in a callback, that a run comes of a widget whose value is in no address: see `Permalink`."""
    st.session_state["by-widget"] = True


def called(callback: Callable[..., object], *arguments: object) -> None:
    """Call the callback of a widget whose value is in no address."""
    by_widget()
    callback(*arguments)


def address(page: str) -> dict[str, str]:
    """Return the parameters of a page that the widgets shown so far have put."""
    now: dict[str, str] = st.session_state[f"{page}:link"]["now"]
    return now


def take(page: str, address: Mapping[str, str]) -> None:
    """Open a page, from a callback, with the parameters of an address, as if it had been followed."""
    st.session_state.pop(f"{page}:link", None)
    st.session_state[f"{page}:taken"] = True
    st.query_params.from_dict(dict(address))


def format_exact(value: Value) -> str:
    """Return a value as text that reads back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
