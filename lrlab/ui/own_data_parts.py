"""Below a run on *own data*: the rows themselves, labels one by one, predictions, and all of it as files."""

import io
import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lrlab.datasets import Dataset
from lrlab.experiments.own_data import label_results
from lrlab.experiments.own_data.fitted_model import FittedModel, save_model, write_predictions
from lrlab.figures import labels
from lrlab.models.own_rows import OwnProblem
from lrlab.parameters import InputError, Parameter
from lrlab.ui import controls, live, own_data_view, page, plot
from lrlab.ui.own_data_rows import Rows
from lrlab.ui.permalink import Link

TOP = Parameter(
    meaning="labels of each row: those of highest score", name="top", symbol="k", kind=int, default=5, low=1, high=100
)
ROWS = Parameter(
    meaning="rows of the test file that are looked at, from 1, such as 1-10, 25",
    name="chosen",
    kind=str,
    default="1-10",
)
MOST_ROWS = 200
SPAN = re.compile(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?", re.ASCII)


def show(link: Link, rows: Rows | None) -> None:
    """Show the parts, each behind its tab."""
    followed = live.about(own_data_view.PAGE)
    # Not before all solvers are done: the first of them would else be the one that is chosen below.
    fitted = own_data_view.models(followed.rows) if followed and not live.alive(own_data_view.PAGE) else {}
    data, each, told = st.tabs(["The rows", "Label by label", "Predictions and files"], key="own_data-parts")
    with data:
        look(rows or (followed.rows if followed else None))
    with each:
        one_by_one(link, fitted, followed.rows.test) if fitted else st.caption(
            "Each label's results, when a run is over."
        )
    with told:
        predictions(link, fitted, followed.rows) if fitted else st.caption("Predictions and files, when a run is over.")


def sizes(rows: Rows) -> str:
    """Return the sizes of some rows in a line."""
    columns, count = rows.columns, int(np.sum(rows.counts))
    return (
        f"{rows.title}: {rows.n:,} training rows, {rows.test.n:,} test rows; {columns.d:,} features, "
        f"{100 * rows.density:.3g}% of them not zero; {columns.L:,} labels, {count / rows.n:.3g} a row, "
        f"{100 * rows.known:.3g}% of the label table known"
    )


def look(rows: Rows | None) -> None:
    """Show how often labels occur, and which go together."""
    if rows is None:
        return
    often, pairs = st.columns([1, 1], gap="medium")
    with often:
        figure = labels.frequencies(rows.names, rows.counts, rows.n)
        plot.show(figure, key="own_data.frequencies", label="how often each label is on")
        never = int((rows.counts == 0).sum())
        st.caption(
            f"Training rows that have each label; the most frequent one is on in {max(rows.counts):,} of {rows.n:,}. "
            + (f"{never} labels are never on: nothing can be learnt of them." if never else "")
        )
    with pairs:
        names = [rows.names[j] for j in rows.together.places]
        plot.show(labels.correlations(names, rows.together.phi), key="own_data.pairs", label="correlations of labels")
        st.caption(f"Correlations of the {len(names)} most frequent labels on the training rows.")
    with st.container(horizontal=True):
        for part, path in (("training", rows.train_file), ("test", rows.test_file)):
            st.download_button(
                f"{part.capitalize()} rows (.npz)",
                path.read_bytes,
                path.name,
                key=f"own_data-{part}",
                on_click="ignore",
            )


def one_by_one(link: Link, fitted: Mapping[str, FittedModel], test: Dataset) -> None:
    """Show what one solver makes of each label, and its scores over all of them."""
    model = fitted[pick(link, "of", fitted)]
    table, areas = live.once(f"own_data:labels {model.solver}", id(model.estimate), lambda: results(model, test))
    st.caption(
        f"AUC over all entries (micro): **{areas['micro_auc']:.4f}**. Mean AUC of a label (macro), over the "
        f"{areas['auc_labels']:,} labels that have test rows of both kinds: **{areas['macro_auc']:.4f}**. A label is "
        f"predicted where its score is above {model.threshold:g}."
    )
    shares = {name: st.column_config.NumberColumn(format="%.3f") for name in ("precision", "recall", "auc")}
    st.dataframe(table, hide_index=True, column_config=shares, key="own_data.labels", height=420)
    st.caption(
        "Test rows where a label is known, on, predicted; precision: share of the predicted that is on; recall: share "
        "of those on that is predicted; auc: chance that a row that has it scores higher than one that has not."
    )
    st.download_button(
        "Labels (CSV)", lambda: table.to_csv(index=False).encode(), f"labels-{model.solver}.csv", "text/csv",
        key="own_data-labels-csv", on_click="ignore",
    )  # fmt: skip


def results(model: FittedModel, test: Dataset) -> tuple[pd.DataFrame, Mapping[str, float]]:
    """Return the results of each label, the most frequent first, and the areas over all of them."""
    table = label_results.by_label(model, test).sort_values("on", ascending=False, kind="stable")
    return table, OwnProblem.between(test, test, 1).areas(model.estimate)


def predictions(link: Link, fitted: Mapping[str, FittedModel], rows: Rows) -> None:
    """Show what one solver predicts of chosen rows, and offer all of it as files."""
    with page.row():
        model = fitted[pick(link, "by", fitted)]
        top = controls.widget(link, TOP)
        text = controls.widget(link, ROWS, label="Test rows")
    try:
        chosen, k = rows_of(str(text), rows.test.n), int(TOP.check(top))
    except InputError as error:
        page.complain(error)
        return
    st.dataframe(predicted(model, rows.test, chosen, k), hide_index=True, key="own_data.predictions")
    st.caption(
        f"Scores beside the names; a star where the score is above {model.threshold:g}, and the label predicted."
    )
    with st.container(horizontal=True):
        st.download_button(
            "Predictions of all test rows (CSV)", lambda: as_csv(model, rows.test, k), f"{model.solver}.csv",
            "text/csv", key="own_data-predictions", on_click="ignore",
        )  # fmt: skip
        st.download_button(
            "Model (.npz)", lambda: as_npz(model), f"{model.solver}.npz", key="own_data-model", on_click="ignore"
        )
    st.caption("`python -m lrlab predict MODEL.npz FILE` predicts labels of other rows by such a model.")


def pick(link: Link, name: str, fitted: Mapping[str, FittedModel]) -> str:
    """Let a person choose among solvers."""
    return controls.choose_one(link, name, {title: title for title in fitted}, "whose results are shown", "Solver")


def rows_of(text: str, n: int) -> NDArray[np.intp]:
    """Return places, from 0, of rows that are given as `1-10, 25`; InputError where they are none."""
    remedy = "write numbers and spans, such as 1-10, 25"
    chosen: list[int] = []
    for part in text.split(","):
        match = SPAN.fullmatch(part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last <= n or len(chosen) + last - first >= MOST_ROWS:
            expected = f"rows in 1..{n}, at most {MOST_ROWS} of them"
            raise InputError("rows", expected, part.strip() or "nothing", remedy)
        chosen += range(first - 1, last)
    return np.array(chosen)


def predicted(model: FittedModel, test: Dataset, chosen: NDArray[np.intp], k: int) -> pd.DataFrame:
    """Return a row each: its number, the labels that are on, and those of highest score."""
    places, scores = model.top(test.X[chosen], k)
    names = model.label_names

    def told(label: int, score: float) -> str:
        return f"{names[label]}{'*' if score > model.threshold else ''} {score:.2f}"

    return pd.DataFrame(
        {
            "row": chosen + 1,
            "labels that are on": [listed(names, test, i) for i in chosen],
            **{
                f"{j + 1}.": [told(*pair) for pair in zip(places[:, j], scores[:, j], strict=True)]
                for j in range(places.shape[1])
            },
        }
    )


def listed(names: Sequence[str], test: Dataset, i: int) -> str:
    """Return the names of the labels that are on in a row."""
    start, stop = test.Y.indptr[i : i + 2]
    return ", ".join(names[j] for j in test.Y.indices[start:stop])


def as_csv(model: FittedModel, test: Dataset, k: int) -> bytes:
    """Return the predictions of all rows as a file."""
    stream = io.StringIO(newline="")
    write_predictions(model.predict(test.X, k), stream)
    return stream.getvalue().encode()


def as_npz(model: FittedModel) -> bytes:
    """Return the model as a file."""
    stream = io.BytesIO()
    save_model(stream, model)
    return stream.getvalue()
