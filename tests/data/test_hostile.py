"""Hostile files and models: each ends in one sentence, in less memory than a reader may take for it."""

import tracemalloc

import pytest

from lrlab.data.label_models import load_model
from lrlab.parameters import InputError
from tests.data.hostile_rows import CASES, COMPRESSED, KERNEL, PARTS, saved

MEMORY_BYTES = 200 * 10**6


@pytest.mark.attempt(
    "files of every format that are cut, bombs or lies; CSV and ARFF of a million columns, npz of 60,000 members",
    "one sentence before they are read",
)
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CASES)
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


def test_whole_models_are_read(tmp_path):
    for base in (PARTS, KERNEL, COMPRESSED):
        (tmp_path / "m.npz").write_bytes(saved(base))
        assert load_model(tmp_path / "m.npz").columns.L == 2
