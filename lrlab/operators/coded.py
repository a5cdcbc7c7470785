"""Fourier transforms of a square image behind masks, as a linear operator: its matrix is never formed."""

import numpy as np
import scipy.fft
from scipy.sparse.linalg import LinearOperator

from lrlab.arrays import Array, Vector


class CodedFourier(LinearOperator):
    """A x = (F (d_1 x), ..., F (d_L x)) of an image x (side * side,), F the unnormalised 2-D Fourier transform.

    masks: d (L, side, side), complex. Images are padded with zeros to (detector, detector) pixels before F, so that
    A is (L detector^2, side^2) and A^* A = diag(gram). A product takes L transforms; memory is that of its result.
    """

    def __init__(self, masks: Vector, detector: int) -> None:
        patterns, side, _ = masks.shape
        self.masks, self.detector = masks, detector
        self.gram: Array = detector**2 * (np.abs(masks) ** 2).sum(axis=0).ravel()
        super().__init__(np.dtype(np.complex128), (patterns * detector**2, side**2))

    def _matvec(self, x: Vector) -> Vector:
        behind = self.masks * x.reshape(self.masks.shape[1:])
        return scipy.fft.fft2(behind, s=(self.detector, self.detector), overwrite_x=True).ravel()

    def _rmatvec(self, u: Vector) -> Vector:
        side = self.masks.shape[1]
        back = scipy.fft.ifft2(u.reshape(-1, self.detector, self.detector), norm="forward")[:, :side, :side]
        return (self.masks.conj() * back).sum(axis=0).ravel()
