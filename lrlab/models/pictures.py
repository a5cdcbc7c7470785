"""Images as signals: a phantom, handwritten digits, or your upload, as square gray levels in 0..1."""

import base64
import binascii
import io
import math
import warnings
import zlib
from typing import Annotated

import numpy as np

from lrlab.arrays import Array
from lrlab.parameters import InputError, Parameter, choice
from lrlab.protocol import Spec

LARGEST_SIDE = 64
NAMES = ("phantom", *(f"digit-{k}" for k in range(10)), "upload")

# Center x, y, half axes, angle in degrees, added gray level: Toft's higher-contrast values for the ellipses of
# Shepp & Logan (1974), "The Fourier reconstruction of a head section".
ELLIPSES = (
    (0.0, 0.0, 0.69, 0.92, 0.0, 1.0),
    (0.0, -0.0184, 0.6624, 0.874, 0.0, -0.8),
    (0.22, 0.0, 0.11, 0.31, -18.0, -0.2),
    (-0.22, 0.0, 0.16, 0.41, 18.0, -0.2),
    (0.0, 0.35, 0.21, 0.25, 0.0, 0.1),
    (0.0, 0.1, 0.046, 0.046, 0.0, 0.1),
    (0.0, -0.1, 0.046, 0.046, 0.0, 0.1),
    (-0.08, -0.605, 0.046, 0.023, 0.0, 0.1),
    (0.0, -0.605, 0.023, 0.023, 0.0, 0.1),
    (0.06, -0.605, 0.023, 0.046, 0.0, 0.1),
)


Truth = Annotated[str, choice("random", *NAMES, help="the signal: random, or an image of p pixels")]
Entries = Annotated[
    str, choice("gaussian", "equal", help="non-zero entries: Gaussian, or equal up to sign", added=True)
]
Picture = Annotated[str, Parameter(meaning="an uploaded image's gray levels, packed", hidden=True)]


class PicturedSpec(Spec):
    """A spec of a signal of length p, its `truth` random or one of NAMES; `picture` is an upload made by `encode`."""

    p: int
    truth: str
    picture: str

    @property
    def side(self) -> int:
        """Side of the image in pixels; 0 for a random truth."""
        return math.isqrt(self.p) if self.truth != "random" else 0

    def check(self) -> None:
        """Reject sizes and uploads that are not images."""
        side = self.side
        if side and (side * side != self.p or not 4 <= side <= LARGEST_SIDE):
            good = min(max(side, 4), LARGEST_SIDE) ** 2
            expected = "the square of a side in 4..64 if the signal is an image"
            raise InputError("p", expected, self.p, f"take p = {good}, or a random signal")
        if self.truth == "upload":
            decode(self.picture, side)

    def drawn_picture(self) -> Array:
        """Return the gray levels (p,) of a truth that is an image."""
        return picture(self.truth, self.side, self.picture).ravel()


def picture(name: str, side: int, upload: str = "") -> Array:
    """Return the named image as (side, side) gray levels in 0..1; `upload` is the text made by `encode`."""
    if name == "phantom":
        return phantom(side)
    if name == "upload":
        return decode(upload, side)
    return digit(int(name.removeprefix("digit-")), side)


def phantom(side: int) -> Array:
    """Return the Shepp-Logan head phantom, averaged over 4 x 4 points per pixel."""
    fine = (np.arange(4 * side) + 0.5) / (2.0 * side) - 1.0
    x, y = np.meshgrid(fine, -fine)
    gray = np.zeros_like(x)
    for x0, y0, a, b, degrees, level in ELLIPSES:
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        u, v = (x - x0) * c + (y - y0) * s, (y - y0) * c - (x - x0) * s
        gray[(u / a) ** 2 + (v / b) ** 2 <= 1.0] += level
    return np.clip(gray.reshape(side, 4, side, 4).mean(axis=(1, 3)), 0.0, 1.0)


def digit(value: int, side: int) -> Array:
    """Return the first handwritten `value` of scikit-learn's digits (8 x 8), resampled to side x side."""
    from PIL import Image
    from sklearn.datasets import load_digits

    digits = load_digits()
    image = digits.images[np.flatnonzero(digits.target == value)[0]] / 16.0
    if image.shape == (side, side):
        return image
    gray = Image.fromarray((image * 255.0).round().astype(np.uint8))
    return np.asarray(gray.resize((side, side), Image.Resampling.LANCZOS), dtype=float) / 255.0


def encode(content: bytes, side: int) -> str:
    """Return an uploaded PNG or JPEG as a short text: side x side gray levels, compressed.

    Raises InputError if the content is not such an image, is larger than 50 megapixels, or is all black.
    """
    from PIL import Image, UnidentifiedImageError

    try:
        # lrlab rejects large images by their size, before Pillow unpacks any pixel and warns.
        with (
            warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning),
            Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as image,
        ):
            if image.width * image.height > 50_000_000:
                size = f"{image.width} x {image.height} pixels"
                raise InputError("picture", "at most 50 megapixels", size, "reduce the image first")
            gray = np.asarray(image.convert("L").resize((side, side), Image.Resampling.LANCZOS))
    except Image.DecompressionBombError:
        raise InputError("picture", "at most 50 megapixels", "far more", "reduce the image first") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        got = "a file that cannot be read as one"
        raise InputError("picture", "a PNG or JPEG", got, "save the image as PNG or JPEG and try again") from error
    if not gray.any():
        raise InputError("picture", "not black all over", "only black pixels", "choose an image with some light in it")
    return base64.b64encode(zlib.compress(gray.tobytes(), 9)).decode()


def decode(text: str, side: int) -> Array:
    """Return the gray levels (side, side) in 0..1 of a text made by `encode`."""
    remedy = "upload the image again"
    if not text:
        raise InputError("picture", "an uploaded PNG or JPEG", "none", "upload one, or choose another signal")
    try:
        # The length is capped, so that a short text cannot unpack into all of memory.
        raw = zlib.decompressobj().decompress(base64.b64decode(text, validate=True), LARGEST_SIDE**2 + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise InputError("picture", "a text made by lrlab.models.pictures.encode", text, remedy) from error
    if len(raw) != side * side:
        raise InputError("picture", f"of {side} x {side} pixels (p = {side * side})", f"{len(raw)} pixels", remedy)
    if not any(raw):
        raise InputError("picture", "not black all over", "only black pixels", "choose an image with some light in it")
    return np.frombuffer(raw, dtype=np.uint8).reshape(side, side) / 255.0
