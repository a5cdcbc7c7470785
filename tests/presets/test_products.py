"""Speed-ups of LEML's fast products: the same numbers as direct ones, whatever the parts, and a panel for each axis."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from lrlab import presets
from lrlab.models.multilabel import Multilabel
from lrlab.parameters import InputError
from lrlab.presets import products
from lrlab.presets.reading import read

TEXT = """
title = "t"
reference = "r"
explanation = "e"
model = "multilabel"
trials = 2
spec = { n = 60, d = 40, labels = 8, rank = 3, observed = 0.5, density = 0.1 }
figure = { kind = "products" }
series = [{ label = "gradient" }, { label = "Hessian product" }]
panels = [
  { title = "direct", axes = { features_per_row = [4, 20] } },
  { title = "threads", axes = { threads = [1, 4096] }, spec = { d = 5000, density = 0.001 } },
]
claims = [{ paper = "c", panel = "direct", rule = "rising", series = ["gradient"] }]
"""


def test_fast_and_direct_products_agree():
    problem = Multilabel(n=50, d=30, labels=8, rank=3, observed=0.5, density=0.2, seed=1004).build()
    rng = np.random.default_rng(0)
    W, S, H = (rng.standard_normal((size, 3)) for size in (30, 30, 8))
    with ThreadPoolExecutor(2) as pool:
        for count in (1, 3):
            pairs = zip(
                products.direct(problem, W, S, H), products.in_parts(problem, W, S, H, count, pool), strict=True
            )
            for slow, fast in pairs:
                assert slow() == pytest.approx(fast(), abs=1e-10)


def test_a_panel_for_each_axis_up_to_the_cores_there_are():
    plan = products.plan(read("small", TEXT))
    assert {(item.axis, item.value) for item in plan.items} == {
        ("features_per_row", 4), ("features_per_row", 20), ("threads", 1),
    }  # fmt: skip
    result = plan.finish([plan.function(item) for item in plan.items])
    direct, threads = result.panels
    # 240 labels observed; 5 or 21 of 40 features in each of 60 rows, the constant among them.
    lines = {line.name: line for line in direct.figure.data}
    assert list(lines["theory, multiplications"].y) == pytest.approx([240 * 5 / 580, 240 * 20.6 / 1516], rel=0.05)
    assert "Verdict: " in direct.caption and "cores" in threads.caption and "Verdict" not in threads.caption
    points = result.table[result.table["level"] == "point"]
    assert (points["speed_up"] > 0).all() and set(points["series"]) == set(products.PRODUCTS)


def test_the_paper_s_figure_is_planned_and_a_wrong_axis_refused():
    items = products.plan(presets.load("yu2014-fig3"), trials=2).items
    assert {item.value for item in items if item.axis == "features_per_row"} == {4, 8, 16, 32, 64}
    with pytest.raises(InputError, match=r"features_per_row must be whole numbers in 1\.\.40"):
        products.plan(read("t", TEXT.replace("[4, 20]", "[4, 200]")))
    with pytest.raises(InputError, match="axis must be one of features_per_row, threads"):
        products.plan(read("t", TEXT.replace("features_per_row", "features")))
