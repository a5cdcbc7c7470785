"""Saved models with drawn mistakes: they predict finite scores, or are refused in one sentence."""

import io

import numpy as np
import pytest
from hypothesis import strategies as st

from lrlab.datasets import Dataset
from lrlab.datasets.dataset import pattern
from lrlab.fits.fitted_model import FittedModel, load_model, save_model
from lrlab.fits.fitting_ratings import fit_ratings
from lrlab.lowrank import LowRank
from lrlab.parameters import InputError
from tests.datasets.hostile import COMPRESSED, KERNEL, PARTS, saved
from tests.fuzz.drawing import TOKENS, changed_archive, changed_bytes, drawn
from tests.fuzz.test_readers import ARRAYS, RATINGS, read_or_refused, written


def ratings_model(tmp_path_factory):
    """Return a fitted model of ratings as bytes."""
    rows = RATINGS + "".join(f"u{i},i{j},{(i * j) % 5},1\n" for i in range(3, 9) for j in range(1, 6))
    result = fit_ratings(written(tmp_path_factory.mktemp("fit"), "r.csv", rows), rank=1, iterations=5)
    stream = io.BytesIO()
    save_model(stream, result.model)
    return stream.getvalue()


def small_model():
    """Return a model with named columns as bytes."""
    columns = Dataset(np.zeros((0, 3)), pattern((np.zeros(0, int),) * 2, (0, 2)), None, ("a", "b", "c"), ("x", "y"))
    stream = io.BytesIO()
    save_model(stream, FittedModel("leml-squared", {}, LowRank(np.eye(3, 1), np.ones(1), np.eye(2, 1)), columns))
    return stream.getvalue()


ARCHIVES = [saved(PARTS), saved(KERNEL), saved(COMPRESSED), small_model()]
LABELS = st.one_of(changed_bytes(ARCHIVES), changed_archive(ARCHIVES, ARRAYS))


@pytest.mark.attempt("drawn files of models", "predictions, or one sentence")
@drawn("models:.75", 40, content=LABELS)
def test_a_model_of_labels_predicts_or_is_refused(tmp_path_factory, content):
    model = read_or_refused(load_model, written(tmp_path_factory.mktemp("model"), "m.npz", content))
    if model is not None:
        places, scores = model.top(np.ones((2, model.columns.d)), 2)
        assert np.isfinite(scores).all() and (places < model.columns.L).all()
        assert len(set(model.label_names)) == model.columns.L and np.isfinite(model.threshold)


@drawn("models:.25", 15, data=st.data(), user=TOKENS)
def test_a_model_of_ratings_predicts_or_is_refused(tmp_path_factory, data, user):
    whole = ratings_model(tmp_path_factory) if not MADE else MADE[0]
    MADE[:] = [whole]
    content = data.draw(st.one_of(changed_bytes([whole]), changed_archive([whole], ARRAYS)))
    model = read_or_refused(load_model, written(tmp_path_factory.mktemp("model"), "m.npz", content))
    if model is None:
        return
    for name in (user, "u1"):
        try:
            assert all(np.isfinite(row["prediction"]) for row in model.top(name, 3))
        except InputError as error:
            assert "\n" not in str(error)
    assert np.isfinite(model.scores([(user, "i1"), ("u1", "nobody")])).all()


MADE: list[bytes] = []
