"""Hostile files and models: each ends in one sentence, in less memory than a reader may take for it."""

import tracemalloc
from io import BytesIO

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lrlab import datasets
from lrlab.fits.fitted_model import load_model
from lrlab.fits.uploads import read_rows
from lrlab.parameters import InputError
from tests.datasets.hostile import CASES, COMPRESSED, FACTORS, KERNEL, PARTS, saved

MEMORY_BYTES = 200 * 10**6
SMALL = [name for name, case in CASES.items() if not case.large]


def test_there_are_enough_of_them():
    assert len(SMALL) >= 100


@pytest.mark.attempt(
    "files of every format that are cut, bombs or lies; CSV and ARFF of a million columns, npz of 60,000 members",
    "one sentence before they are read",
)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SMALL)
def test_a_hostile_file_is_refused_in_a_sentence(tmp_path, name):
    case = CASES[name]
    path = case.write(tmp_path)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=case.refusal) as refused:
            case.opened(path, case.labels)
        assert tracemalloc.get_traced_memory()[1] < MEMORY_BYTES
    finally:
        tracemalloc.stop()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", [name for name in SMALL if CASES[name].opened is datasets.read])
def test_the_page_of_labels_reads_no_more_than_the_readers(tmp_path, name):
    case = CASES[name]
    case.write(tmp_path)
    with pytest.raises(InputError) as refused:
        read_rows(tmp_path, (case.file, "", ""), case.labels, 0.3)
    assert "\n" not in str(refused.value) and not (tmp_path / case.file).exists()


ANY = st.one_of(
    st.just(None),
    st.sampled_from([0, 1, -1, 2**31, 2**63 - 1, 1e308, -1e-308, np.inf, np.nan]).map(np.array),
    st.lists(st.integers(0, 3), max_size=3).map(np.ones),
    st.lists(st.sampled_from([0.0, -1.0, 2.0, 1e99, np.nan]), max_size=5).map(np.array),
    st.text(max_size=5).map(np.array),
    st.binary(max_size=80),
)


@pytest.mark.parametrize("base", [PARTS, KERNEL, COMPRESSED], ids=["factors", "kernel", "compressed"])
@given(data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_model_with_some_arrays_replaced_predicts_or_is_refused(tmp_path, base, data):
    names = data.draw(st.lists(st.sampled_from(sorted(base)), min_size=1, max_size=2, unique=True))
    path = tmp_path / "m.npz"
    path.write_bytes(saved(base, **{name: data.draw(ANY, label=name) for name in names}))
    try:
        model = load_model(path)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert np.isfinite(model.top(np.zeros((2, model.columns.d)), 1)[1]).all()


def test_whole_models_are_read(tmp_path):
    for base in (PARTS, KERNEL, COMPRESSED):
        (tmp_path / "m.npz").write_bytes(saved(base))
        assert load_model(tmp_path / "m.npz").columns.L == 2
    assert set(FACTORS) < set(PARTS) and BytesIO(saved()).read(2) == b"PK"
