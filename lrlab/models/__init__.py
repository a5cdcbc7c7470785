"""Models: frozen specs that build problems."""

import sys

from lrlab.listing import Listing

FAMILY_ORDER = (
    "single-index",
    "low-rank",
    "one-bit-completion",
    "compressed-sensing",
    "phase-retrieval",
    "coded-diffraction",
    "multilabel",
    "one-bit-multilabel",
)
"""Families in the order of pages; others follow by name."""

sys.modules[__name__].__class__ = Listing
