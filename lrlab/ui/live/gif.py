"""Writes an animation as a GIF, from the pictures that a browser has drawn of its frames, with words below them.

What is posted has a line for each frame: its name, a tab, and a PNG as the data address that browsers make of it.
"""

import base64
import binascii
import io
import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lrlab.parameters import InputError

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

MOST_PIXELS = 4_000_000
"""Of a frame."""
MOST_FRAMES = 200
PLAYED_SECONDS, LAST_SECONDS, LEAST_SECONDS = 6.0, 2.5, 0.04
"""How long all frames take, how long the last one stands, and how long any other does at least."""
STRIP, LETTERS, MARGIN, TAB = 60, 18, 10, "\t"
"""Pixels of the strip below the frames, of its letters, and before them; what follows the name of a frame."""
FILM_SIDE, FILM_GAP = 320, 16
"""Pixels of a picture of the home player, and between two."""
INK, LIGHT = "#1c2430", "#ffffff"


def write(posted: tuple[bytes, str]) -> bytes:
    """Return the GIF of posted frames, with a title below; InputError where they are no pictures of one size."""
    lines = posted[0].decode("utf-8", "replace").split("\n")
    if len(lines) > MOST_FRAMES:
        raise InputError("frames", f"at most {MOST_FRAMES}", len(lines), "save fewer of them")
    pictures = [_read(line.partition(TAB)[2]) for line in lines]
    if len({one.size for one in pictures}) > 1:
        raise InputError("frames", "pictures of one size", "several sizes", "reload the page")
    title, _, address = posted[1].partition("\n")
    return encode(pictures, [f"{title}, {line.partition(TAB)[0]}\n{address}" for line in lines])


def _read(address: str) -> "Picture":
    from PIL import Image, UnidentifiedImageError

    try:
        content = base64.b64decode(address.partition(",")[2], validate=True)
        # What Pillow warns of is refused here, before any pixel is unpacked.
        with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):
            picture = Image.open(io.BytesIO(content), formats=("PNG",))
        if picture.width * picture.height > MOST_PIXELS:
            raise InputError("frames", f"of at most {MOST_PIXELS:,} pixels", f"{picture.size}", "save a smaller one")
        return picture.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, binascii.Error) as error:
        raise InputError("frames", "pictures as PNG", "others", "reload the page") from error


def encode(pictures: "list[Picture]", words: list[str]) -> bytes:
    """Return pictures of one size as a GIF that is played again and again, each above its words."""
    from PIL import Image, ImageDraw

    font = _font()
    wide, high = pictures[0].size
    whole = []
    for picture, text in zip(pictures, words, strict=True):
        frame = Image.new("RGB", (wide, high + STRIP), LIGHT)
        frame.paste(picture)
        ImageDraw.Draw(frame).text((MARGIN, high + MARGIN // 2), text, INK, font)
        whole.append(frame.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
    each = max(LEAST_SECONDS, PLAYED_SECONDS / len(whole))
    milliseconds = [round(1000 * each)] * (len(whole) - 1) + [round(1000 * LAST_SECONDS)]
    file = io.BytesIO()
    whole[0].save(file, "GIF", save_all=True, append_images=whole[1:], duration=milliseconds, loop=0, disposal=1)
    return file.getvalue()


def of_player(shown: tuple[str, str]) -> bytes:
    """Return the frames of the home player as a GIF; shown: the frames, as it has them, and an address.

    The truth stands beside what is recovered, above the number of bits and the address.
    """
    from PIL import Image

    frames, address = shown
    known = json.loads(frames)
    side, wide = known["side"], FILM_SIDE

    def tile(packed: str) -> Image.Image:
        return Image.frombytes("L", (side, side), base64.b64decode(packed)).resize(
            (wide, wide), Image.Resampling.NEAREST
        )

    whole, words = [], []
    for frame in known["frames"]:
        both = Image.new("RGB", (2 * wide + FILM_GAP, wide), "#ffffff")
        both.paste(tile(known["truth"]), (0, 0))
        both.paste(tile(frame["picture"]), (wide + FILM_GAP, 0))
        whole.append(both)
        words.append(f"truth, and recovered from {frame['n']:,} bits\n{address}")
    return encode(whole, words)


def _font() -> Any:
    from PIL import ImageFont

    # Source Sans, the font of the pages.
    package = find_spec("font_source_sans_pro")
    assert package is not None and package.origin is not None
    [file] = (Path(package.origin).parent / "files").glob("*-Regular.ttf")
    return ImageFont.truetype(str(file), LETTERS)
