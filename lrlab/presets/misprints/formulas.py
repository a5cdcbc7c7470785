"""Figures of misprints in formulas: printed and right, beside what is computed of neither."""

import math
from collections.abc import Callable, Mapping

import numpy as np
from scipy.special import gammaln

from lrlab.arrays import Array
from lrlab.figures import theme
from lrlab.figures.build import Figure, trace
from lrlab.presets.misprints import Shown
from lrlab.theory.links import LogisticLink

PRINTED, RIGHT = "as printed", "right"


def lines(x: Array, curves: Mapping[str, Array], x_title: str, y_title: str, *, log_y: bool = False) -> Figure:
    """Return lines over x by name, in three patterns as well as colours."""
    figure, colours = Figure(), theme.colours(list(curves))
    for (name, y), dash in zip(curves.items(), ("dash", "solid", "dot"), strict=False):
        figure.add_scatter(
            x=x,
            y=y,
            name=name,
            mode="lines",
            line={"color": colours[name], "dash": dash},
            hovertemplate=f"{name}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
        )
    figure.update_yaxes(type="log" if log_y else "linear")
    return theme.style(figure, x_title, y_title, height=360)


def flipped_link() -> Shown:
    """Equation (2.3) of Yi et al.: the link without flips, and that of this library."""
    z = np.linspace(-4, 4, 161)
    printed, right = np.exp(z - 1) / np.exp(z + 1), (np.exp(z) - 1) / (np.exp(z) + 1)
    library = LogisticLink()(z)
    figure = lines(z, {PRINTED: printed, RIGHT: right, "link of this library": library}, "z", "f(z), no flips, ζ = 0")
    spans = float(np.ptp(printed)), float(np.ptp(right))
    caption = f"Over z from −4 to 4 the printed link changes by {spans[0]:.2g}, the right one by {spans[1]:.3g}."
    return Shown(figure, caption, spans)


def sample_size() -> Shown:
    """Equation (3.11) of Yi et al.: n_min over the share of flipped answers, as a multiple of that without flips."""
    flip = np.linspace(0, 0.45, 91)
    phi = np.array([LogisticLink(flip=share).moments.phi for share in flip])
    kappa = (4 + phi) / (4 + 3 * phi)
    least = np.minimum(kappa * (1 - np.sqrt(kappa)) / 2, kappa / 8)
    printed = phi**2 * least / (1 + phi) ** 2
    printed, right = printed / printed[0], printed[0] / printed
    curves = {PRINTED: printed, RIGHT: right}
    figure = lines(flip, curves, "share of flipped answers pₑ", "n_min / n_min(0)", log_y=True)
    caption = (
        f"With 45% of the answers flipped the printed bound asks for 1 / {1 / printed[-1]:,.0f} of the samples that it "
        f"asks for without flips, the right one for {right[-1]:,.0f} times as many."
    )
    return Shown(figure, caption, (float(printed[-1]), float(right[-1])))


def large_noise() -> Shown:
    """Lemma 3.4 (b) of Yi et al. with the constant of its proof, 2 / pi."""
    variance = np.linspace(0.5, 9, 86)
    top = 2 / math.pi * variance**2
    return _bounds(variance, top / (1 + variance**1.5) ** 2, top / (1 + variance) ** 3, "At σ² = 9")


def small_noise() -> Shown:
    """Section 5.1 of Yi et al.: the constant E|z|, and its square."""
    variance = np.linspace(0.5, 0, 101)
    share = ((1 - variance) / (1 + variance)) ** 2
    return _bounds(variance, math.sqrt(2 / math.pi) * share, 2 / math.pi * share, "Without noise")


def _bounds(variance: Array, printed: Array, right: Array, where: str) -> Shown:
    """Return two lower bounds of phi as multiples of phi, (2 / pi) / (1 + variance); numbers at the last variance."""
    printed, right = ((1 + variance) * math.pi / 2 * bound for bound in (printed, right))
    curves = {PRINTED: printed, RIGHT: right, "φ itself": np.ones_like(variance)}
    ratios = float(printed[-1]), float(right[-1])
    words = f"{where} the printed lower bound is {ratios[0]:.3g} times φ, the right one {ratios[1]:.3g} times."
    return Shown(lines(variance, curves, "variance of the noise σ²", "lower bound / φ"), words, ratios)


