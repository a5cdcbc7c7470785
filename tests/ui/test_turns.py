"""Scripts of pages run one at a time, in the order in which they came; one that takes long holds nobody up for good."""

import threading

from streamlit.testing.v1 import AppTest

from lrlab.ui.shared import turns

PATIENCE = 30.0


def started(work):
    """Start a thread that waits for its turn, and return it once it does."""
    before = len(turns._waiting)
    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive() and len(turns._waiting) == before:
        pass
    return thread


def test_scripts_run_in_the_order_in_which_they_came(monkeypatch):
    monkeypatch.setattr(turns, "TURN_SECONDS", PATIENCE)
    order, together = [], []

    def script(name):
        with turns.turn():
            together.append(name)
            with turns.turn():
                order.append(name)
            assert together == [name]
            together.remove(name)

    with turns.turn():
        threads = [started(lambda name=name: script(name)) for name in "abcd"]
        assert turns.waiting() and not order
        with turns.pause():
            for thread in threads:
                thread.join(PATIENCE)
        assert order == list("abcd") and not turns.waiting()


def test_a_long_script_does_not_hold_up_the_next(monkeypatch):
    monkeypatch.setattr(turns, "TURN_SECONDS", 0.01)
    done = []

    def script():
        with turns.turn(), turns.pause():
            done.append(1)

    with turns.turn():
        thread = threading.Thread(target=script)
        thread.start()
        thread.join(PATIENCE)
        assert done == [1]
    with turns.turn():
        assert not turns.waiting()


def page_of_two_widgets():
    import streamlit as st

    from lrlab.ui.shared import page

    st.session_state["plain"] = 1
    st.number_input("n", key="n", value=2)
    st.session_state["all"] = sorted(st.session_state)
    st.session_state["lookup"] = isinstance(st.session_state.to_dict(), page.SessionLookup)


def test_a_session_has_the_keys_of_its_scripts_alone():
    at = AppTest.from_function(page_of_two_widgets).run()
    assert not at.exception and at.session_state["lookup"]
    assert at.session_state["all"] == ["n", "plain"] and at.session_state["n"] == 2
