"""Past sessions: what is found, what a model may do, and what awaits a person."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

import adage

QUOTE = "this repository uses pnpm, never npm"
MESSAGES = [
    {"role": "user", "content": "Install the packages of the web shop."},
    {"role": "assistant", "content": "I installed them with npm."},
    {"role": "user", "content": f"No, {QUOTE}."},
]
MONDAY = adage.Transcript(MESSAGES, "monday", "/srv/shop")
ANSWER = json.dumps({
    "decision": "LEARN",
    "lessons": [
        {"trigger": "installing packages", "rule": "Use pnpm, not npm.", "confidence": "high", "tags": ["pnpm"], "evidence": QUOTE},
        {"trigger": "baking", "rule": "Use more salt.", "confidence": "high", "tags": [], "evidence": "more salt, please"},
    ],
})


def record(value: str, turn: int) -> dict[str, Any]:
    return {
        "type": "user", "sessionId": "tuesday", "cwd": "/srv/shop", "timestamp": f"2026-01-01T00:{turn:02}:00Z",
        "uuid": str(turn), "message": {"role": "user", "content": value},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one session of Claude Code, which was last written a long time ago, and a file that is no session."""
    sessions = tmp_path / ".claude" / "projects" / "-srv-shop"
    sessions.mkdir(parents=True)
    said = [f"Please look at part {number} of the page." for number in range(11)] + [f"No, {QUOTE}."]
    file = sessions / "tuesday.jsonl"
    file.write_text("".join(json.dumps(record(value, turn)) + "\n" for turn, value in enumerate(said)))
    os.utime(file, (1_767_225_600, 1_767_225_600))
    (sessions / "other.jsonl").write_text("{}\n")
    return sessions.parent


def test_a_session_in_memory_is_learned_with_a_model_and_awaits_a_person(book: adage.Playbook) -> None:
    asked: list[tuple[str, str]] = []

    def model(system: str, user: str) -> str:
        asked.append((system, user))
        return ANSWER

    learned = book.sessions.learn_from(MONDAY, model=model)
    assert len(asked) == 1 and QUOTE in asked[0][1] and QUOTE not in asked[0][0]
    assert learned.extraction and learned.extraction.kind == "proposed" and learned.extraction.failure is None
    assert [refused["rule"] for refused in learned.extraction.refused] == ["Use more salt."]
    assert [outcome.outcome for outcome in learned.extracted] == ["review"]
    assert not book.context("installing packages", project="/srv/shop")
    waiting = {row.lesson.trigger: row.lesson for row in book.waiting()}
    lesson = waiting["installing packages"]
    assert lesson.provenance.session == "monday" and lesson.project == "/srv/shop"
    n_waiting = len(waiting)
    book.sessions.learn_from(MONDAY, model=model)
    assert len(book.waiting()) == n_waiting
    book.review.apply(book.review.list())
    assert "pnpm" in book.context("installing packages", project="/srv/shop").text


def test_rules_find_the_same_without_a_model_until_a_person_skips_it(book: adage.Playbook) -> None:
    mined = book.sessions.mine(MONDAY)
    (candidate,) = mined.candidates
    assert candidate.heuristic == "user_correction" and candidate.turns and "pnpm" in str(candidate.draft)
    assert book.waiting() == () and adage.Mined.to_dict(mined)["candidates"][0]["name"] == candidate.name
    assert book.sessions.skip(candidate.name) == 1
    assert book.sessions.mine(MONDAY).skipped == (candidate.name,)
    assert [skip["name"] for skip in book.sessions.skips()] == [candidate.name]
    assert book.sessions.reset_skips(candidate.name) == 1
    learned = book.sessions.learn_from(MONDAY)
    assert learned.extraction is None and [outcome.outcome for outcome in learned.mined] == ["review"]


def raises(system: str, user: str) -> str:
    raise ConnectionError("the model is away")


@pytest.mark.parametrize(
    ("model", "kind", "failure"),
    [
        (raises, "model_failed", "ConnectionError: the model is away"),
        (lambda system: "", "model_failed", "TypeError"),
        (lambda system, user: 7, "model_failed", "TypeError"),
        (lambda system, user: "I do not know.", "unreadable", "cannot be parsed"),
    ],
)
def test_a_model_that_fails_loses_nothing(book: adage.Playbook, model: Any, kind: str, failure: str) -> None:
    learned = book.sessions.learn_from(MONDAY, model=model)
    assert learned.extraction and learned.extraction.kind == kind
    assert failure in (learned.extraction.failure or "")
    assert [outcome.outcome for outcome in learned.mined] == ["review"] and len(book.waiting()) == 1


