"""Reads and writes the parameters of a page in its address.

The address holds what differs from the defaults, as `?n=8000&noise=0.3`. A page takes its values if a link, or the
browser's Back or Forward, opens it; Streamlit says which script runs come from the history. It reports each wrong value
in one sentence and replaces it by the default. From then on the address follows the widgets, so that a reload or a
shared link shows the same page.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lrlab.parameters import InputError, Parameter, Value, nearest
from lrlab.ui.widgets.text import plain


class Permalink:
    """The address of one page: `value` reads a parameter, `put` records a shown value, `write` sets the address."""

    def __init__(self, page: str, opening: Mapping[str, str] | None = None) -> None:
        """Take the values of the address if it opened the page.

        opening: values that the page takes, and runs, if its address has none.
        """
        self.page = page
        before, st.session_state["page"] = st.session_state.get("page"), page
        name, given = f"{page}:link", st.query_params.to_dict()
        run = given.pop("run", "") == "1"
        state: Any = st.session_state.get(name)
        fresh = state is None or "take" in state
        if fresh:
            self.arrived = True
        elif before == page:
            # Back, Forward or a link to the same page, and not a widget; without the flag, an address not written here.
            flag = getattr(get_script_run_ctx(), "is_history_navigation", None)
            # A link without parameters, which shows the last values, stays in the history below the address with them.
            again = not opening or given or run
            self.arrived = given != state["shown"] if flag is None else bool(flag and again)
        else:
            # A page that is visited again without parameters shows its last values.
            self.arrived = bool(given or run)
        if self.arrived:
            taken = (state or {}).get("take")
            given = given if taken is None else taken
            if opening is not None and taken is None and not given:
                given, run = dict(opening), True
            # follows: the address is written even if it differs from the opening one only by naming defaults.
            state = {
                "given": given,
                "errors": [],
                "kept": {},
                "owners": {},
                "written": None,
                "follows": run or taken is not None,
            }
            # Back and Forward on a page only show its values again.
            state |= {"shown": st.query_params.to_dict(), "opened": fresh or before != page}
            st.session_state[name] = state
            for key in [key for key in st.session_state if str(key).startswith(f"{page}.")]:
                del st.session_state[key]
        elif before != page:
            state["written"] = None
        self._state: dict[str, Any] = state
        self._now: dict[str, str] = {}
        state["now"] = self._now
        self._known: set[str] = set()
        self._words = st.container()
        # A link with run=1 opens a page that runs; a page that ran already shows its results.
        if run and (self.arrived or f"{page}:run" not in st.session_state):
            st.session_state[f"{page}:autorun"] = True

    def take_opened(self) -> bool:
        """Return, once, whether a link opened the page."""
        return bool(self._state.pop("opened", False))

    def key(self, name: str, scope: str = "") -> str:
        """Return the widget key of a name."""
        return ".".join(part for part in (self.page, scope, name) if part)

    @property
    def kept(self) -> dict[str, Any]:
        """The values of widgets that are not drawn at present, by their keys.

        It isn't in the session itself, since Streamlit copies all entries of a session for each number and each choice
        of a page.
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
        """Record the value that is shown under a name: the address contains it unless it is the default."""
        self._known.add(name)
        self._state["given"].pop(name, None)
        self._now.pop(name, None)
        if value is not None and value != parameter.default:
            self._now[name] = self._state["given"][name] = format_exact(value)

    def held(self, parameter: Parameter) -> Any:
        """Return and record the value of a parameter without a widget: the session's value, at first the address's."""
        key = self.key(parameter.name)
        if key not in st.session_state:
            st.session_state[key] = self.value(parameter.name, parameter)
        self.put(parameter.name, st.session_state[key], parameter)
        return st.session_state[key]

    def forget(self, names: Iterable[str]) -> None:
        """Let widgets that have no scope and are not drawn yet begin at their defaults."""
        for name in names:
            self._state["given"].pop(name, None)
            self.kept.pop(self.key(name), None)
            st.session_state.pop(self.key(name), None)

    def renew(self, names: Iterable[str], owner: str) -> None:
        """Forget values that belong to another owner, such as a model, than before."""
        owners: dict[str, str] = self._state["owners"]
        self.forget(name for name in names if owners.get(name, owner) != owner)
        owners.update(dict.fromkeys(names, owner))

    def leave_out(self, name: str) -> None:
        """Take a name out of the address: with the current settings lrlab would reject it."""
        self._now.pop(name, None)

    def accept(self, names: Iterable[str]) -> None:
        """Accept names in the address that no widget shows at present."""
        self._known.update(names)

    def add_error(self, error: InputError) -> None:
        """Record an error of the address; it is shown until a widget changes."""
        self._state["errors"].append(str(error))

    def write(self) -> None:
        """Set the address if a value has changed, and show the errors of the address that opened the page."""
        state, now = self._state, dict(self._now)
        if self.arrived:
            for name in [name for name in state["given"] if name not in self._known]:
                remedy = nearest(name, tuple(sorted(self._known))) or "leave it out"
                self.add_error(InputError("parameter in the address", "one that this page has", name, remedy))
                del state["given"][name]
        changed = now != state["written"]
        # An address that was written may not have reached the browser.
        lost = not self.arrived and st.query_params.to_dict() != state["shown"]
        # The address that opened the page may name defaults, too: it stays until a value changes.
        if lost or (changed and (not self.arrived or state["follows"] or state["errors"])):
            state["shown"] = now
            # Setting an empty address sends nothing to the browser.
            st.query_params.from_dict(now) if now else st.query_params.clear()
        if changed and not self.arrived:
            state["errors"] = []
        # The fragments of a page keep this object.
        state["written"], self.arrived = now, False
        for message in state["errors"]:
            self._words.error(plain(message))


def address(page: str) -> dict[str, str]:
    """Return the parameters of a page that the widgets shown so far have put."""
    now: dict[str, str] = st.session_state[f"{page}:link"]["now"]
    return now


def take(page: str, address: Mapping[str, str]) -> None:
    """Open a page, from a callback, with the parameters of an address, as if it had been followed."""
    st.session_state[f"{page}:link"] = {"take": dict(address)}


def format_exact(value: Value) -> str:
    """Return a value as text that reads back exactly."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
