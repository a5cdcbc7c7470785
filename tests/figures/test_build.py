"""Figures as dictionaries say what plotly's own classes say."""

import base64
import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from lrlab.figures import build, theme


def test_a_figure_is_what_plotly_makes_of_the_same_calls():
    points = pd.DataFrame({"x": [1.0, 2.0], "y": [0.5, np.nan], "n": [3, 4]})
    ours, theirs = build.Figure(), go.Figure()
    for figure in (ours, theirs):
        figure.add_scatter(x=points["x"], y=points["y"], customdata=points[["n", "y"]], line={"dash": "dot"}, name="a")
        figure.add_bar(x=[1, 2], y=np.array([2.0, 3.0], dtype=np.float32), marker={"color": "#123456"})
        figure.add_vrect(x0=0.0, x1=1.0, fillcolor="#abcdef", line_width=0, layer="below")
        figure.update_xaxes(title_text="x", range=[0, 3]).update_yaxes(type="log", title={"text": "y"})
        figure.update_yaxes(title_text="other").update_layout(height=300, showlegend=False)
    mine, plotly = ours.plotly().to_dict(), theirs.to_dict()
    del plotly["layout"]["template"], mine["layout"]["template"]
    assert mine["layout"] == plotly["layout"]
    assert [trace["type"] for trace in mine["data"]] == ["scatter", "bar"]
    assert mine["data"][0]["customdata"] == [[3, 0.5], [4, None]] or "bdata" in mine["data"][0]["customdata"]


def test_subplots_lie_where_plotly_puts_them():
    gaps = {"horizontal_spacing": 0.06, "vertical_spacing": 0.11}
    ours = build.grid(2, 3, list("abcde"), *gaps.values())
    theirs = make_subplots(2, 3, subplot_titles=list("abcde"), **gaps)
    ours.add_trace(build.trace("scatter", x=[1], y=[2]), subplot=4)
    theirs.add_scatter(x=[1], y=[2], row=2, col=2)
    mine, plotly = ours.layout, theirs.to_dict()["layout"]
    for name in (name for name in plotly if "axis" in name):
        assert mine[name]["anchor"] == plotly[name]["anchor"]
        np.testing.assert_allclose(mine[name]["domain"], plotly[name]["domain"], atol=1e-12)
    for note, other in zip(mine["annotations"], plotly["annotations"], strict=True):
        assert note["text"] == other["text"]
        np.testing.assert_allclose([note["x"], note["y"]], [other["x"], other["y"]], atol=1e-12)
    assert (ours.data[0].xaxis, ours.data[0].yaxis) == (theirs.data[0].xaxis, theirs.data[0].yaxis)


def test_what_is_not_a_number_is_null_and_the_template_is_valid():
    figure = theme.style(build.Figure().add_scatter(x=[1.0, float("nan")], y=np.array([np.inf, 1], dtype=object)))
    read = json.loads(figure.to_json())
    assert read["data"][0]["x"] == [1.0, None] and read["data"][0]["y"] == [None, 1]
    assert read["layout"]["template"]["layout"]["colorway"] == list(theme.PALETTE)
    figure.plotly()


def test_arrays_are_the_bytes_that_plotly_makes():
    arrays = [np.arange(5), np.eye(2), np.arange(3, dtype=np.uint8), np.array([2**40, 1]), np.array([])]
    for array in arrays:
        [mine] = json.loads(build.Figure().add_scatter(y=array).to_json())["data"]
        back = mine["y"]
        if isinstance(back, dict):
            data = np.frombuffer(base64.b64decode(back["bdata"]), dtype=back["dtype"])
            back = data.reshape([int(n) for n in back.get("shape", str(len(data))).split(",")])
        np.testing.assert_array_equal(np.array(back, dtype=float), array)


def test_single_precision_is_for_numbers_that_look_the_same_in_it():
    def sent(array):
        values = json.loads(build.encoded(array, single=True))
        return values["dtype"], np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"])

    for array in (np.linspace(-2.0, 3.0, 9), np.geomspace(1e-30, 1.0, 9), np.array([np.nan, 0.0, 0.3])):
        kind, numbers = sent(array)
        assert kind == "f4"
        np.testing.assert_allclose(numbers, array, rtol=1e-7)
    # An objective that has almost ended, and what single precision cannot hold.
    for array in (1000.0 + 1e-4 * np.arange(5.0), np.array([1e-42, 1.0]), np.array([0.0, 1e300]), np.zeros(3)):
        kind, numbers = sent(array)
        assert kind == "f8"
        np.testing.assert_array_equal(numbers, array)
    figure = theme.style(build.Figure().add_scatter(x=np.arange(3), y=np.array([0.1, 0.2, 0.3])))
    short = json.loads(figure.to_json(template=False, single=True))
    assert "template" not in short["layout"] and short["data"][0]["y"]["dtype"] == "f4"
    assert json.loads(figure.to_json())["data"][0]["y"]["dtype"] == "f8", "what is exported has all digits"
