"""The table of settings: profiles, wrong values, and that nothing reads a setting that is not in it."""

import re
from pathlib import Path

import pytest

from lrlab import settings
from lrlab.parameters import InputError

ROOT = Path(__file__).parents[1]


def test_a_profile_sets_what_is_not_set_by_itself(monkeypatch):
    assert settings.number("LRLAB_SWEEP_HOURS") == 24
    monkeypatch.setenv("LRLAB_PROFILE", "classroom")
    assert settings.number("LRLAB_SWEEP_HOURS") == 1
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "3.5")
    assert settings.number("LRLAB_SWEEP_HOURS") == 3.5
    monkeypatch.setenv("LRLAB_SWEEP_HOURS", "inf")
    assert settings.number("LRLAB_SWEEP_HOURS") == float("inf")


@pytest.mark.parametrize("bad", ["many", "nan", "0", "-1"])
@pytest.mark.parametrize("name", list(settings.SETTINGS))
def test_a_wrong_value_is_one_sentence(monkeypatch, name, bad):
    monkeypatch.setenv(name, bad)
    with pytest.raises(InputError, match=f"{name} must be a number in .*, got {bad}: "):
        settings.number(name)


def test_an_unknown_profile_is_one_sentence(monkeypatch):
    monkeypatch.setenv("LRLAB_PROFILE", "school")
    with pytest.raises(InputError, match="LRLAB_PROFILE must be one of laptop, classroom"):
        settings.profile()


def test_every_setting_is_in_the_table():
    used = {name for path in (ROOT / "lrlab").rglob("*.py") for name in re.findall(r"LRLAB_[A-Z_]+", path.read_text())}
    assert used - {"LRLAB_PROFILE", "LRLAB_"} == {*settings.SETTINGS, *settings.TEXTS}
