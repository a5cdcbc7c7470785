r"""Second moments of x by response: of both classes, of differences within pairs, and which of M and M' to take.

M is of pairs with different responses, M' of pairs with equal ones. phi = mu_1^2 - mu_0 (mu_2 - mu_0) lifts the
signal's eigenvalue in M if it is positive, in M' if it is negative. With few entries the largest eigenvalues of M and
M' themselves do not tell: the matrix that lacks the signal is the smaller along b and has its largest eigenvalue
elsewhere, by chance. Instead

    G = r r^T - m C,    r = mean (y_i - m) x_i,    C = mean (y_i - m) x_i x_i^T,    m = mean y_i

estimates phi b b^T from all n(n-1)/2 pairs. With w_i = (y_i - m) / n, G = X^T D X, D = w w^T - m diag(w). If responses
do not depend on x, its law is that of the sum of d_i x_i x_i^T over the eigenvalues d_i of D: one for each response,
and two that w adds. The largest and smallest eigenvalues of G then have known means and standard deviations at each p
(`theory.bulk`). `choose` takes M if the largest one exceeds its mean by more standard deviations than minus the
smallest does.
"""

from typing import NamedTuple

import numpy as np

from lrlab.arrays import Array
from lrlab.linalg import top_eigenpairs
from lrlab.models.protocols import SingleIndexData
from lrlab.theory.bulk import largest_by_chance


class ClassMoments(NamedTuple):
    """Counts, sums of x (p,), and sums of x x^T (p, p) over the samples with y = 1 and y = -1."""

    n_pos: int
    n_neg: int
    s_pos: Array
    s_neg: Array
    S_pos: Array
    S_neg: Array

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.n_pos + self.n_neg

    @property
    def mean_answer(self) -> float:
        """Mean of y."""
        return (self.n_pos - self.n_neg) / self.n

    def weighted(self, pos: float, neg: float) -> Array:
        """Return the sum of x x^T (p, p) with a weight for each response."""
        M = pos * self.S_pos
        M += neg * self.S_neg
        return M


def class_moments(problem: SingleIndexData) -> ClassMoments:
    """Return the class moments of a single-index problem; one pass by blocks, memory 3 p^2 and a block."""
    p = problem.shape[1]
    counts, sums, squares = [0, 0], np.zeros((2, p)), np.zeros((2, p, p))
    for X, y in problem.blocks():
        for k, answer in enumerate((1.0, -1.0)):
            chosen = X[y == answer]
            squares[k] += chosen.T @ chosen
            sums[k] += chosen.sum(axis=0)
            counts[k] += len(chosen)
    return ClassMoments(counts[0], counts[1], sums[0], sums[1], squares[0], squares[1])


def pair_moments(problem: SingleIndexData, pairs: str) -> tuple[Array, Array]:
    """Return M/4 and M'/4 (p, p), the means of 1{answers differ} dx dx^T and 1{answers agree} dx dx^T over pairs."""
    n, p = problem.shape
    if pairs == "all":
        # sum over i in +, j in - of (x_i - x_j)(x_i - x_j)^T = n_- S_+ + n_+ S_- - s_+ s_-^T - s_- s_+^T, and over
        # i < j of one class c: n_c S_c - s_c s_c^T. No pair is ever formed.
        c, count = class_moments(problem), n * (n - 1) / 2.0
        cross = np.outer(c.s_pos, c.s_neg)
        own = np.outer(c.s_pos, c.s_pos) + np.outer(c.s_neg, c.s_neg)
        differ = c.n_neg * c.S_pos + c.n_pos * c.S_neg - (cross + cross.T)
        return differ / count, (c.n_pos * c.S_pos + c.n_neg * c.S_neg - own) / count
    differ, agree = np.zeros((p, p)), np.zeros((p, p))
    for X, y in problem.blocks():
        whole = len(y) // 2 * 2
        dx = X[1:whole:2] - X[:whole:2]
        changed = y[1:whole:2] != y[:whole:2]
        for moment, chosen in ((differ, dx[changed]), (agree, dx[~changed])):
            # The transpose of the same array: BLAS then computes one half, and the sum is symmetric.
            moment += chosen.T @ chosen
    return differ / (n // 2), agree / (n // 2)


def decided(
    differ: float,
    agree: float,
    sure: float = 2.0,
    measured: str = "its largest eigenvalue stands out more, {} standard deviations above pure noise",
) -> tuple[str, str]:
    """Return the matrix that shows more of the signal, "M" or "M'", and why, as a sentence for the user.

    differ, agree: how much it shows in M and in M', in standard deviations of noise. sure: the least lead of one over
    the other that settles the choice; two standard deviations make a wrong one rare. measured: what the numbers are.
    """
    least, most = sorted((max(differ, 0.0), max(agree, 0.0)))
    moment, other = ("M", "M'") if differ >= agree else ("M'", "M")
    words = f"{moment} chosen: {measured.format(format_size(most))}, in {other} {format_size(least)}."
    doubt = " The choice is uncertain: more responses would settle it."
    return moment, words if most - least >= sure else words + doubt


def format_size(deviations: float) -> str:
    """Return a number of standard deviations with two digits, without an exponent."""
    return f"{deviations:,.0f}" if deviations >= 10.0 else f"{deviations:.2g}"


def choose(moments: ClassMoments) -> tuple[str, str]:
    """Return which of M and M' stands out more, and a sentence."""
    return decided(*heights(moments))


def heights(moments: ClassMoments) -> tuple[float, float]:
    """Return by how many standard deviations M and M' stand out."""
    G, m, n, p = contrast(moments), moments.mean_answer, moments.n, len(moments.s_pos)
    counts, weights = (moments.n_pos, moments.n_neg), (-m * (1.0 - m) / n, m * (1.0 + m) / n)
    # D on the two vectors that are constant for each response and 0 for the other one. w adds two
    # eigenvalues: one beyond the weights, and one between them.
    w = np.sqrt(counts) * np.array([1.0 - m, -1.0 - m]) / n
    beyond = float(np.linalg.eigvalsh(np.diag(weights) + np.outer(w, w))[-1])
    of_G = largest_by_chance(weights, counts, p, size=p * beyond)
    of_minus_G = largest_by_chance([-weight for weight in weights], counts, p)
    return of_G.height(float(top_eigenpairs(G, 1)[0][0])), of_minus_G.height(float(top_eigenpairs(-G, 1)[0][0]))


def contrast(moments: ClassMoments) -> Array:
    """Return G (p, p)."""
    n, m = moments.n, moments.mean_answer
    r = ((1.0 - m) * moments.s_pos - (1.0 + m) * moments.s_neg) / n
    G = moments.weighted(-m * (1.0 - m) / n, m * (1.0 + m) / n)
    G += np.outer(r, r)
    return G
