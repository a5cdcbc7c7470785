"""The form of preset files: a sweep definition (model, solvers, trials, spec, axes, settings) with a table `figure`.

`series` vary the sweep: solvers, or one solver with different settings or specs. `panels`, each with its model, spec,
axes or metric, show it; a table with printed numbers has `columns`. Keys that these tables lack come from the top
level. Without `series`, each of `solvers` is one; without `panels`, there is one panel. `figure.kind` is the shape of
the figure and the name of the module that draws it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from lrlab.aliases import PRESET_KEYS, PRESET_KINDS
from lrlab.parameters import require_known
from lrlab.presets.papers import paper_of
from lrlab.protocol import Spec
from lrlab.sweeps.toml import ABOUT, SUCCESS, Keys, Source, make_spec

Toml = Mapping[str, Any]
EIGENVALUES = ("largest", "second", "gap")
"""The series of kind `spectrum`: the two largest eigenvalues, and their difference."""
_WHERE = {"model": str, "spec": dict, "axes": dict}
_LOOK = {"measure": str, "measure_title": str, "log_x": bool, "log_y": bool}
_RULE = {
    **dict.fromkeys(("lower", "higher", "series", "columns"), [str]),
    **dict.fromkeys(("by", "within", "level", "at", "from", "to"), float),
    "rule": str,
    "any": bool,
}
_CLAIM = {"paper": str, "panel": str, "remark": Keys({"text": str, **_RULE}, ("text", "rule")), **_RULE}
_SERIES = {"label": str, "solver": str, "settings": dict}
_FILE: dict[str, Any] = {
    **ABOUT,
    **_WHERE,
    "trials": int,
    "seed": object,
    "solvers": [str],
    "settings": dict,
    "claims": [Keys(_CLAIM, ("paper", "rule"))],
    "quick": Keys({"trials": int, "points": int, "max_iter": int, "only": dict}),
}


def _file(figure: Toml, required: tuple[str, ...] = (), **tables: Any) -> Keys:
    keys = {**_FILE, **tables, "figure": Keys({"kind": str, **figure}, ("kind", *required))}
    return Keys(keys, ("title", "reference", "explanation", "trials", "figure"))


KINDS: Mapping[str, Keys] = {
    "lines": _file(
        {**_LOOK, "statement": str, "against": str, "against_title": str, "steps": bool, "level": float},
        success=SUCCESS,
        slider=Keys({"name": str, "values": list}, ("name", "values")),
        series=[
            Keys(
                {**_SERIES, **_WHERE, "grid": dict, "quantity": str, "part": str, "below": float}
                | {"fewest": Keys({"along": str, "from": float, "to": float}, ("along", "from", "to"))}
                | {"claimed": dict, "memory": dict, "paper": str, "why": str},
                ("label",),
            )
        ],
        panels=[
            Keys(
                {**_WHERE, **_LOOK, "title": str, "only": [str], "trials": (int, [int])}
                | {"ratio": [str], "published": float, "quantity": str, "judged": bool},
                ("title",),
            )
        ],
        lines=[
            Keys(
                {"label": str, "panel": str, "series": str, "bound": str, "slope": float, "mark": str, "if": str}
                | {"exact": bool, "origin": bool, "to": float},
                ("label", "if"),
            )
        ],
    ),
    "table": _file(
        {},
        tune_by=str,
        data=[str],
        paper=Keys({"columns": [str], "rows": [list]}, ("columns", "rows")),
        series=[Keys({**_SERIES, "spec": dict, "paper": dict, "full_rank": bool}, ("label",))],
        columns=[Keys({"label": str, "spec": dict, "settings": dict}, ("label",))],
        panels=[
            Keys(
                {"title": str, "measure": str, "measure_title": str, "scale": float, "complement": bool, "paper": str}
                | {"axis": str, "rows": dict, "log_x": bool},
                ("title", "measure"),
            )
        ],
    ),
    "spectrum": _file({}, panels=[Keys({"title": str, **_WHERE}, ("title",))]),
}


@dataclass(frozen=True)
class Preset:
    """A figure that can be computed.

    name: as in the shell. title, reference, explanation (a paragraph): texts for users. kind: the module that computes
    it. content: the content of the file. quick: whether this is the reduced run. at: position of the slider, None for
    the stored result.
    """

    name: str
    title: str
    kind: str
    reference: str
    explanation: str
    content: Toml = field(repr=False, compare=False)
    quick: bool = False
    at: float | None = None

    @property
    def data(self) -> tuple[str, ...]:
        """Names of the published data sets that the user must provide; empty for most presets."""
        return tuple(self.content.get("data", ()))

    @property
    def is_theorem(self) -> bool:
        """Whether it shows the statement of a theorem."""
        return "statement" in self.content["figure"]

    @property
    def positions(self) -> list[float]:
        """The positions of the slider, in order; none if the preset has no slider."""
        return list(self.content.get("slider", {}).get("values", ()))

    @property
    def start(self) -> float:
        """The slider position of the stored result."""
        return float(self.specs[0].values()[self.content["slider"]["name"]])

    @property
    def specs(self) -> list[Spec]:
        """The specs of all series in all panels, before an axis changes them."""
        return [self.spec(panel, series) for panel, series in product(self.panels, self.series)]

    @property
    def panels(self) -> Sequence[Toml]:
        """The panels; one with the title of the preset if the file has none."""
        return self.content.get("panels") or [{"title": self.title}]

    @property
    def all_panels(self) -> tuple[str, ...]:
        """The titles of all panels, including panels that a reduced run omits."""
        return tuple(self.content.get("all_panels") or (panel["title"] for panel in self.panels))

    @property
    def labels(self) -> tuple[str, ...]:
        """The names in claims: labels of series, or the eigenvalues of a spectrum."""
        return EIGENVALUES if self.kind == "spectrum" else tuple(series["label"] for series in self.series)

    @property
    def series(self) -> Sequence[Toml]:
        """The series; one for each solver if the file has none."""
        solvers = self.content.get("solvers", [])
        default = {"solver": solvers[0]} if len(solvers) == 1 else {}
        named = [{"label": solver, "solver": solver} for solver in solvers]
        return [{**default, **series} for series in self.content.get("series", named)]

    def spec(self, *tables: Toml) -> Spec:
        """Return the spec of the top level, updated by the models and specs of other tables."""
        parts = [self.content, *tables]
        spec = {name: value for part in parts for name, value in part.get("spec", {}).items()}
        seed = {"seed": self.content["seed"]} if "seed" in self.content else {}
        model = next(part["model"] for part in reversed(parts) if "model" in part)
        return make_spec({"model": model, "spec": spec, **seed})


def read(name: str, text: str) -> Preset:
    """Return the preset in a text; InputError, with the path, for unknown or missing keys and wrong kinds."""
    source = Source(text, "preset file", f"{name}.toml")
    content = source.content
    figure = content.get("figure")
    kind = str(figure.get("kind", "lines")) if isinstance(figure, dict) else "lines"
    kind = PRESET_KINDS.get(kind, kind)
    with source.locate(("figure",)):
        require_known(kind, KINDS, what="kind")
    for key, names in PRESET_KEYS.items():
        for table in content[key] if isinstance(content.get(key), list) else ():
            for old in names.keys() & set(table):
                table[names[old]] = table.pop(old)
    source.check(KINDS[kind], "a preset")
    title, reference, explanation = (content[key].strip() for key in ("title", "reference", "explanation"))
    if paper := paper_of(name):
        reference = f"{paper.citation}, {reference.removeprefix(f'{paper.citation}, ')}"
    return Preset(name, title, kind, reference, explanation, content)
