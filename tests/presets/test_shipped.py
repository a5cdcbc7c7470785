"""Results that are shipped: verdicts and captions follow from the shipped numbers, by the code of today."""

import pandas as pd
import pytest

from lrlab.presets import shipped
from lrlab.spectra import pairwise


@pytest.mark.parametrize("name", shipped.names())
def test_verdicts_follow_from_the_shipped_numbers(name, monkeypatch):
    # Bands are made of draws of their own, which take seconds; no verdict reads them.
    monkeypatch.setattr(pairwise, "bands", lambda *given, **named: pd.DataFrame())
    run = shipped.load(name)
    anew = shipped.made_anew(run)
    assert [panel.title for panel in anew.panels] == [panel.title for panel in run.panels]
    if "verdict" in anew.table:
        assert list(anew.table["verdict"].dropna()) == list(run.table["verdict"].dropna())
        assert len(anew.table["verdict"].dropna())
    assert run.seconds > 0 and run.version and run.machine
