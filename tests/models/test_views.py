"""Pictures of truths and estimates: of each family, of the same shape, and exact where the estimate is."""

from functools import partial

import numpy as np
import pytest

import lrlab
from lrlab import catalog
from lrlab.figures import picture, recovery
from lrlab.figures.recovery import Recovery
from lrlab.figures.runs import Run, recoveries, truth_of
from lrlab.models import views
from lrlab.parameters import InputError

PICTURED = {
    "rank-one-sensing": {"truth": "digit-3", "m": 700, "d1": 24, "d2": 24, "rank": 4},
    "polynomial-network": {"weights": "digits", "p": 64, "r": 5, "m": 2000},
    "one-bit-completion": {"truth": "films", "rank": 3, "n1": 40, "n2": 40},
    "multilabel": {"n": 300, "d": 20, "labels": 12, "rank": 3},
    "one-bit-multilabel": {"m": 500, "d1": 15, "d2": 10},
}


@pytest.mark.parametrize("model", PICTURED)
def test_the_truth_is_drawn_as_itself_and_an_estimate_in_the_same_place(model):
    spec = lrlab.spec(model, **PICTURED[model])
    true = spec.view(None)
    known = truth_of(spec) or spec.truth()
    assert np.allclose(spec.view(known).values, true.values, equal_nan=True)
    solver = catalog.family(model).solvers[0]
    trace = lrlab.solve(spec, solver, max_iter=3)
    shown = spec.view(trace.estimate)
    assert shown.values.shape == true.values.shape and spec.view_words
    runs = recoveries(spec, [Run(trace.job, trace)])
    drawn = picture.views(spec.view, runs, height=400)
    assert len(drawn.data) == 2 and np.array_equal(drawn.data[0].z, true.values.astype(np.float32), equal_nan=True)
    frames = recovery.frames(partial(picture.views, spec.view, height=400), runs)
    assert np.array_equal(frames[-1]["data"][0]["z"], shown.values.astype(np.float32), equal_nan=True)


def test_a_table_of_films_has_names_and_films_of_a_genre_are_alike():
    spec = lrlab.spec("one-bit-completion", truth="films", rank=3)
    view = spec.view(None)
    assert view.rows == views.PERSONS and view.columns == views.FILMS
    layout = picture.views(spec.view, [Recovery("A"), Recovery("B"), Recovery("C")], height=400).layout
    named = [k for k in range(1, 5) if layout[f"xaxis{k if k > 1 else ''}"].get("ticktext")]
    assert named == [3, 4], "below the last tile of each column"
    alike = np.corrcoef(spec.factors().V @ np.diag(spec.factors().s))
    assert alike[0, 3] > 0.9 > abs(alike[0, 1])


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        ("rank-one-sensing", {"truth": "phantom", "d1": 20}, "d2 must be d1 = 20, 4 or more, if the signal"),
        ("rank-one-sensing", {"truth": "phantom", "condition": 2}, "condition must be 1 if the signal is an image"),
        ("rank-one-sensing", {"truth": "digit-0", "rank": 30}, None),
        ("rank-one-sensing", {"truth": "digit-1", "d1": 8, "d2": 8, "rank": 8}, "rank must be at most the rank of"),
        ("polynomial-network", {"weights": "digits"}, None),
        ("polynomial-network", {"weights": "digits", "p": 50}, "p must be the square of a side in 4..64"),
    ],
)
def test_what_no_picture_can_be_is_one_sentence(model, settings, message):
    if message is None:
        assert lrlab.spec(model, **settings).view(None) is not None
        return
    with pytest.raises(InputError, match=message):
        lrlab.spec(model, **settings)
