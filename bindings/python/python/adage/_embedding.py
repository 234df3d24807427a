"""From texts to vectors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _native
from ._errors import EmbedError, Error, VectorError
from ._record import Record

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

Role = Literal["query", "document"]
"""What a text is embedded as. Models such as E5 use another prefix for queries."""


class Embedder(Record):
    """Your own embedder, in place of the bundled model.

    ``function(texts, role)`` is given a list of texts and ``"query"`` or ``"document"``. It returns one row per text with
    ``dimension`` columns, an array of ``float32`` or lists of numbers; rows need not have unit length. It may be called by several
    threads at once, and must not call the memory that called it. ``name`` identifies the model: vectors of two names are never
    compared, so change it whenever the vectors change.

    If the function raises, lessons are learned and found by their words, and the logger ``adage`` gets a warning; a request that
    requires vectors raises :class:`EmbedError`, with what the function raised as its cause.
    """

    function: Callable[[list[str], Role], Any]
    name: str
    dimension: int


EmbedderChoice = Union[Embedder, Literal["bundled", "hashing"], None]
"""``"bundled"``: the model of the package. ``"hashing"``: hashed words, for tests. None: only words are compared."""


def embed(texts: Sequence[str], role: Role = "document") -> NDArray[numpy.float32]:
    """The vectors of texts by the bundled model: an array of ``float32`` with one row per text and 384 columns, each of length 1.

    It needs numpy (``pip install 'adage[numpy]'``). The array owns what the model wrote: nothing is copied.

    Raises:
        ModelLoadError: the model cannot be loaded.
    """
    import numpy  # noqa: F401  The compiled part cannot report that it is missing.

    return _native.embed(list(texts), role == "query")  # type: ignore[no-any-return]


def native_choice(choice: EmbedderChoice) -> _native.Embedder:
    """The choice as the compiled part takes it."""
    if choice is None:
        return "none"
    if isinstance(choice, Embedder):
        return (_float32(choice.function), choice.name, choice.dimension)
    return choice


def _float32(function: Callable[[list[str], Role], Any]) -> Callable[[list[str], Role], Any]:
    return lambda texts, role: _array(function(texts, role), 2, EmbedError)


def native_vector(values: Any) -> Any:
    """A vector as the compiled part takes it: an array of ``float32``, or without numpy a list."""
    return _array(values, 1, VectorError)


def _array(values: Any, n_dimensions: int, error: type[Error]) -> Any:
    """An array of ``float32`` with so many dimensions. One of this kind is passed on as it is."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return [list(row) for row in values] if n_dimensions == 2 else list(values)
    array = numpy.asarray(values, dtype=numpy.float32)
    if array.ndim != n_dimensions:
        raise error(f"an array of {n_dimensions} dimensions is needed, this one has the shape {array.shape}")
    return array
