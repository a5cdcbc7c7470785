"""The player on the home page: shipped frames of a picture that is recovered, in the browser alone."""

from functools import cache
from importlib import resources

from lrlab.ui.widgets import plot


@cache
def _frames() -> str:
    return (resources.files("lrlab.ui") / "assets" / "player.json").read_text("utf-8")


def show() -> None:
    """Show the player, which plays."""
    plot.component("player")(key="home-player", data={"frames": _frames()})
