"""Your program's own documents, found by meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from json import loads
from pathlib import Path
from typing import Any

from . import _native
from ._decode import decode, decode_list, decode_optional, encode
from ._embedding import EmbedderChoice, native_choice, native_vector
from ._errors import ArgumentError
from ._handle import AnyPath, Handle, closed_at_exit, in_thread
from ._types import Document, Hits

Filter = Mapping[str, Any]
"""Documents to select by their metadata. Every entry must match.

``{"type": "note"}`` has this value, ``{"type": ["note", "page"]}`` one of these, ``{"draft": True}`` has the field,
``{"draft": False}`` does not. ``{"$or": [filter, …]}``, ``{"$and": [filter, …]}`` and ``{"$not": filter}`` combine filters.
"""


class Documents(Handle):
    """Documents (id, text, metadata) in a folder of their own, which any number of threads and processes can share.

    A write is on disk when the call returns; a batch is written completely or not at all; queries do not wait for writes. Documents
    are stored to the byte: unlike lessons, they are not redacted.

    Args:
        folder: The folder. It is made if it is missing.
        embedder: How texts become vectors: the bundled model, your own Embedder, or None to compare only words.
        read_only: Nothing in the folder is created or changed.
        lock_timeout: Seconds that a write waits for another process; 2 by default.

    Raises:
        FolderIOError: The folder cannot be made or read.
        WrongKindError: It is the folder of a playbook.
    """

    _native: _native.NativeDocuments

    def __init__(
        self,
        folder: AnyPath,
        *,
        embedder: EmbedderChoice = "bundled",
        read_only: bool = False,
        lock_timeout: float | None = None,
    ) -> None:
        settings = encode({"read_only": read_only, "lock_timeout": lock_timeout})
        self._native = _native.NativeDocuments(folder, settings, native_choice(embedder))
        closed_at_exit(self)

    def __repr__(self) -> str:
        return f"Documents({str(self.folder)!r})" if self.is_open else "Documents(closed)"

    def __len__(self) -> int:
        return self.count()

    def __contains__(self, id: str) -> bool:
        return self.get(id) is not None

    def add(self, id: str, text: str, metadata: Mapping[str, str] | None = None) -> None:
        """Adds a document.

        Raises:
            DocumentExistsError: A document has this id already.
            DocumentError: A part is empty or too long.
        """
        self.add_all([Document(id, text, dict(metadata or {}))])

    def add_all(self, documents: Iterable[Document]) -> None:
        """Adds documents: all or none."""
        self._native.add_all(_rows(documents))

    def put_all(self, documents: Iterable[Document]) -> None:
        """Adds or replaces documents: all or none."""
        self._native.put_all(_rows(documents))

    def update(self, document: Document) -> None:
        """Replaces a document.

        Raises:
            NoSuchDocumentError: None has this id.
        """
        self._native.update(encode(document.to_dict()))

    def remove(self, id: str) -> None:
        """Removes a document.

        Raises:
            NoSuchDocumentError: None has this id.
        """
        self._native.remove(id)

    def remove_all(self, where: Filter) -> int:
        """Removes the documents that match, and returns their number. An empty filter matches all."""
        return self._native.remove_all(encode(_entries(where)))

    def get(self, id: str) -> Document | None:
        """The document with this id; None if there is none."""
        return decode_optional(Document, self._native.get(id))

    def documents(self, where: Filter | None = None) -> tuple[Document, ...]:
        """The documents that match, in the order in which they were added."""
        return decode_list(Document, self._native.documents(encode(_entries(where))))

    def count(self, where: Filter | None = None) -> int:
        """The number of documents that match."""
        return self._native.count(encode(_entries(where)))

    def query(
        self,
        text: str = "",
        *,
        vector: Any | None = None,
        limit: int = 10,
        within: float = 2.0,
        where: Filter | None = None,
        vectors_only: bool = False,
    ) -> Hits:
        """The documents that match a text by meaning and words, or are nearest to a vector.

        Args:
            text: What is looked for.
            vector: In place of a text: a one-dimensional array or a list, of the memory's own model. It need not have unit length.
            limit: At most this many documents.
            within: The greatest cosine distance, in [0, 2].
            where: Only documents that match this filter.
            vectors_only: Words do not count.

        Raises:
            VectorError: The vector has another dimension, is not finite or has no direction.
            EmbedError: The embedder failed.
            NoEmbedderError: Vectors are required, and there is no embedder.
        """
        question = _question(text, limit, within, where, vectors_only)
        near = None if vector is None else native_vector(vector)
        return decode(Hits, self._native.query(encode(question), near))

    def query_all(
        self, texts: Iterable[str], *, limit: int = 10, within: float = 2.0, where: Filter | None = None
    ) -> tuple[Hits, ...]:
        """Answers several texts on the same state; they are embedded together."""
        questions = [_question(text, limit, within, where, False) for text in texts]
        return decode_list(Hits, self._native.query_all(encode(questions)))

    @property
    def folder(self) -> Path:
        """The folder."""
        return Path(self._native.folder())

    @property
    def recovery(self) -> dict[str, Any] | None:
        """What the open did about unreadable lines of the log; None if it was whole."""
        return loads(self._native.recovery())  # type: ignore[no-any-return]

    @property
    def documents_without_vector(self) -> tuple[str, ...]:
        """The ids of the documents that have no vector yet; the next query or ``warm_up`` embeds them."""
        return tuple(loads(self._native.documents_without_vector()))

    def warm_up(self) -> int:
        """Embeds the documents that have no vector yet, and returns their number."""
        return self._native.warm_up()

    def compact(self) -> None:
        """Rewrites the log without replaced and removed documents."""
        self._native.compact()

    def snapshot(self) -> None:
        """Saves the index of vectors, so that the next process opens it faster."""
        self._native.snapshot()

    async def aquery(self, text: str = "", **question: Any) -> Hits:
        """``query`` on a thread."""
        return await in_thread(self.query, text, **question)

    async def aput_all(self, documents: Iterable[Document]) -> None:
        """``put_all`` on a thread."""
        await in_thread(self.put_all, documents)


def _entries(where: Filter | None) -> dict[str, Any]:
    if where is None or isinstance(where, Mapping):
        return dict(where or {})
    raise ArgumentError(f"a filter is a dictionary, this is {where!r}")


def _rows(documents: Iterable[Document]) -> str:
    return encode([{"id": one.id, "text": one.text, "metadata": dict(one.metadata)} for one in documents])


def _question(text: str, limit: int, within: float, where: Filter | None, vectors_only: bool) -> dict[str, Any]:
    return {"text": text, "limit": limit, "within": within, "where": _entries(where), "vectors_only": vectors_only}
