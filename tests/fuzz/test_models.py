"""Saved models with random mistakes: they predict finite scores, or one sentence refuses them."""

import io

import numpy as np
import pytest
from hypothesis import strategies as st

from lrlab.data.dataset import Dataset, Scaling, pattern
from lrlab.data.label_models import LabelModel, load_model, save_model
from lrlab.lowrank import LowRank
from tests.data.hostile_rows import COMPRESSED, KERNEL, PARTS, saved
from tests.fuzz.drawing import changed_archive, changed_bytes, drawn
from tests.fuzz.test_readers import ARRAYS, read_or_refused, written


def small_model():
    """Return a model with named columns as bytes."""
    columns = Dataset(np.zeros((0, 3)), pattern((np.zeros(0, int),) * 2, (0, 2)), None, ("a", "b", "c"), ("x", "y"))
    stream = io.BytesIO()
    save_model(stream, LabelModel(LowRank(np.eye(3, 1), np.ones(1), np.eye(2, 1)), Scaling(), columns))
    return stream.getvalue()


ARCHIVES = [saved(PARTS), saved(KERNEL), saved(COMPRESSED), small_model()]
LABELS = st.one_of(changed_bytes(ARCHIVES), changed_archive(ARCHIVES, ARRAYS))


@pytest.mark.attempt("random files of models", "predictions, or one sentence")
@drawn("models:1", 40, content=LABELS)
def test_a_model_of_labels_predicts_or_is_refused(tmp_path_factory, content):
    model = read_or_refused(load_model, written(tmp_path_factory.mktemp("model"), "m.npz", content))
    if model is not None:
        assert np.isfinite(model.scores(np.ones((2, model.columns.d)))).all()
        assert len(set(model.columns.names)) == model.columns.L and np.isfinite(model.estimate.threshold)
