"""Has measurements of *own data* read from an upload, or takes an example, and makes the spec of a problem of them."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from lrlab import catalog
from lrlab.fits.uploads import read_file
from lrlab.own.examples import ANSWERS, EXAMPLES, FORMS, MAGNITUDES, NETWORK, TABLE, Example
from lrlab.own.files import Columns, Measurements, read_measurements
from lrlab.own.recover import choices, kind_of, own_spec
from lrlab.own.source import Own, own_class
from lrlab.parameters import InputError, Parameter, Value
from lrlab.ui.own_data import row_source
from lrlab.ui.shared import uploads
from lrlab.ui.widgets import controls
from lrlab.ui.widgets.permalink import Permalink

KINDS = {ANSWERS: "answers", FORMS: "rank-one or quadratic", TABLE: "a table with gaps", MAGNITUDES: "magnitudes"}
MODELS = {
    ANSWERS: ("flipped-logistic", "one-bit-sensing", "one-bit-phase-retrieval"),
    FORMS: (NETWORK, "rank-one-sensing"),
    TABLE: ("inductive-completion",),
    MAGNITUDES: ("phase-retrieval",),
}
FILES = {
    ANSWERS: "A row for each answer: numbers, and one of two words or numbers. An .npz has y and X.",
    FORMS: "A row for each number: the vectors' entries, and the number. An .npz has y, X and Z.",
    TABLE: "Rows of numbers with empty cells, the first column may name them; or row, column, value. An .npz has y.",
    MAGNITUDES: "An .npz with y and A, or patterns and masks; a CSV has a row of A and its magnitude in a row.",
}
LIMIT_MB = 20
SUFFIXES = ["csv", "tsv", "npz", "parquet", "gz"]
OWN_FILE = "file"
RANK = Parameter(
    meaning="rank of the matrix; 0 chooses it on measurements that are held out",
    name="rank",
    symbol="r",
    kind=int,
    default=0,
    low=0,
    high=1000,
)
OFFERED = ("held_out", "seed", "threshold", "constant", "biases", "data")
"""Parameters of a spec of own data that the page offers."""


@dataclass(frozen=True, eq=False)
class OwnProblem:
    """Measurements, what is said of them, and the spec of all solvers; call: the arguments of `lrlab.recover`."""

    given: Measurements
    words: str
    spec: Own
    model: str
    options: dict[str, Value]
    file: str
    columns: Columns


def choose(link: Permalink, kind: str) -> OwnProblem | InputError | None:
    """Show the choice of measurements and of what is said of them; None where there is no file yet."""
    examples = {name: one.title for name, one in EXAMPLES.items() if one.kind == kind}
    source = controls.choose_one(
        link, "measurements", {**examples, OWN_FILE: "Your own file"}, "measurements", "Measurements", scope=kind
    )
    example = EXAMPLES.get(source)
    upload, columns = (None, Columns()) if example else choose_file(link, kind)
    model = example.model if example else choose_model(link, kind)
    options = choose_options(link, model, example)
    if example is None and upload is None:
        return None
    try:
        return problem(kind, model, options, example, upload, columns)
    except InputError as error:
        return error


def choose_file(link: Permalink, kind: str) -> tuple[Any, Columns]:
    """Show the upload of a file, and which of its columns are what."""
    words = f"{FILES[kind]} At most {LIMIT_MB} MB."
    upload = st.file_uploader("File", SUFFIXES, key=link.key("file", kind), help=words, max_upload_size=LIMIT_MB)
    if kind == TABLE:
        return upload, Columns(triples=st.toggle("rows of row, column, value", key=link.key("triples")))
    y = st.text_input("column of the measurement", key=link.key("y", kind), placeholder="y, or the last one")
    Z = st.text_input("columns of z (bilinear forms)", key=link.key("z"), placeholder="9-16") if kind == FORMS else ""
    return upload, Columns(y.strip(), Z.strip())


def choose_model(link: Permalink, kind: str) -> str:
    """Show the choice of what the measurements are, where there is one."""
    if len(MODELS[kind]) == 1:
        return MODELS[kind][0]
    titles = {name: catalog.MODELS[name].title for name in MODELS[kind]}
    return controls.choose_one(link, "are", titles, "what the measurements are", "They are", scope=kind)


def choose_options(link: Permalink, model: str, example: Example | None) -> dict[str, Value]:
    """Show what a person may say of measurements; return what is not left at its default."""
    kind, _, base = kind_of(model)
    known = choices(own_class(kind, base))
    initial = dict(example.options) if example else {}
    parameters = controls.with_defaults((known[name] for name in OFFERED if name in known), initial)
    rank = next((name for name in ("rank", "r") if name in known), "")
    # By names of their own in the address: `data` is the page's first question.
    values = controls.widgets(link, [*([RANK] if rank else []), *parameters], scope=model, prefix="own.")
    said = {p.name: values[p.name] for p in parameters if values[p.name] != known[p.name].default}
    return {**said, **({rank: values[RANK.name]} if rank and values[RANK.name] else {})}


def problem(
    kind: str, model: str, options: dict[str, Any], example: Example | None, upload: Any, columns: Columns
) -> OwnProblem:
    """Return the problem of an example or an upload; read again only where that is another one."""
    source: Any = example.title if example else (upload.file_id, columns)
    name = example.title if example else upload.name

    def read() -> Measurements:
        if example:
            return example.make()
        reader = partial(read_measurements, columns=columns, gaps=kind == TABLE and not columns.triples)
        read_it: Measurements = row_source.read_one(upload, partial(read_file, reader=reader))
        return read_it

    given = uploads.once(f"own_data:{kind}", source, read)
    key: Any = source, model, tuple(sorted(options.items()))
    spec = uploads.once(f"own_data:{kind}:spec", key, lambda: own_spec(*given[:3], model=model, **options))
    about = f" Source: {example.source}. Licence: {example.licence}." if example else ""
    words = f"{name}: {spec.measured:,} measurements, of which {int(spec.held.sum()):,} are held out.{about}"
    return OwnProblem(given, words, spec, model, options, "" if example else upload.name, columns)


def example_name(shown: OwnProblem) -> str:
    """Return the name of the example that is shown, or nothing."""
    return next((name for name, one in EXAMPLES.items() if shown.words.startswith(f"{one.title}:")), "")
