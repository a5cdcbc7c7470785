"""Explains fitted label models: strongest features, contributions to a score, labels that are alike, calibration."""

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from scipy.special import expit

from lrlab import ranking
from lrlab.arrays import Array, Matrix
from lrlab.datasets import Dataset
from lrlab.fits import calibration as curves
from lrlab.fits.fitted_model import FittedModel
from lrlab.lowrank import LowRank
from lrlab.parameters import InputError
from lrlab.solvers.multilabel.kernel_features import KernelRank

BINS = 10
LOGISTIC = ("leml-logistic", "trace-norm-logistic")
RANKERS = ("wsabie", "leml-squared-hinge", "svm")
"""Solvers whose scores are no estimates of a probability."""


def linear_part(model: FittedModel) -> LowRank:
    """Return the W (d, L) that multiplies scaled features; InputError where scores are not linear in them."""
    if not isinstance(model.estimate, LowRank) or isinstance(model.estimate, KernelRank):
        raise InputError("solver", "one with scores that are linear in features", model.solver, "take leml-squared")
    return LowRank(model.estimate.U, model.estimate.s, model.estimate.V)


def feature_names(model: FittedModel) -> tuple[str, ...]:
    """Return names of the features; the numbers by which files call them where there are none."""
    first = model.columns.counts_from[0]
    return model.columns.feature_names or tuple(str(j + first) for j in range(model.columns.d))


def place_of(model: FittedModel, label: str) -> int:
    """Return the place of a label by its name; InputError where there is none."""
    if label not in model.label_names:
        raise InputError("label", "a label of the model", label, f"name one such as {model.label_names[0]}")
    return model.label_names.index(label)


def strongest_features(model: FittedModel, label: int, count: int = 10) -> pd.DataFrame:
    """Return the features with the largest weights in the score of a label: `feature`, `weight`.

    A weight is what a standard deviation of the feature adds where columns are standardised, else what a unit adds.
    """
    W = linear_part(model)
    weights, names = W.left @ W.V[label], feature_names(model)
    order = np.argsort(-np.abs(weights), kind="stable")[:count]
    return pd.DataFrame({"feature": [names[j] for j in order], "weight": weights[order]})


def contributions(model: FittedModel, X: Matrix, row: int, label: int, count: int = 10) -> tuple[pd.DataFrame, float]:
    """Return by what each feature of a row moves the score of a label from the mean over the rows X, and that mean.

    Columns `feature`, `value` and `contribution`, the largest first; what is beyond `count` is summed in the last,
    so that all contributions and the mean add up to the score.
    """
    W, names = linear_part(model), feature_names(model)
    scaled = model.scaling.applied(X)
    mean = np.asarray(scaled.mean(axis=0)).ravel()
    one, given = (
        np.asarray(table[[row]].todense() if issparse(table) else table[row]).ravel() for table in (scaled, X)
    )
    parts = (one - mean) * (W.left @ W.V[label])
    average = float(ranking.rows_of(model.estimate.scores(mean[None]), slice(None))[0, label])
    order = np.argsort(-np.abs(parts), kind="stable")
    shown, rest = order[:count], float(parts[order[count:]].sum())
    table = {"feature": [names[j] for j in shown], "value": given[shown], "contribution": parts[shown]}
    lines = pd.DataFrame(table)
    if len(order) > count:
        lines.loc[len(lines)] = [f"{len(order) - count:,} others", np.nan, rest]
    return lines, average


def embeddings(model: FittedModel) -> Array:
    """Return the factor of labels H = V diag(s)^(1/2) (L, k) of Z = W H^T, W = U diag(s)^(1/2)."""
    if not isinstance(model.estimate, LowRank):
        raise InputError("solver", "one with a factor of labels", model.solver, "take leml-squared")
    return model.estimate.V * np.sqrt(model.estimate.s)


def embedding_table(model: FittedModel) -> pd.DataFrame:
    """Return a row for each label: its name and its embedding."""
    H = embeddings(model)
    table = pd.DataFrame(H, columns=[str(j + 1) for j in range(H.shape[1])])
    table.insert(0, "label", list(model.label_names))
    return table


def directions(model: FittedModel) -> Array:
    """Return embeddings of length 1 (L, k); 0 where a label has none."""
    H = embeddings(model)
    lengths = np.linalg.norm(H, axis=1, keepdims=True)
    return np.divide(H, lengths, out=np.zeros_like(H), where=lengths > 0)


def nearest_labels(model: FittedModel, label: int, count: int = 10) -> pd.DataFrame:
    """Return the labels whose embeddings have the largest cosine with that of a label: `label`, `cosine`."""
    H = directions(model)
    cosines = H @ H[label]
    order = np.argsort(-cosines, kind="stable")
    order = order[order != label][:count]
    return pd.DataFrame({"label": [model.label_names[j] for j in order], "cosine": cosines[order]})


def label_map(model: FittedModel) -> tuple[Array, float]:
    """Return the first two principal components (L, 2) of the labels' directions, and their share of the variance."""
    H = directions(model)
    centred = H - H.mean(axis=0)
    U, s, _ = np.linalg.svd(centred, full_matrices=False)
    places = np.zeros((len(H), 2))
    places[:, : min(2, len(s))] = (U * s)[:, :2]
    total = float(s @ s)
    return places, float(s[:2] @ s[:2]) / total if total else 1.0


def is_probability(model: FittedModel) -> bool:
    """Return whether scores give the probability that a label is on: calibrated, or as the loss has it."""
    hinge = model.options.get("loss") in ("hinge", "squared-hinge")
    return bool(model.calibration) or (model.solver not in RANKERS and not hinge)


def probabilities(model: FittedModel, scores: Array) -> Array:
    """Return scores as probabilities; as they are where they estimate none."""
    if model.calibration:
        return curves.probabilities(model.calibration, scores)
    if not is_probability(model):
        return scores
    logistic = model.solver in LOGISTIC or model.options.get("loss") == "logistic"
    return expit(scores) if logistic else np.clip(scores, 0.0, 1.0)


def calibration(model: FittedModel, data: Dataset) -> pd.DataFrame:
    """Return for bins of predictions, as many in each, the mean `predicted`, the `share` on, the `count`.

    A solver is calibrated where both are alike: of the labels predicted at .3 three in ten are on.
    """
    scores, values, on = model.scores(data.X), list[Array](), list[Array]()
    for rows, block in ranking.row_blocks(scores, data.n, data.L):
        known = np.ones(block.shape, bool) if data.observed is None else data.observed[rows].toarray()
        values.append(probabilities(model, block)[known])
        on.append(data.Y[rows].toarray()[known] > 0)
    predicted, truth = np.concatenate(values), np.concatenate(on)
    order = np.argsort(predicted, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    lines = [(predicted[part].mean(), truth[part].mean(), len(part)) for part in parts]
    return pd.DataFrame(lines, columns=["predicted", "share", "count"])


def calibration_error(table: pd.DataFrame) -> float:
    """Return the mean distance of predictions from shares over the bins, weighted by their counts."""
    return float(np.average(np.abs(table["predicted"] - table["share"]), weights=table["count"]))
