"""Messages of a stream: numbered, replayed after a lost connection, or all so far in one."""

import json

from lrlab.ui.live import stream as streams
from lrlab.ui.live.stream import Stream


def read(messages):
    return [json.loads(text) for text in messages]


def test_messages_are_numbered_and_say_what_is_new():
    stream = Stream("token")
    first, second = read([stream.push({"words": "a", "bar": "1"}), stream.push({"words": "a", "bar": "2"})])
    assert (first["stream"], first["number"], second["number"]) == ("token", 1, 2)
    assert first["parts"] == {"words": {"=": "a"}, "bar": {"=": "1"}} and second["parts"] == {"bar": {"=": "2"}}
    assert first["at"] < second["at"]
    assert stream.push({"words": "a", "bar": "2"}) == "" and stream.number == 2
    assert read([stream.end()])[0].items() >= {"number": 3, "end": True}.items()


def test_a_connection_that_was_lost_is_sent_what_it_has_missed():
    stream = Stream("token")
    sent = [stream.push({"words": str(k)}) for k in range(5)]
    assert stream.since(3) == sent[3:] and stream.since(5) == []


def test_a_late_tab_is_sent_all_so_far_in_one_message(monkeypatch):
    monkeypatch.setattr(streams, "MOST_MESSAGES", 4)
    stream = Stream("token")
    assert stream.since(0) == []
    for k in range(10):
        stream.push({"words": str(k), "bar": "same"})
    # New, too late, of a server that was started again, or no number at all that was sent.
    for number in (0, 5, 99, -1):
        [message] = read(stream.since(number))
        assert message["parts"] == {"words": {"=": "9"}, "bar": {"=": "same"}}
        assert (message["number"], message["all"], message["end"]) == (10, True, False)
    stream.end()
    assert read(stream.since(0))[0]["end"] and read(stream.since(10)) == read(stream.since(9))[1:]


def test_parts_that_a_state_leaves_out_stay():
    stream = Stream("token")
    stream.push({"words": "a", "bar": "1"})
    stream.push({"bar": "2"})
    assert read(stream.since(0))[0]["parts"] == {"words": {"=": "a"}, "bar": {"=": "2"}}
