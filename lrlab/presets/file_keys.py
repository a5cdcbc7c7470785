"""The keys of preset files, by the kind of figure that draws them."""

from collections.abc import Mapping, Sequence
from typing import Any

from lrlab.presets.definition import Toml
from lrlab.sweeps.toml import ABOUT, SUCCESS
from lrlab.sweeps.toml_source import Keys

_MODEL = {"model": str, "spec": dict}
_AXES = {"axes": dict}
_SOLVERS = {"solvers": [str], "settings": dict}
_SERIES = {"label": str, "solver": str, "settings": dict, "spec": dict}
_RATIO = {"ratio": [str], "published": float}
_GRID = {**_SERIES, "grid": dict}
_MEASURE = {"measure": str, "measure_title": str}
_SCALES = {"log_x": bool, "log_y": bool}
_RULE = {
    "rule": str,
    "lower": [str],
    "higher": [str],
    "series": [str],
    "by": float,
    "within": float,
    "level": float,
    "at": float,
    "from": float,
    "to": float,
    "columns": [str],
    "any": bool,
}
_FEWEST = Keys({"along": str, "from": float, "to": float}, ("along", "from", "to"))
_STATEMENT = {"statement": str, "against": str, "against_title": str}
_LINE = {"label": str, "panel": str, "bound": str, "slope": float, "mark": str, "series": str, "if": str, "exact": bool}
_REMARK = Keys({"text": str, **_RULE}, ("text", "rule"))
_CLAIM = {"paper": str, "panel": str, "remark": _REMARK, **_RULE}
_QUICK = Keys(
    {
        "trials": int,
        "points": int,
        "series": [str],
        "columns": [str],
        "panels": [str],
        "rows": dict,
        "grid": [float],
        "axes": dict,
        "max_iter": int,
        "close": float,
    }
)


def _tables(key: str, kinds: Toml, *required: str) -> dict[str, list[Keys]]:
    return {key: [Keys(kinds, required)]}


_CLAIMS = _tables("claims", _CLAIM, "paper", "rule")


def file_keys(figure: Toml, required: Sequence[str], *parts: Toml) -> Keys:
    """Return the keys of a file; `required` are those of its table `figure`, beside its kind."""
    keys: dict[str, Any] = {**ABOUT, "trials": int, "seed": object, "quick": _QUICK}
    for part in parts:
        keys |= part
    keys["figure"] = Keys({"kind": str, **figure}, ("kind", *required))
    return Keys(keys, ("title", "reference", "explanation", "trials", "figure"))


KINDS: Mapping[str, Keys] = {
    "spectrum": file_keys(
        {},
        (),
        _MODEL,
        _AXES,
        _tables("panels", {"title": str, **_MODEL, **_AXES}, "title"),
        _CLAIMS,
    ),
    "rates": file_keys(
        {"threshold_factor": float, "claim": str},
        ("threshold_factor",),
        _MODEL,
        _AXES,
        _SOLVERS,
        _tables("series", _SERIES, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES, "trials": (int, [int])}, "title"),
    ),
    "curves": file_keys(
        {**_MEASURE, **_SCALES},
        ("measure_title",),
        _MODEL,
        _AXES,
        _SOLVERS,
        {"success": SUCCESS},
        _tables("series", _GRID, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES, "trials": int, **_RATIO}, "title"),
        _CLAIMS,
    ),
    "traces": file_keys(
        {**_MEASURE, **_SCALES, "against": str},
        ("measure", "measure_title", "against"),
        _MODEL,
        _SOLVERS,
        _tables("series", _GRID, "label"),
        _tables("panels", {"title": str, **_MODEL, **_MEASURE, "trials": int}, "title"),
        _CLAIMS,
    ),
    "growth": file_keys(
        {"measure": str, "level": float},
        (),
        _MODEL,
        _SOLVERS,
        _tables(
            "series",
            {**_SERIES, "claimed": dict, "memory": dict, "logarithms": [str], "paper": str, "why": str},
            "label",
        ),
        _tables(
            "panels",
            {"title": str, **_MODEL, **_AXES, "only": [str], "quantity": str, "judged": bool},
            "title",
            "axes",
        ),
    ),
    "products": file_keys(
        {},
        (),
        _MODEL,
        _tables("series", {"label": str}, "label"),
        _tables("panels", {"title": str, **_MODEL, **_AXES}, "title", "axes"),
        _CLAIMS,
    ),
    "theorem": file_keys(
        {**_MEASURE, **_SCALES, **_STATEMENT, "steps": bool},
        ("statement", "measure_title"),
        _MODEL,
        _AXES,
        {"settings": dict, "slider": Keys({"name": str, "values": list}, ("name", "values"))},
        _tables(
            "series",
            {**_SERIES, **_MODEL, **_AXES, "quantity": str, "part": str, "below": float, "fewest": _FEWEST},
            "label",
        ),
        _tables("panels", {"title": str, **_MODEL, **_AXES, **_MEASURE, **_SCALES, "only": [str]}, "title"),
        _tables("lines", _LINE, "label", "if"),
        _CLAIMS,
    ),
    "comparison": file_keys(
        {},
        (),
        _MODEL,
        _SOLVERS,
        _tables("series", {**_SERIES, "paper": dict}, "label"),
        _tables("columns", {"label": str, "spec": dict, "settings": dict}, "label"),
        _tables(
            "panels",
            {"title": str, **_MEASURE, "scale": float, "complement": bool, "paper": str},
            "title",
            *_MEASURE,
        ),
        _CLAIMS,
    ),
    "fits": file_keys(
        {},
        (),
        {"model": str, "settings": dict, "tune_by": str, "data": [str]},
        {"paper": Keys({"columns": [str], "rows": [list]}, ("columns", "rows"))},
        _tables("series", {"label": str, "solver": str, "settings": dict, "full_rank": bool}, "label", "solver"),
        _tables(
            "panels",
            {"title": str, "measure": str, "axis": str, "where": dict, "log_x": bool},
            "title",
            "measure",
            "axis",
        ),
        _CLAIMS,
    ),
}
REQUIRED = {
    "comparison": ("columns", "panels"),
    "products": ("model", "series", "panels"),
    "theorem": ("series", "lines", "slider"),
    "fits": ("model", "tune_by", "data", "paper", "series", "panels"),
}
"""What a file of some kinds needs beside its texts, trials and figure."""
