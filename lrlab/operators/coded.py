"""Fourier transforms of an image behind masks, as a linear operator: its matrix is never formed."""

import math

import numpy as np
import scipy.fft
from scipy.sparse.linalg import LinearOperator

from lrlab.arrays import Array, Vector


class CodedFourier(LinearOperator):
    """A x = (F (d_1 x), ..., F (d_L x)) of an image x (h * w,), F the unnormalized 2-D Fourier transform.

    masks: d (L, h, w), complex. Images are padded with zeros to the (H, W) pixels of the detector before F, so that
    A is (L H W, h w) and A^* A = diag(gram). A product takes L transforms, and memory for its result.
    """

    def __init__(self, masks: Vector, detector: tuple[int, ...]) -> None:
        patterns, *image = masks.shape
        self.masks, self.detector, pixels = masks, detector, math.prod(detector)
        self.gram: Array = pixels * (np.abs(masks) ** 2).sum(axis=0).ravel()
        super().__init__(np.dtype(np.complex128), (patterns * pixels, math.prod(image)))

    def _matvec(self, x: Vector) -> Vector:
        behind = self.masks * x.reshape(self.masks.shape[1:])
        return scipy.fft.fft2(behind, s=self.detector, overwrite_x=True).ravel()

    def _rmatvec(self, u: Vector) -> Vector:
        _, h, w = self.masks.shape
        back = scipy.fft.ifft2(u.reshape(-1, *self.detector), norm="forward")[:, :h, :w]
        return (self.masks.conj() * back).sum(axis=0).ravel()
