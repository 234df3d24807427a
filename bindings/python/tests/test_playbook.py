"""Playbooks: the calls, their results, and how these behave as values."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import adage
from conftest import FORCE, PUSH


def test_the_example_of_the_readme(tmp_path: Path) -> None:
    with adage.Playbook(tmp_path) as book:
        learned = book.learn(
            PUSH, FORCE, mistake="push --force", situations=["publish my branch again"], signs=["non-fast-forward"]
        )
        context = book.context("push my branch after a rebase", project="web")
        assert FORCE in context.text and str(context) == context.text and context
        assert context.lessons[0].id == learned.lesson
        assert 0.7 < (context.lessons[0].probability or 0) <= 1 and context.none_because is None
        assert context.receipt
        assert book.outcome(context.receipt, "helpful").lessons == (learned.lesson,)
        assert book.outcome(context.receipt, "harmful").already == "helpful"
        lesson = book.find(PUSH)
        assert (lesson.situations, lesson.signs) == (("publish my branch again",), ("non-fast-forward",))
        assert (lesson.retrievals, lesson.helpful_retrievals) == (1, 1)


def test_an_unrelated_question_gets_nothing_and_a_reason(book: adage.Playbook) -> None:
    context = book.context("What is the capital of France?")
    assert not context and context.lessons == () and context.receipt is None
    assert context.none_because and context.none_because.kind == "unlikely"
    assert context.none_because.details["best"] == book.find(PUSH).id
    assert str(context.none_because).startswith("the best candidate, lesson")


def test_a_request_can_be_limited_explained_and_peeked_at(book: adage.Playbook) -> None:
    assert book.context(PUSH, limit=0).none_because == adage.Reason("limit_zero", "the limit is 0")
    peeked = book.context(PUSH, peek=True, explain=True, tier="lexical")
    assert (peeked.receipt, peeked.tier) == (None, "lexical")
    assert peeked.considered[0].passed and peeked.considered[0].evidence and peeked.considered[0].evidence.is_title
    matched = book.context("something else", running=["git push origin"])
    assert matched.lessons[0].matched == "git push*"
    assert not book.context(PUSH, except_=[book.find(PUSH).id])
    assert book.find(PUSH).retrievals == 1


def test_lessons_are_seen_in_their_project(book: adage.Playbook) -> None:
    book.learn("deploying the shop", "Use the blue pool.", project="shop", role="deployer")
    assert not book.context("deploy the shop")
    assert book.context("deploy the shop", project="shop", role="deployer")
    assert [lesson.trigger for lesson in book.list(project="shop", role="deployer")] == ["deploying the shop", PUSH]
    assert [lesson.trigger for lesson in book.list(project="bank")] == [PUSH]


def test_outcomes_of_learning(book: adage.Playbook) -> None:
    merged = book.learn(PUSH, FORCE)
    assert merged.outcome == "merged" and merged.lesson == book.find(PUSH).id and merged.change
    apart = book.learn(PUSH, "Use --force, never --force-with-lease.")
    assert apart.outcome == "kept_apart" and apart.why and apart.why.message and apart.near == (merged.lesson,)
    refused, inserted = book.learn_many([adage.Draft("x", ""), adage.Draft("pinning numpy", "Pin numpy below 2.0.")])
    assert (refused.outcome, refused.lesson) == ("refused", None)
    assert refused.why == adage.Reason("no_solution", "it has no solution")
    superseded = book.learn("pinning numpy", "Pin numpy below 2.1.", supersedes=inserted.lesson)
    assert (superseded.outcome, superseded.replaced) == ("superseded", inserted.lesson)


def test_a_program_s_claims_are_not_accepted(book: adage.Playbook) -> None:
    (learned,) = book.learn_many([adage.Draft("pinning numpy", "Pin it.", source="agent", verified=True, by_program=True)])
    lesson = book.find(learned.lesson or "")
    assert (lesson.verified, lesson.provenance.origin) == (False, "program")


def test_an_edit_and_a_removal_are_undone(book: adage.Playbook) -> None:
    edited = book.edit(PUSH, solution="Ask first.", situations=["publish again"])
    assert edited.outcome == "superseded" and edited.change
    assert (book.find(PUSH).correct_pattern, book.find(PUSH).situations) == ("Ask first.", ("publish again",))
    book.undo(edited.change)
    assert book.find(PUSH).correct_pattern == FORCE
    removed = book.remove(PUSH)
    assert book.list() == ()
    assert book.undo(removed.change).restored == (removed.id,)
    assert [change.action for change in book.history()] == ["learn", "undo", "remove", "undo"]
    assert [change.is_undone for change in book.history()] == [True, False, True, False]


def test_a_merge_is_undone(book: adage.Playbook) -> None:
    merged = book.learn(PUSH, FORCE, mistake="git push --force overwrote the work of a colleague")
    assert merged.outcome == "merged"
    assert book.undo_merge(PUSH).restored == (merged.lesson,)


def test_feedback_without_a_receipt(book: adage.Playbook) -> None:
    receipt = book.record_retrieval(PUSH)
    assert book.outcome(receipt, "neutral").lessons == (book.record_helpful(PUSH),)
    book.record_harmful(PUSH)
    book.record_missed(PUSH, "send my commits up")
    lesson = book.find(PUSH)
    assert (lesson.helpful_retrievals, lesson.harmful_retrievals) == (1, 1)
    assert lesson.situations == ("send my commits up",)
    book.context(PUSH)
    assert book.credit_recent() == 1 and book.credit_recent() == 0


def test_marks_of_a_lesson(book: adage.Playbook) -> None:
    assert book.mark_verified(PUSH) == book.find(PUSH).id and book.find(PUSH).verified
    book.mark_verified(PUSH, passed=False)
    book.mark_graduated(PUSH)
    assert (book.find(PUSH).verified, book.find(PUSH).graduated) == (False, True)
    book.mark_graduated(PUSH, False)
    assert not book.find(PUSH).graduated


def test_an_export_with_a_key_is_restored_and_another_text_awaits_review(tmp_path: Path, book: adage.Playbook) -> None:
    key = "0f" * 32
    with adage.Playbook(book.folder, export_key=key) as sealed, adage.Playbook(tmp_path / "other") as other:
        text = sealed.export_text()
        assert other.import_text(text, key=key, preview=True).outcomes[0].outcome == "inserted" and not other.list()
        assert other.import_text(text, key=key).outcomes[0].outcome == "inserted"
        assert {**other.find(PUSH).to_dict(), "utility": 0} == {**book.find(PUSH).to_dict(), "utility": 0}
    with adage.Playbook(tmp_path / "third") as third:
        imported = third.import_text(book.export_text("ace") + "\nstray\n")
        assert [one.outcome for one in imported.outcomes] == ["review"] and len(imported.not_read) == 1
        (waiting,) = third.waiting()
        assert not third.context(PUSH)
        assert third.promote(waiting).lesson == waiting.lesson.id
        assert third.context(PUSH)


def test_what_waits_is_dismissed_with_the_text_that_was_shown(tmp_path: Path, book: adage.Playbook) -> None:
    with adage.Playbook(tmp_path / "other") as other:
        other.import_text(book.export_text())
        (waiting,) = other.waiting()
        with pytest.raises(adage.ProposalChangedError):
            other.dismiss(adage.Waiting(waiting.lesson, waiting.reason, "0" * 32))
        other.undo(other.dismiss(waiting).change)
        assert other.waiting() == (waiting,)


def test_an_export_into_a_file_keeps_the_rest_of_it(tmp_path: Path, book: adage.Playbook) -> None:
    notes = tmp_path / "AGENTS.md"
    notes.write_text("# Ours\n")
    exported = book.export_into(notes, "agents")
    assert exported.n_lessons == 1 and exported.change and FORCE in notes.read_text()
    book.undo_export(exported.change, notes)
    assert notes.read_text() == "# Ours\n"


def test_figures_and_settings(book: adage.Playbook) -> None:
    stats = book.stats()
    assert (stats.n_lessons, stats.sources, stats.realms) == (1, {"unknown": 1}, {"global": 1})
    assert stats.utility and len(stats.utility) == 3
    assert book.check().findings == ()
    assert book.config["retrieval"]["limit"] == 5
    assert book.folder_config is None
    book.set_folder_config("[retrieval]\nlimit = 2\n")
    assert book.folder_config == "[retrieval]\nlimit = 2\n"
    assert (book.recovery, book.exists, book.texts_without_vector, book.warm_up(), book.flush()) == (None, True, 0, 0, True)
    assert (book.prunable(), book.kept_from_pruning(), book.prune(), book.accept_edits()) == ((), (), adage.Pruned(), 0)
    assert "never --force" in book.context().text and "overwrote" in book.recent_failures()
    book.check_writable()
    book.check_folder()
    assert book.effect(PUSH)


def test_a_setting_changes_what_is_found(book: adage.Playbook) -> None:
    with adage.Playbook(book.folder, config={"retrieval": {"answer_from": 0.0}}) as eager:
        assert eager.context("What is the capital of France?", tier="vector").lessons


def test_a_backup_is_restored(tmp_path: Path, book: adage.Playbook) -> None:
    assert book.back_up(tmp_path / "backup")["files"]
    book.learn("pinning numpy", "Pin numpy below 2.0.")
    assert book.forget("pinning numpy").kept_in == ()
    book.edit(PUSH, solution="Ask first.")
    book.restore(tmp_path / "backup")
    assert [lesson.correct_pattern for lesson in book.list()] == [FORCE]
    assert book.repair(preview=True)


def test_a_broken_file_is_reported(tmp_path: Path, book: adage.Playbook) -> None:
    book.close()
    (book_file,) = (tmp_path / "memory").glob("skills_playbook.json")
    book_file.write_text("{")
    with adage.Playbook(tmp_path / "memory") as again:
        assert again.recovery and again.recovery.from_backup and again.recovery.n_lessons == 1
        assert again.recovery.extra["is_merge"] is False


def test_results_are_values(book: adage.Playbook) -> None:
    lesson = book.find(PUSH)
    assert lesson == book.list()[0] and repr(lesson).startswith("Lesson(id=")
    with pytest.raises(AttributeError):
        lesson.trigger = "x"  # type: ignore[misc]
    assert lesson.timestamp.tzinfo and abs(datetime.now(timezone.utc) - lesson.timestamp) < timedelta(minutes=5)
    assert json.loads(json.dumps(lesson.to_dict()))["timestamp"] == lesson.timestamp.isoformat()
    assert lesson.to_dict()["provenance"]["origin"] == "hand"
    reason = adage.Reason("a", "b")
    assert reason == adage.Reason(message="b", kind="a", details={}) != adage.Reason("a", "c")
    assert hash(adage.Removed("a", "b")) == hash(adage.Removed("a", "b")) and reason.details is not adage.Reason("a", "b").details
    match reason:
        case adage.Reason("a", message):
            assert message == "b"


@pytest.mark.parametrize("values", [{}, {"kind": "a"}, {"kind": "a", "message": "b", "more": "c"}])
def test_a_record_takes_its_fields(values: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="Reason takes kind, message, details"):
        adage.Reason(**values)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="given twice"):
        adage.Reason("a", "b", kind="c")  # type: ignore[misc]
    with pytest.raises(TypeError, match="by position: 4"):
        adage.Reason("a", "b", {}, 4)  # type: ignore[call-arg]


def test_unknown_keys_of_a_lesson_are_kept(book: adage.Playbook) -> None:
    book.learn_many([adage.Draft("pinning numpy", "Pin numpy below 2.0.", extra={"ticket": 7})])
    assert book.find("pinning numpy").extra == {"ticket": 7}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)),
        ("2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, tzinfo=timezone.utc)),
        ("2026-01-02T03:04:05.1+05:30", datetime(2026, 1, 2, 3, 4, 5, 100000, timezone(timedelta(hours=5.5)))),
    ],
)
def test_times_are_aware(text: str, expected: datetime) -> None:
    from adage._decode import parse_time

    assert parse_time(text) == expected


def test_asyncio_calls_run_on_threads(book: adage.Playbook) -> None:
    async def run() -> tuple[adage.Context, adage.Learned, adage.Credited]:
        context = await book.acontext("push my branch after a rebase", limit=1)
        learned = await book.alearn("pinning numpy", "Pin numpy below 2.0.")
        assert (await book.alearn_many([adage.Draft("a", "")]))[0].outcome == "refused"
        return context, learned, await book.aoutcome(context.receipt or "", "helpful")

    context, learned, credited = asyncio.run(run())
    assert context and learned.outcome == "inserted" and credited.lessons
