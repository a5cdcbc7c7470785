"""Packages that return a table of their contents when you call them."""

from importlib import import_module
from types import ModuleType
from typing import Any


class Listing(ModuleType):
    """A package whose call returns a table: `lrlab.models()`, `lrlab.solvers("phase-retrieval")`."""

    def __call__(self, *given: Any) -> Any:
        """Return the table, see `lrlab.discovery`."""
        return getattr(import_module("lrlab.discovery"), self.__name__.rpartition(".")[2])(*given)
