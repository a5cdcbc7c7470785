"""Former names of `lrlab.engine.messages`, until no caller is left."""

from lrlab.engine.messages import Failure as Failure

failure = Failure.of
