"""Sizes of the problems that tests draw of every model, of a model that is added later, too."""

from lrlab import catalog
from lrlab.parameters import declared


def sizes(model, listed):
    """Return the sizes listed for a model; where there are none, those of the first listed one of its family."""
    if model in listed:
        return listed[model]
    alike = (listed[name] for name in listed if catalog.family(name) is catalog.family(model))
    return {name: value for name, value in next(alike, {}).items() if name in declared(catalog.MODELS[model])}
