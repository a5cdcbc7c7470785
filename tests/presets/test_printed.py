"""Figures of papers, redrawn from their printed numbers: all of these, and no others."""

import pytest

from lrlab import presets
from lrlab.presets import fits
from lrlab.presets.printed import redrawn


def has_numbers(content):
    """Return whether a file has numbers that its paper prints."""
    own = [one.get("paper") for one in content.get("series", ())]
    return "rows" in content.get("paper", {}) or any(isinstance(one, dict) for one in own)


NUMBERS = [name for name in presets.names() if has_numbers(presets.load(name).content)]


def test_all_files_with_printed_numbers_have_such_figures():
    assert [name for name in presets.names() if redrawn(name)] == NUMBERS and len(NUMBERS) > 8


@pytest.mark.parametrize("name", NUMBERS)
def test_every_number_that_is_drawn_is_printed_and_every_printed_one_of_a_panel_is_drawn(name):
    content = presets.load(name).content
    for panel in content["panels"]:
        figure, measure = redrawn(name).get(panel["title"]), panel["measure"]
        traces = figure.data if figure else ()
        drawn = {float(y) for trace in traces for y in trace.y}
        assert all(trace.name.endswith(", paper") for trace in traces)
        if "rows" in content.get("paper", {}):
            columns, where = content["paper"]["columns"], panel.get("where", {})
            rows = [dict(zip(columns, row, strict=True)) for row in content["paper"]["rows"]]
            full = {one["label"] for one in content["series"] if one.get("full_rank")}
            own = [
                row for row in rows
                if all(row[key] == value or (key == "share" and row["series"] in full) for key, value in where.items())
            ]  # fmt: skip
            assert drawn == {float(row[measure]) for row in own if row[measure] != ""}
        else:
            key = panel.get("paper", measure)
            printed = [one["paper"][key] for one in content["series"] if key in one.get("paper", {})]
            assert drawn == {float(y) for own in printed for y in own if y == y}


def test_the_rows_of_a_paper_are_compared_once_for_all_panels(monkeypatch):
    """For each panel, and row by row in the table of trials, opening the appendix of a paper took half a minute."""
    preset, compared, tables = presets.load("yu2014-tables6-10"), fits.compared, []
    monkeypatch.setattr(fits, "compared", lambda *given: tables.append(compared(*given)) or tables[-1])
    assert len(fits.printed(preset)) > 3 and len(tables) == 1
