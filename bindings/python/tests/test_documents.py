"""Documents, filters, vectors and own embedders."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import numpy
import pytest

import adage


def ids(hits: adage.Hits) -> list[str]:
    return [hit.document.id for hit in hits.hits]


def test_a_document_is_found_by_meaning(documents: adage.Documents) -> None:
    hits = documents.query("when can I write to staging?", limit=2)
    assert ids(hits)[0] == "db" and hits.by == "exact"
    hit = hits.hits[0]
    assert hit.chunk_text == hit.document.text and 0 < (hit.distance or 0) < 1 and hit.score > hits.hits[1].score
    assert [ids(one)[0] for one in documents.query_all(["kitchen tea", "second factor"], limit=1)] == ["tea", "vpn"]
    assert asyncio.run(documents.aquery("kitchen tea", limit=1)) == documents.query("kitchen tea", limit=1)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, ["db", "tea", "vpn"]),
        ({"type": "note"}, ["db", "vpn"]),
        ({"type": ["page", "other"]}, ["tea"]),
        ({"type": []}, []),
        ({"team": True}, ["db"]),
        ({"team": False, "type": "note"}, ["vpn"]),
        ({"$or": [{"type": "page"}, {"team": "data"}]}, ["db", "tea"]),
        ({"$or": []}, []),
        ({"$and": [{"type": "note"}, {"$not": {"team": "data"}}]}, ["vpn"]),
    ],
)
def test_filters(documents: adage.Documents, where: dict[str, Any], expected: list[str]) -> None:
    assert sorted(document.id for document in documents.documents(where)) == expected
    assert documents.count(where) == len(expected)
    assert sorted(ids(documents.query("the", where=where))) == expected


@pytest.mark.parametrize("where", [{"type": 3}, {"$or": {}}, {"$not": "x"}, {"type": [1]}, {"$and": [3]}])
def test_a_filter_that_is_none_is_refused(documents: adage.Documents, where: dict[str, Any]) -> None:
    with pytest.raises(adage.ArgumentError, match="filter"):
        documents.remove_all(where)
    assert len(documents) == 3


def test_writes(documents: adage.Documents) -> None:
    documents.update(adage.Document("tea", "Tea is on the roof."))
    documents.put_all([adage.Document("tea", "Tea is gone."), adage.Document("new", "New.", {"type": "page"})])
    assert documents.get("tea") == adage.Document("tea", "Tea is gone.") and "new" in documents
    documents.remove("tea")
    assert documents.get("tea") is None and documents.remove_all({"type": "page"}) == 1
    documents.compact()
    documents.snapshot()
    assert (len(documents), documents.recovery, documents.warm_up()) == (2, None, 0)
    with pytest.raises(adage.DocumentExistsError) as exists:
        documents.add_all([adage.Document("other", "x"), adage.Document("db", "x")])
    assert exists.value.id == "db" and "other" not in documents
    with pytest.raises(adage.NoSuchDocumentError):
        documents.remove("none")
    with pytest.raises(adage.DocumentError, match="the text is empty"):
        documents.add("empty", " ")


def test_vectors_come_as_arrays_and_go_as_arrays_or_lists(documents: adage.Documents) -> None:
    rows = adage.embed(["tea in the kitchen", "a VPN"])
    assert (rows.shape, rows.dtype) == ((2, 384), numpy.float32)
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert adage.embed([], "query").shape == (0, 384)
    by_array = documents.query(vector=rows[0], limit=1)
    assert ids(by_array) == ["tea"]
    assert documents.query(vector=rows[0].tolist(), limit=1) == by_array
    assert ids(documents.query(vector=rows[0].astype("float64"), limit=1)) == ["tea"]
    assert ids(documents.query(vector=numpy.asfortranarray(rows)[0], within=0.5)) == ["tea"]


@pytest.mark.parametrize("vector", [numpy.ones(3), numpy.ones((2, 384)), [float("nan")] * 384, numpy.zeros(384)])
def test_a_vector_that_cannot_be_used_is_refused(documents: adage.Documents, vector: Any) -> None:
    with pytest.raises(adage.VectorError):
        documents.query(vector=vector)
    with pytest.raises(adage.ArgumentError):
        documents.query("x", within=float("nan"))


@pytest.mark.parametrize("where", [{"type": 3}, {"type": None}, {"$xor": []}, {"$and": {}}, {"$not": "note"}, "note", ["note"]])
def test_a_filter_that_cannot_be_used_is_refused(documents: adage.Documents, where: Any) -> None:
    for call in (documents.query, documents.count, documents.documents, documents.remove_all):
        with pytest.raises(adage.ArgumentError, match="filter"):
            call(where=where)
    assert len(documents) == 3


def letters(texts: list[str], role: adage.Role) -> Any:
    """Counts letters, and fails for some texts."""
    if "raise" in texts[0]:
        raise RuntimeError("the server is down")
    width = 25 if "narrow" in texts[0] else 26
    rows = numpy.array([[text.lower().count(chr(97 + column)) for column in range(width)] for text in texts])
    return rows.tolist() if "list" in texts[0] else rows[0] if "flat" in texts[0] else rows + 0.01


def own(folder: Path) -> adage.Playbook:
    return adage.Playbook(folder, embedder=adage.Embedder(letters, "letters 1", 26))


def test_an_own_embedder_is_used(tmp_path: Path) -> None:
    with own(tmp_path) as book:
        book.learn("pinning numpy", "Pin numpy below 2.0.")
        context = book.context("list: pin numpy", tier="vector", explain=True)
        assert context.tier == "vector" and context.considered[0].distance is not None
        with pytest.raises(adage.VectorError, match="26"):
            book.context("x", vector=[1.0] * 384)
    # Another name is another model: its vectors are made anew.
    with adage.Playbook(tmp_path, embedder=adage.Embedder(letters, "letters 2", 26)) as book:
        assert book.texts_without_vector > 0 and book.warm_up() > 0


@pytest.mark.parametrize(
    ("query", "message"),
    [("raise", "the server is down"), ("narrow", "25 dimensions"), ("flat", "2 dimensions is needed")],
)
def test_an_embedder_that_fails_is_an_error_where_vectors_are_required(tmp_path: Path, query: str, message: str) -> None:
    with own(tmp_path) as book:
        with pytest.raises(adage.EmbedError, match=message) as failed:
            book.context(query, tier="vector")
        if query == "raise":
            assert repr(failed.value.__cause__) == "RuntimeError('the server is down')"


def test_an_embedder_that_fails_costs_no_lesson(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with own(tmp_path) as book, caplog.at_level(logging.WARNING, "adage"):
        assert book.learn("raise a flag", "Use the halyard.").outcome == "inserted"
        assert book.context("raise a flag").tier == "lexical"
    assert "the server is down" in caplog.text


def test_an_interrupt_of_an_embedder_is_raised_and_the_lesson_is_kept(tmp_path: Path) -> None:
    def interrupted(texts: list[str], role: adage.Role) -> Any:
        raise KeyboardInterrupt

    with adage.Playbook(tmp_path, embedder=adage.Embedder(interrupted, "x", 2)) as book:
        with pytest.raises(KeyboardInterrupt):
            book.learn("pinning numpy", "Pin numpy below 2.0.")
        assert len(book.list()) == 1


def test_an_interrupt_while_a_warning_is_logged_is_raised_and_the_lesson_is_kept(tmp_path: Path) -> None:
    class Interrupted(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            raise KeyboardInterrupt

    handler = Interrupted()
    logging.getLogger("adage").addHandler(handler)
    try:
        with own(tmp_path) as book, pytest.raises(KeyboardInterrupt):
            book.learn("raise a flag", "Use the halyard.")
    finally:
        logging.getLogger("adage").removeHandler(handler)
    with own(tmp_path) as book:
        assert len(book.list()) == 1


def test_an_embedder_cannot_call_the_memory_that_waits_for_it(tmp_path: Path) -> None:
    def calls_back(texts: list[str], role: adage.Role) -> Any:
        return book.stats()

    with adage.Playbook(tmp_path, embedder=adage.Embedder(calls_back, "x", 2)) as book:
        with pytest.raises(adage.EmbedError) as failed:
            book.context("pin numpy", tier="vector")
        assert isinstance(failed.value.__cause__, adage.ReentrantError)
        assert book.stats().n_lessons == 0


def test_without_an_embedder_words_are_compared(tmp_path: Path) -> None:
    with adage.Documents(tmp_path / "d", embedder=None) as memory, adage.Playbook(tmp_path / "p", embedder=None) as book:
        memory.add("a", "tea in the kitchen")
        assert memory.query("tea").by is None
        with pytest.raises(adage.NoEmbedderError):
            memory.query("tea", vectors_only=True)
        with pytest.raises(adage.NoEmbedderError):
            book.context("tea", tier="vector")
    with pytest.raises(adage.ArgumentError, match="bundled, hashing, none"):
        adage.Playbook(tmp_path / "p", embedder="large")  # type: ignore[arg-type]
