"""The measures of estimates of a low-rank matrix, with their words."""

from lrlab.model_entry import COMMON_MEASURES, Measure

MEASURES = {
    "error": Measure("error  ‖Ŵ − W‖ / ‖W‖", "relative Frobenius distance from the truth: 0 is exact"),
    "error_over_bound": Measure(
        "error / Cramér-Rao bound",
        "mean error over the least of estimates without bias at this noise: 1 is efficient; bias may go below",
        quotient=("error", "bound_error"),
    ),
    "spectral_error": Measure("spectral error", "the same in the spectral norm, over the largest singular value"),
    "weakest_error": Measure(
        "error over the smallest singular value  ‖Ŵ − W‖₂ / s_k",
        "spectral norm of the error, as a share of the smallest singular value of W: below 0.1 W is recovered",
    ),
    "recovered_directions": Measure(
        "singular directions recovered",
        "of the k of W, those along which the error is below a tenth of their singular value",
    ),
    "misfit": Measure("misfit  ‖A(Ŵ) − b‖ / ‖b‖", "how far the measurements of the estimate are from the given ones"),
    "test_error": Measure(
        "test error", "relative error of the answers on 1,000 fresh inputs, free of noise", common=False
    ),
    "test_squares": Measure(
        "squared errors of 100 points", "sum over all answers of 100 fresh points, free of noise", common=False
    ),
    "cold_error": Measure(
        "error on cold rows", "relative error on rows of the table without any observed entry", common=False
    ),
    "incoherence": Measure(
        "incoherence of the features",
        "largest norm of a row's whitened features over its mean: 1 is spread evenly",
        common=False,
        constant=True,
    ),
    "guessed_rank": Measure(
        "guessed rank", "rank that solvers are given where it is guessed or assumed", common=False, constant=True
    ),
    **COMMON_MEASURES,
}
