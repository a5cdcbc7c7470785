"""A stream sends whole parts that changed; a new connection receives all of them."""

import json

from lrlab.figures.build import Figure
from lrlab.ui.live.stream import Stream


def read(message):
    return json.loads(message.text)


def test_only_changed_parts_are_sent_and_they_are_whole():
    stream, figure = Stream("t"), Figure().add_scatter(x=[1.0], y=[2.0])
    first = read(stream.push({"words": "a", "curves": figure}))
    assert first["stream"] == "t" and first["page"] is None and set(first["parts"]) == {"words", "curves"}
    assert read(stream.push({"words": "b", "curves": figure}))["parts"] == {"words": "b"}
    assert stream.push({"words": "b", "curves": Figure().add_scatter(x=[1.0], y=[2.0])}) is None
    assert read(stream.all())["parts"] == first["parts"] | {"words": "b"}


def test_a_newer_message_replaces_the_parts_of_one_that_was_not_sent():
    stream = Stream("t")
    first, second = stream.push({"words": "a", "bar": "1"}), stream.push({"bar": "2"})
    assert read(second.after(first))["parts"] == {"words": "a", "bar": "2"}


def test_a_new_connection_learns_of_the_end_until_the_stream_continues():
    stream = Stream("t")
    assert stream.all() is None
    stream.push({"words": "a"})
    stream.page = "converge"
    assert read(stream.end())["page"] == read(stream.all())["page"] == "converge"
    stream.push({"words": "b"})
    assert read(stream.all())["page"] is None
