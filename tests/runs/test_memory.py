"""Memory before a run: its limit, and sizes in words."""

import pytest

from lrlab import InputError, catalog
from lrlab.runs.job import make_job, memory_limit, memory_words


@pytest.mark.attempt("`LRLAB_MEMORY_GIB=-1`, `nan`, `1e-12`", "one sentence")
@pytest.mark.parametrize("wrong", ["-1", "0", "-0", "1e-12", "nan", "inf", "many", ""])
def test_a_limit_that_is_none_is_refused(monkeypatch, wrong):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", wrong)
    with pytest.raises(InputError, match="LRLAB_MEMORY_GIB must be a number of GiB above 0.*unset it"):
        memory_limit()


def test_sizes_are_in_units_of_which_there_is_one():
    sizes = {900: "900 bytes", 2**10: "1 KiB", 5_500: "5.4 KiB", 2**20: "1 MiB", 45 * 2**20: "45 MiB", 2**31: "2.0 GiB"}
    assert {size: memory_words(size) for size in sizes} == sizes


def test_a_refusal_under_a_small_limit_names_it(monkeypatch):
    monkeypatch.setenv("LRLAB_MEMORY_GIB", "0.01")
    with pytest.raises(InputError, match="within 10 MiB of memory, got 100000, which needs .* MiB"):
        make_job(catalog.spec("one-bit-sensing", n=100_000, p=50), "probit")
