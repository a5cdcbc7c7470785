"""Sizes of test problems for every model, later ones included."""

from lrlab import catalog
from lrlab.parameters import declared


def sizes(model, listed):
    """Return the sizes listed for a model, or else for the first listed model of its family."""
    if model in listed:
        return listed[model]
    alike = (listed[name] for name in listed if catalog.family(name) is catalog.family(model))
    return {name: value for name, value in next(alike, {}).items() if name in declared(catalog.MODELS[model])}
