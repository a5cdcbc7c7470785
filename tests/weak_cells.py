"""Draws single-index problems whose signal is weak, from all four models."""

import numpy as np

from lrlab import catalog
from lrlab.models.single_index import SingleIndexSpec
from lrlab.theory.predicted_overlap import least_squares_overlap
from lrlab.theory.spectral import link_free_weights, spike

MODELS = ("one-bit-sensing", "flipped-logistic", "one-bit-phase-retrieval", "custom-link")
LINKS = ("sin z", "sin 2z", "cos 2z", "cubic", "three levels", "offset band", "bump", "tanh(z)*(1-exp(-z^2))")
LEAST, MOST = 0.1, 0.75


def drawn_cells(number: int, seed: int = 20261) -> list[SingleIndexSpec]:
    """Return so many dense cells, p from 5 to 100, n/p from 2 to 50, noise up to 10, flips up to .4.

    Weak: the limit of the overlap of the better of SIR and the optimal spectral method lies between .1 and .75.
    """
    rng, cells = np.random.default_rng(seed), list[SingleIndexSpec]()
    while len(cells) < number:
        spec = drawn(rng, MODELS[len(cells) % len(MODELS)])
        if LEAST < best_limit(spec) < MOST:
            cells.append(spec)
    return cells


def drawn(rng: np.random.Generator, model: str) -> SingleIndexSpec:
    """Return one cell of a model."""
    p, ratio, noise = (int(round(np.exp(rng.uniform(np.log(5), np.log(100))))), *np.exp(rng.uniform(*SCALES)))
    noisy = noise if model == "one-bit-sensing" or rng.random() < 0.5 else 0.0
    own = {
        "one-bit-sensing": {},
        "flipped-logistic": {"intercept": rng.uniform(-2.5, 2.5)},
        "one-bit-phase-retrieval": {"threshold": rng.uniform(0.3, 1.5)},
        "custom-link": {"link": str(rng.choice([*LINKS, "tanh(z+1)"]))},
    }
    flip = rng.uniform(0.0, 0.4)
    return catalog.spec(model, n=int(round(p * ratio)), p=p, flip=flip, noise=noisy, **own[model])


SCALES = (np.log([2.0, 1.0]), np.log([50.0, 10.0]))


def best_limit(spec: SingleIndexSpec) -> float:
    """Return the larger of the limits of both methods."""
    moments, ratio = spec.link_function.moments, spec.n / spec.p
    weights = link_free_weights((1.0 + moments.mu0) / 2.0, ratio, 1 if moments.mu2 > moments.mu0 else -1)
    second = spike(moments, ratio, weights).overlap if weights else 0.0
    return max(least_squares_overlap(moments, ratio), second)
