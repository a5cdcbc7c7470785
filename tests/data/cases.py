"""Simulated measurements of each kind, with their ground truth."""

import numpy as np
from scipy.sparse import issparse


def answers(seed: int, n: int = 800, p: int = 6, kind: str = "normal"):
    """Return X (n, p), normal, correlated or mixed, with any means and scales, y (n,) in {0, 1}, and b (p,)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if kind == "correlated":
        X = X @ rng.standard_normal((p, p))
    if kind == "mixed":
        others = [rng.exponential(size=(n, p)), rng.random((n, p)) < 0.3, rng.uniform(size=(n, p)), X]
        X = np.choose(rng.integers(4, size=p), others)
    X = X * np.exp(3 * rng.standard_normal(p)) + 100 * rng.standard_normal(p)
    b = rng.standard_normal(p) / X.std(axis=0)
    return X, ((X - X.mean(axis=0)) @ b + 0.7 * rng.logistic(size=n) > 0.3).astype(int), b


def bilinear(seed: int, m: int = 400, d1: int = 8, d2: int = 6):
    """Return X (m, d1), Z (m, d2), y (m,), with correlated columns, and the W of rank 2."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, d1)) @ rng.standard_normal((d1, d1))
    Z = rng.standard_normal((m, d2)) * np.geomspace(1, 1000, d2)
    W = rng.standard_normal((d1, 2)) @ rng.standard_normal((2, d2))
    return X, Z, np.einsum("ij,jk,ik->i", X, W, Z), W


def quadratic(seed: int, m: int = 400, p: int = 8):
    """Return X (m, p), y (m,), and the symmetric L of rank 2 and both signs."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, p)) @ rng.standard_normal((p, p))
    U = rng.standard_normal((p, 2))
    L = U @ np.diag([1.0, -1.0]) @ U.T
    return X, np.einsum("ij,jk,ik->i", X, L, X), L


def gaps(seed: int, n1: int = 40, n2: int = 30, share: float = 0.5):
    """Return a table (n1, n2) of rank 2 with nan where it is not known, and the table."""
    rng = np.random.default_rng(seed)
    T = 7.0 * rng.standard_normal((n1, 2)) @ rng.standard_normal((2, n2))
    return np.where(rng.random(T.shape) < share, T, np.nan), T


def featured(seed: int, n1: int = 60, n2: int = 50, d1: int = 6, d2: int = 5):
    """Return a table (n1, n2) = X W Z^T with gaps, its features X and Z, and W of rank 2."""
    rng = np.random.default_rng(seed)
    X, Z = 3.0 * rng.standard_normal((n1, d1)), 0.2 * rng.standard_normal((n2, d2))
    W = rng.standard_normal((d1, 2)) @ rng.standard_normal((2, d2))
    return np.where(rng.random((n1, n2)) < 0.2, X @ W @ Z.T, np.nan), X, Z, W


def magnitudes(seed: int, m: int = 260, p: int = 24):
    """Return A (m, p) complex, |A x| (m,), and x (p,)."""
    rng = np.random.default_rng(seed)
    A = 5.0 * (rng.standard_normal((m, p)) + 1j * rng.standard_normal((m, p)))
    x = rng.standard_normal(p) + 1j * rng.standard_normal(p)
    return A, np.abs(A @ x), x


def patterns(seed: int, h: int = 10, w: int = 10, count: int = 6):
    """Return diffraction patterns (count, h, w) of an image behind masks, the masks, and the image."""
    rng = np.random.default_rng(seed)
    image = rng.random((h, w)) * (rng.random((h, w)) < 0.5)
    masks = rng.choice([-1.0, 1.0], size=(count, h, w))
    return np.abs(np.fft.fft2(image * masks)), masks, image


def save_npz(path, data):
    """Write a Dataset so that `read` returns the same one."""
    X, Y, known = (table.toarray() if issparse(table) else table for table in (data.X, data.Y, data.observed))
    names = {name: words for name in ("feature_names", "label_names") if (words := getattr(data, name)) is not None}
    Y = Y if known is None else np.where(known, Y, np.nan)
    np.savez_compressed(path, allow_pickle=False, X=X, Y=Y, **names)
