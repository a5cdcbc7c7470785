"""What tests do with a page that Streamlit's AppTest runs."""

import time


def drawn(at):
    """Return the page, drawn without an exception."""
    assert not at.exception, at.exception[0].message
    return at


def finished(at, page, seconds=60):
    """Press Run and draw the page until what it follows is over."""
    drawn(at.button(key=f"{page}-run").click().run())
    deadline = time.monotonic() + seconds
    while at.session_state[f"{page}:run"].alive:
        assert time.monotonic() < deadline
        time.sleep(0.05)
        drawn(at.run())
    return drawn(at.run())


def errors(at):
    """Return the sentences in red."""
    return [error.value for error in at.error]
