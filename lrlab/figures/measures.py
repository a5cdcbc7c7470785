"""The measures of each family of models: titles and meanings."""

from collections.abc import Mapping
from typing import NamedTuple


class Measure(NamedTuple):
    """A measure: its axis title, and what it means."""

    title: str
    meaning: str


OWN = {
    "objective": Measure("objective of the solver", "what the solver itself minimises; not comparable between solvers"),
    "residual": Measure("relative residual", "distance from a fixed point or from optimality: a run stops at tol"),
}

MEASURES: Mapping[str, Mapping[str, Measure]] = {
    "single-index": {
        "error": Measure(
            "error  ‖b̂ − b‖", "sign-free distance of the unit vectors: 0 is exact, √2 is orthogonal to the truth"
        ),
        "overlap": Measure(
            "squared overlap  ⟨b̂, b⟩²", "squared cosine with the truth: 1 is exact, 1/p is a random guess"
        ),
        "misfit": Measure("misfit  mean (y − f(⟨x, b̂⟩))²", "squared loss of the answers under the true link f"),
        **OWN,
        "support": Measure(
            "support recall", "share of the true non-zero entries among as many largest entries of the estimate"
        ),
    },
    "low-rank": {
        "error": Measure("error  ‖Ŵ − W‖ / ‖W‖", "relative Frobenius distance from the truth: 0 is exact"),
        "spectral_error": Measure("spectral error", "the same in the spectral norm, over the largest singular value"),
        "misfit": Measure(
            "misfit  ‖A(Ŵ) − b‖ / ‖b‖", "how far the measurements of the estimate are from the given ones"
        ),
        "test_error": Measure("test error", "relative error of the answers on 1,000 fresh inputs, free of noise"),
        "cold_error": Measure("error on cold rows", "relative error on rows of the table without any observed entry"),
        "incoherence": Measure(
            "incoherence of the features", "largest norm of a row's whitened features over its mean: 1 is spread evenly"
        ),
        **OWN,
    },
    "phase-retrieval": {
        "error": Measure("error  min ‖eⁱᵗ x̂ − x‖ / ‖x‖", "relative distance from the truth under the best phase"),
        "overlap": Measure("squared overlap", "squared cosine with the truth: 1 is exact, 1/p is a random guess"),
        "misfit": Measure("misfit of magnitudes", "‖ |A x̂| − |A x| ‖ / ‖ |A x| ‖ on the given magnitudes"),
        **OWN,
    },
    "multilabel": {
        "precision_3": Measure(
            "precision@3", "fraction of the three labels with the highest scores that are on, test rows"
        ),
        "precision_1": Measure("precision@1", "the same of the label with the highest score"),
        "precision_5": Measure("precision@5", "the same of the five labels with the highest scores"),
        "ndcg_3": Measure(
            "nDCG@3",
            "gain 1 / log2(1 + place) of the labels that are on among the first three, over that of the best order",
        ),
        "ndcg_5": Measure("nDCG@5", "the same of the first five labels"),
        "hamming": Measure("Hamming loss", "fraction of labels of test rows predicted wrongly (threshold 1/2)"),
        "auc": Measure(
            "AUC", "chance that a label that is on has a higher score than one that is off, mean over test rows"
        ),
        "excess_risk": Measure(
            "excess risk", "population squared risk above that of the best linear predictor, where that is known"
        ),
        **OWN,
    },
    "one-bit-multilabel": {
        "error": Measure("error  ‖Ŵ − W‖ / ‖W‖", "relative Frobenius distance from the truth, columns normalised"),
        "spectral_error": Measure("spectral error", "the same in the spectral norm, over the largest singular value"),
        "hamming": Measure("Hamming loss", "fraction of the signs of all labels of test rows predicted wrongly"),
        "auc": Measure(
            "AUC", "chance that a positive label has a higher score than a negative one, mean over test rows"
        ),
        "label_auc": Measure(
            "AUC of labels", "chance that a positive row has a higher score than a negative one, mean over labels"
        ),
        **OWN,
    },
}
CONSTANT = ("incoherence",)
"""Measures of the problem, not of an iterate."""
