"""Models: frozen specs that build problems."""

import sys

from lrlab.listing import Listing

sys.modules[__name__].__class__ = Listing
