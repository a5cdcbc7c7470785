"""Figure of fits to ratings: errors on test ratings beside those of biases alone and of the mean."""

from collections.abc import Mapping, Sequence

from lrlab.figures import theme
from lrlab.figures.build import Figure

LINES = {"rmse_biases": "biases alone", "rmse_mean": "the mean"}


def errors(runs: Mapping[str, Sequence[Mapping[str, float]]], lines: Mapping[str, float]) -> Figure:
    """Return the error of each run by iteration, and dashed lines for the errors of the baselines."""
    figure = Figure()
    last = max([2, *(len(rows) for rows in runs.values())])
    colours, dashes = theme.colours(list(runs)), theme.dashes(list(runs))
    for name, rows in runs.items():
        figure.add_scatter(
            x=[row["iteration"] for row in rows], y=[row["rmse"] for row in rows], name=name, mode="lines+markers",
            line={"color": colours[name], "dash": dashes[name]}, marker={"size": 5},
            hovertemplate=f"{name}, iteration %{{x}}: rmse %{{y:.4f}}<extra></extra>",
        )  # fmt: skip
    for (key, words), dash in zip(LINES.items(), ("dash", "dot"), strict=True):
        value = lines[key]
        look = {**theme.THEORY, "color": theme.INK, "dash": dash}
        figure.add_scatter(
            x=[1, last], y=[value, value], mode="lines", line=look, name=f"{words} ({value:.4f})",
            hovertemplate=f"{words}: {value:.4f}<extra></extra>",
        )  # fmt: skip
    return theme.style(figure, "iteration", "rmse on test ratings", height=380)
