"""How well scores rank and decide labels: precision@k, nDCG@k, Hamming loss and areas under the ROC curve.

Scores are (n, L), as an array or as a function from a slice of rows to those rows, so that a large table of scores
never stands in memory. Labels are a sparse matrix (n, L) of positives; `observed` is a sparse matrix (n, L) of the
entries that are known, None where all are. Unobserved entries take no part: they are neither ranked nor counted.

Ties: precision@k and nDCG@k are expectations over all orders of equal scores, so that the order of the labels in a
file never decides; a pair of equal scores counts one half in every AUC. For nDCG and AUC scikit-learn does the same.
"""

from lrlab.ranking.blocks import BLOCK_ENTRIES, Average, Scores, row_blocks, rows_of
from lrlab.ranking.scores import areas, hamming, instance_auc, label_auc, micro_auc, row_measures

__all__ = [
    "BLOCK_ENTRIES",
    "THRESHOLDS",
    "Average",
    "Scores",
    "areas",
    "hamming",
    "instance_auc",
    "label_auc",
    "micro_auc",
    "row_blocks",
    "row_measures",
    "rows_of",
]

THRESHOLDS = {"zero-one": 0.5, "signs": 0.0}
"""Where a score becomes a yes: half way between the two numbers by which a loss codes the labels."""
