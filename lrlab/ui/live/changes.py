"""Differences between two states of a page's live parts: new points of curves, changed cells of maps, new words.

A state maps the name of each part to a `Figure` or to HTML. A change is an operation (`{"=": value}` replaces,
`{"+": values}` appends to a list, `{"@": [places, values]}` sets entries of a flattened array), or a dictionary of
changes by key or place, where None removes a key. `assets/files/live.js` applies them.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lrlab.figures.build import Figure, plain

State = Mapping[str, Any]
"""Live parts of a page by name, each a `Figure` or HTML."""
FEW = 0.5
"""Share of changed entries up to which these are sent, and not the whole array."""
SHORT = 8
"""Length of an array that is compared as a list, and sent whole unless it has grown: numpy's calls take longer."""
SINGLE, NESTED = (str, int, float, bool), (dict, list, tuple, np.ndarray)
"""Values that have no parts, and some that have."""


def whole(state: State) -> dict[str, Any]:
    """Return the changes that make a state out of nothing."""
    return {name: {"=": _encoded(part)} for name, part in state.items()}


def between(old: State, new: State) -> dict[str, Any]:
    """Return the changes by name that turn `old` into `new`; parts without a change have none."""
    changed = dict[str, Any]()
    for name, part in new.items():
        change = _change(_parts(old[name]), _parts(part)) if name in old else {"=": _encoded(part)}
        if change is not None:
            changed[name] = change
    return changed


def _parts(part: Figure | str) -> Any:
    if isinstance(part, str):
        return part
    # What all figures share is in the browser already.
    return {"data": part.data, "layout": {k: v for k, v in part.layout.items() if k != "template"}}


def _encoded(part: Any) -> Any:
    return plain(_parts(part), single=True) if isinstance(part, Figure | str) else plain(part)


def _change(old: Any, new: Any) -> Any:
    """Return the change from one part of a figure to another; None where there is none."""
    if old is new:
        return None
    if isinstance(old, dict) and isinstance(new, dict):
        changed: dict[str, Any] = {key: None for key, was in old.items() if was is not None and new.get(key) is None}
        for key, value in new.items():
            was = old.get(key)
            # A call for each word and number would take most of the time.
            if was is value or value is None or (type(value) in SINGLE and type(was) is type(value) and was == value):
                continue
            if (change := _change(was, value)) is not None:
                changed[key] = change
        return changed or None
    if _is_array(old) and _is_array(new):
        return _array_change(old, new)
    if _is_nested(old) and _is_nested(new) and len(old) == len(new):
        changes = ((str(place), _change(*pair)) for place, pair in enumerate(zip(old, new, strict=True)))
        return {place: one for place, one in changes if one is not None} or None
    return None if type(old) is type(new) and old == new else {"=": plain(new)}


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(part, dict) for part in value)


def _is_array(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return True
    return isinstance(value, list | tuple) and not any(isinstance(part, NESTED) for part in value)


def _array_change(old: Any, new: Any) -> Any:
    if (not isinstance(new, np.ndarray) or new.ndim == 1) and len(new) <= SHORT:
        was, entries = _listed(old), _listed(new)
        if len(was) == len(entries):
            return None if all(map(_agree, was, entries)) else {"=": plain(entries)}
        grown = 0 < len(was) < len(entries) and was == entries[: len(was)]
        return {"+": plain(entries[len(was) :])} if grown else {"=": plain(entries)}
    old, new = np.asarray(old), np.asarray(new)
    if old.shape == new.shape:
        places = np.flatnonzero(_differ(old, new))
        if not places.size:
            return None
        if places.size <= FEW * new.size:
            return {"@": [places.tolist(), plain(new.ravel()[places].tolist())]}
    elif new.ndim == old.ndim == 1 and len(new) > len(old) > 0 and not _differ(old, new[: len(old)]).any():
        return {"+": plain(new[len(old) :].tolist())}
    return {"=": plain(new, single=True)}


def _listed(array: Any) -> list[Any]:
    return list(array.tolist() if isinstance(array, np.ndarray) else array)


def _agree(old: Any, new: Any) -> bool:
    """Return whether two entries are the same; what is not a number agrees with itself."""
    return bool(old == new or (old != old and new != new))


def _differ(old: Any, new: Any) -> Any:
    """Return entry by entry whether two arrays differ, see `_agree`."""
    differ = old != new
    return differ & ((old == old) | (new == new)) if differ.any() else differ
