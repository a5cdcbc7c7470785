"""The keys of lesson files."""

from lrlab.sweeps.toml import Keys

POSITIONS = (int, float, str)
_SERIES = Keys({"label": str, "solver": str, "settings": dict, "spec": dict}, ("label", "solver"))
_SLIDER = Keys(
    {"axis": str, "setting": str, "values": [POSITIONS], "at": POSITIONS, "before": POSITIONS, "label": str},
    ("values",),
)
_FIGURE = {
    "kind": str,
    "model": str,
    "spec": dict,
    "seed": int,
    "trials": int,
    "series": [_SERIES],
    "slider": _SLIDER,
    "measure": str,
    "log_x": bool,
    "log_y": bool,
    "level": float,
    "moment": str,
    "attributes": dict,
    "most": float,
}
_CHOICE = Keys({"text": str, "over": float, "to": float, "why": str}, ("text",))
_QUESTION = Keys({"text": str, "choices": [_CHOICE], "feedback": str, "hidden": [str]}, ("text", "choices", "feedback"))
NUMBER = Keys({"of": str, "at": POSITIONS}, ("of", "at"))
_STEP = Keys(
    {
        "title": str,
        "text": str,
        "equation": str,
        "terms": [str],
        "question": _QUESTION,
        "numbers": dict,
        "figure": Keys(_FIGURE, ("kind", "model", "slider")),
    },
    ("title", "text"),
)
LESSON = Keys(
    {"title": str, "summary": str, "place": int, "reference": str, "closing": str, "steps": [_STEP]},
    ("title", "summary", "place", "reference", "closing", "steps"),
)
