"""What any fit to labels has to beat: the frequencies of the labels, and full rank, a ridge regression of each."""

from collections.abc import Mapping
from itertools import islice

import numpy as np
from scipy.sparse import csr_array

from lrlab import catalog, lowrank
from lrlab.models.multilabel import Multilabel
from lrlab.models.multilabel_problem import MultilabelProblem, Predictor, label_shares
from lrlab.parameters import Value, settle
from lrlab.solvers.multilabel.affine import Affine

FREQUENCIES, FULL_RANK = "label frequencies", "full rank"
SOLVER = "binary-relevance"
LEAD = 0.03
"""By how much AUC shall exceed that of label frequencies, or else it is said."""
MOST_BYTES = 2**29
"""Largest matrix (d, L) of which a ridge regression is made for comparison; it takes ten of them."""
ITERATIONS = 5
"""Most steps of ten conjugate gradients, where labels are missing."""


def frequencies(d: int, Y: csr_array, known: csr_array | None) -> Affine:
    """Return the predictor that gives every row, of d features, the frequencies of the labels."""
    return Affine.at(lowrank.zero((d, Y.shape[1]), 1), label_shares(Y, known))


def feasible(d: int, L: int) -> bool:
    """Return whether ridge regressions of L labels on d features are made for comparison."""
    return 8 * d * L <= MOST_BYTES


def full_rank(problem: MultilabelProblem, settings: Mapping[str, Value]) -> Predictor:
    """Return ridge regressions; `settings` may give their weight."""
    run = catalog.solver(SOLVER, Multilabel.model).run
    iterates = run(problem, **settle(run, settings), rng=np.random.default_rng(0))
    return list(islice(iterates, ITERATIONS))[-1].estimate


def uncertainty(score: float, base: float, rows: int) -> float | None:
    """Return 1.96 standard errors of the difference of two mean scores over test rows; None without rows.

    A score in 0..1 of mean m has a variance of at most m (1 - m), and the two are taken as independent: fits that err
    in the same rows differ by less.
    """
    return 1.96 * float(np.sqrt((score * (1.0 - score) + base * (1.0 - base)) / rows)) if rows else None


def remark(scores: Mapping[str, float], baselines: Mapping[str, Mapping[str, float]]) -> str:
    """Return a sentence where a fit is below a baseline in AUC, or hardly above label frequencies; else nothing.

    Another one where more labels are predicted wrongly than by their frequencies, which alone judges a single label.
    """
    # As they are printed: .8249 is not said to be below .8251.
    auc, words = round(scores.get("auc", np.nan), 3), list[str]()
    lowest = round(baselines.get(FREQUENCIES, {}).get("auc", np.nan), 3)
    if auc < lowest + LEAD:
        way = "below" if auc < lowest else f"less than {LEAD} above"
        words.append(f"{way} that of label frequencies, {lowest:.3f}")
    if auc < (full := round(baselines.get(FULL_RANK, {}).get("auc", np.nan), 3)):
        words.append(f"below that of {FULL_RANK}, {full:.3f}")
    said = [f"The AUC, {auc:.3f}, is {' and '.join(words)}."] if words else []
    fewest, wrong = (round(of.get("hamming", np.nan), 3) for of in (baselines.get(FREQUENCIES, {}), scores))
    if wrong > fewest:
        said.append(f"The Hamming loss, {wrong:.3f}, is above that of label frequencies, {fewest:.3f}.")
    return " ".join(said)