def test_an_interrupt_in_a_model_is_raised_after_the_rules_have_learned(book: adage.Playbook) -> None:
    def model(system: str, user: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        book.sessions.learn_from(MONDAY, model=model)
    assert len(book.waiting()) == 1 and book.stats().n_lessons == 1


def test_a_model_may_ask_the_playbook(book: adage.Playbook) -> None:
    def model(system: str, user: str) -> str:
        book.learn("pinning numpy", "Pin numpy below 2.0.")
        assert book.sessions.learn(book.folder).none_because
        return ANSWER

    assert len(book.sessions.learn_from(MONDAY, model=model).extracted) == 1


def test_a_folder_is_scanned_and_each_session_read_once(book: adage.Playbook, folder: Path) -> None:
    scan = book.sessions.scan(folder)
    (entry,) = scan.entries
    assert (entry.id, entry.standing, entry.hurdle, entry.summary.n_user_turns) == ("tuesday", "new", None, 12)
    assert entry.updated.year == 2026 and [left.reason.kind for left in scan.left_out] == ["no_session"]
    assert "other.jsonl" in scan.left_out[0].path and scan.left_out[0].reason.message
    assert book.sessions.due(folder).sessions == scan.entries
    outcome = book.sessions.learn(folder, model=lambda system, user: ANSWER)
    assert outcome.run and outcome.run.end == "finished" and outcome.none_because is None
    (read,) = outcome.run.sessions
    assert read.error is None and read.n_candidates and read.n_candidates == len(book.waiting())
    assert book.sessions.history() == (outcome.run,)
    again = book.sessions.learn(folder)
    assert again.run is None and again.none_because and again.none_because.kind == "throttled"
    assert str(again.none_because).startswith("nothing is due before") and book.sessions.due(folder).none_because
    assert book.sessions.scan(folder).entries[0].standing == "read"


def test_a_failure_of_a_model_is_recorded_and_the_session_is_tried_again(book: adage.Playbook, folder: Path) -> None:
    outcome = asyncio.run(book.sessions.alearn(folder, model=raises))
    assert outcome.run
    (failed,) = outcome.run.sessions
    assert failed.n_candidates is None and failed.error == "the model failed: ConnectionError: the model is away"
    assert book.sessions.scan(folder).entries[0].n_attempts == 1


def test_an_interrupt_in_a_run_leaves_the_session_due(book: adage.Playbook, folder: Path) -> None:
    def model(system: str, user: str) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        book.sessions.learn(folder, model=model)
    (run,) = book.sessions.history()
    assert run.sessions[0].error and book.sessions.scan(folder).entries[0].standing == "new"


def test_a_queued_session_is_due_at_once(book: adage.Playbook, folder: Path) -> None:
    file = folder / "-srv-shop" / "tuesday.jsonl"
    file.write_text(file.read_text().replace("2026-01-01T00", f"{datetime.now(timezone.utc):%Y-%m-%dT%H}"))
    assert book.sessions.scan(folder).entries[0].hurdle.kind == "active"  # type: ignore[union-attr]
    assert book.sessions.learn(folder).none_because
    book.sessions.queue(file)
    assert [entry.id for entry in book.sessions.due(folder).sessions] == ["tuesday"]
    assert book.sessions.learn(folder).run


def test_a_file_is_read_in_the_format_that_it_has(book: adage.Playbook, folder: Path) -> None:
    learned = asyncio.run(book.sessions.alearn_from(folder / "-srv-shop" / "tuesday.jsonl"))
    assert [outcome.outcome for outcome in learned.mined] == ["review"]
    (waiting,) = book.waiting()
    assert (waiting.lesson.provenance.session, waiting.lesson.provenance.trust) == ("tuesday", "trusted")


def test_what_others_can_have_written_is_labelled(book: adage.Playbook, tmp_path: Path) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(MESSAGES))
    book.sessions.learn_from(tmp_path / "chat.json")
    assert book.waiting()[0].lesson.provenance.trust == "tainted"


def test_what_is_no_session_is_an_error(book: adage.Playbook, folder: Path) -> None:
    with pytest.raises(adage.TranscriptError, match="no known transcript format"):
        book.sessions.mine(folder / "-srv-shop" / "other.jsonl")
    with pytest.raises(adage.TranscriptError, match="there are auto, claude-code"):
        book.sessions.mine(MONDAY, format="chat")  # type: ignore[arg-type]
    with pytest.raises(adage.TranscriptError):
        book.sessions.mine(adage.Transcript([], "monday"))
    with pytest.raises(adage.FolderIOError):
        book.sessions.mine(folder / "nothing.jsonl")
    with pytest.raises(adage.FolderIOError):
        book.sessions.scan(folder / "nothing")
    with pytest.raises(adage.FolderIOError):
        book.sessions.queue(folder / "nothing.jsonl")
    with pytest.raises(adage.ArgumentError):
        book.sessions.mine(adage.Transcript([{"role": object()}], "monday"))
    with pytest.raises(adage.ArgumentError, match="a path or a Transcript"):
        book.sessions.mine(MESSAGES)  # type: ignore[arg-type]
    with pytest.raises(adage.ArgumentError, match="a model is a function"):
        book.sessions.learn_from(MONDAY, model="gpt")  # type: ignore[arg-type]
    assert book.waiting() == ()