def packing() -> Shown:
    """Lemma 5.1 of Yi et al.: logarithms of the bounds, and of the number of all vectors with s ones, p = 100."""
    p, s = 100, np.arange(1.0, 26.0)
    alpha, beta = 3 / 4, 1 / 3
    rho = alpha / -math.log(alpha * beta) * (-math.log(beta) + beta - 1)
    every = gammaln(p + 1) - gammaln(s + 1) - gammaln(p - s + 1)
    printed, right = (constant * s * np.log(p / s) for constant in (8 / 3, rho))
    curves = {PRINTED: printed, f"right: {rho:.3f} s log(p/s)": right, "all vectors with s ones": every}
    words = f"At s = 10: as printed {printed[9]:.3g}, right {right[9]:.3g}, of all such vectors {every[9]:.3g}."
    return Shown(
        lines(s, curves, "ones s, of p = 100", "logarithm of the number of vectors"),
        words,
        (float(printed[9] / every[9]), float(right[9] / every[9])),
    )


def logistic_derivatives() -> Shown:
    """Table 1 of Yu et al.: the second derivative of the logistic loss, beside differences of the loss."""
    b, step, label = np.linspace(-6, 6, 121), 1e-3, 1.0
    loss, share = (lambda score: np.logaddexp(0, -label * score)), np.exp(-label * b) / (1 + np.exp(-label * b)) ** 2
    differences = (loss(b + step) - 2 * loss(b) + loss(b - step)) / step**2
    figure = lines(b, {PRINTED: -share, RIGHT: share}, "score b, label a = 1", "second derivative of the loss")
    figure.add_scatter(
        x=b[::6],
        y=differences[::6],
        name="differences of the loss",
        mode="markers",
        marker={"color": theme.PALETTE[2]},
        hovertemplate="differences<br>%{x:.4g}: %{y:.4g}<extra></extra>",
    )
    errors = float(abs(-share - differences).max()), float(abs(share - differences).max())
    first = (loss(step) - loss(-step)) / (2 * step), -label / (1 + np.exp(-2 * label)), -label / (1 + np.exp(2 * label))
    slope = (loss(2 + step) - loss(2 - step)) / (2 * step)
    words = (
        f"The printed second derivative is off by up to {errors[0]:.2g}, the right one by {errors[1]:.1g}. At b = 2 "
        f"the first derivative is {slope:.3f}; printed {first[1]:.3f}, right {first[2]:.3f}."
    )
    return Shown(figure, words, errors)


def dilation() -> Shown:
    """Algorithm 1 of Qiu et al., line 4: what its block has of W, for 8 features and 4 labels."""
    d1, d2 = 8, 4
    W = np.random.default_rng(0).uniform(0.5, 1.0, (d1, d2))
    whole = np.block([[np.zeros((d1, d1)), W], [W.T, np.zeros((d2, d2))]])
    number = np.arange(1, d1 + d2 + 1)
    hover = "row %{y}, column %{x}: %{z:.2f}<extra></extra>"
    figure = Figure(trace("heatmap", z=whole, x=number, y=number, showscale=False, hovertemplate=hover))
    cuts = {PRINTED: (slice(0, d2), slice(d2, d2 + d1)), RIGHT: (slice(0, d1), slice(d1, d1 + d2))}
    for (name, (rows, columns)), colour, dash in zip(cuts.items(), theme.PALETTE[1:], ("dash", "solid"), strict=False):
        top, bottom, left, right = rows.start + 0.5, rows.stop + 0.5, columns.start + 0.5, columns.stop + 0.5
        figure.add_scatter(
            x=[left, right, right, left, left],
            y=[top, top, bottom, bottom, top],
            mode="lines",
            name=f"block {name}",
            line={"color": colour, "width": 4, "dash": dash},
            hoverinfo="skip",
        )
    figure.update_yaxes(autorange="reversed")
    printed, complete = (float(whole[cut].sum() / W.sum()) for cut in cuts.values())
    words = (
        f"Of W, 8 × 4, the block as printed, which is 4 × 8, holds {printed:.0%} by weight, the right one "
        f"{complete:.0%}."
    )
    return Shown(theme.style(figure, "column", "row", height=420), words, (printed, complete))


FIGURES: Mapping[str, Callable[[], Shown]] = {
    function.__name__: function
    for function in (
        flipped_link,
        sample_size,
        large_noise,
        small_noise,
        packing,
        logistic_derivatives,
        dilation,
    )
}
