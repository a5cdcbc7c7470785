"""A visitor's picture in the player of the home page: its frames, its GIF, and what is no picture."""

import base64
import io
import json
import time

import numpy as np
import pytest
from PIL import Image

from lrlab.lessons import player
from lrlab.models import pictures
from lrlab.parameters import InputError
from lrlab.ui import home
from lrlab.ui.live import gif


def photograph():
    """Return a PNG whose right half is light."""
    file = io.BytesIO()
    levels = np.where(np.arange(64) < 32, 40, 220).astype(np.uint8)
    Image.fromarray(np.tile(levels, (48, 1))).save(file, "PNG")
    return file.getvalue()


@pytest.mark.usefixtures("engine")
def test_a_picture_of_ones_own_is_recovered_by_workers_and_saved_as_an_animation(monkeypatch):
    monkeypatch.setattr(player, "OWN_ANSWERS", (128, 4096))
    picture = pictures.encode(photograph(), side=player.SIDE)
    running = home.begun(picture)
    while running.alive:
        time.sleep(0.05)
        running.refresh()
    frames = home.own(running, picture)
    known = json.loads(frames)
    truth, *several = (
        np.frombuffer(base64.b64decode(text), np.uint8).reshape(32, 32)
        for text in (known["truth"], *(frame["picture"] for frame in known["frames"]))
    )
    assert truth[:, :15].max() < truth[:, 17:].min() and [frame["n"] for frame in known["frames"]] == [128, 4096]
    few, many = (np.abs(picture.astype(float) - truth).mean() for picture in several)
    assert many < 0.6 * few and known["frames"][1]["error"] < known["frames"][0]["error"]
    with Image.open(io.BytesIO(gif.of_player((frames, "https://lab.example/")))) as film:
        assert film.n_frames == 2 and film.size[0] == 2 * gif.FILM_SIDE + gif.FILM_GAP
        shown = np.asarray(film.convert("L"))
    assert shown[100, 10] == pytest.approx(truth[10, 1], abs=8)


def test_what_is_no_picture_is_one_sentence():
    with pytest.raises(InputError, match="picture must be a PNG or JPEG"):
        pictures.encode(b"no picture", side=player.SIDE)
