"""Least squares on an earlier factor: exact, however the problems change, and with few factors where they hardly do."""

import numpy as np
import pytest

from lrlab.operators.lagged import Lagged, Products

SHAPE = (6, 3)


def products(rows, formed):
    """Return the map with some rows, of unknowns column by column, and count the normal matrices that are formed."""

    def normal():
        formed.append(1)
        return rows.T @ rows

    return Products(
        lambda D: rows @ D.T.ravel(), lambda r: np.ascontiguousarray((rows.T @ r).reshape(SHAPE[::-1]).T), normal
    )


def exact(rows, b):
    """Return the solution of minimum norm."""
    return np.linalg.lstsq(rows, b, rcond=None)[0].reshape(SHAPE[::-1]).T


@pytest.mark.parametrize(("change", "most"), [(1e-3, 3), (1.0, 40)])
def test_solutions_are_exact_and_factors_are_formed_again_where_problems_change(change, most):
    rng, lagged, formed = np.random.default_rng(0), Lagged(), []
    rows, b = rng.standard_normal((60, 18)), rng.standard_normal(60)
    for _ in range(40):
        rows = rows + change * rng.standard_normal(rows.shape)
        assert lagged.solve(products(rows, formed), b) == pytest.approx(exact(rows, b), abs=1e-11)
    assert len(formed) <= most and (change < 1.0 or len(formed) > 20)


def test_a_singular_problem_has_the_solution_of_minimum_norm():
    rng, lagged = np.random.default_rng(1), Lagged()
    for _ in range(3):
        rows, b = rng.standard_normal((12, 18)), rng.standard_normal(12)
        assert lagged.solve(products(rows, []), b) == pytest.approx(exact(rows, b), abs=1e-8)


def test_a_right_side_of_zeros_has_the_solution_zero():
    rng, lagged = np.random.default_rng(2), Lagged()
    rows = rng.standard_normal((60, 18))
    for b in (rng.standard_normal(60), np.zeros(60)):
        solution = lagged.solve(products(rows, []), b)
    assert not solution.any()
