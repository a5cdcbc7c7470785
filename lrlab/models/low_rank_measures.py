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
        "spectral norm of the error over the smallest singular value of W: below 0.1 W is recovered",
    ),
    "recovered_directions": Measure(
        "singular directions recovered",
        "number of the k singular directions with an error below a tenth of their singular value",
    ),
    "misfit": Measure("misfit  ‖A(Ŵ) − b‖ / ‖b‖", "relative residual norm of the measurements"),
    "test_error": Measure("test error", "relative error of noiseless responses on 1,000 fresh inputs", common=False),
    "test_squares": Measure(
        "squared errors of 100 points", "sum over noiseless responses at 100 fresh points", common=False
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
    "guessed_rank": Measure("guessed rank", "estimated rank that solvers receive", common=False, constant=True),
    **COMMON_MEASURES,
}
