"""How it is recovered: one algorithm family a file, each a generator of iterates."""

import sys

from lrlab.listing import Listing

sys.modules[__name__].__class__ = Listing
