"""Reviews and skills."""

from __future__ import annotations

from pathlib import Path

import pytest

import adage
from conftest import FORCE, PUSH

SKILL = "---\nname: docker-build\ndescription: Builds docker images. Use when building images.\n---\n\nRun make image.\n"


@pytest.fixture
def waiting(tmp_path: Path, book: adage.Playbook) -> adage.Playbook:
    """Another playbook, in which the lesson of the first one awaits review."""
    other = adage.Playbook(tmp_path / "other")
    other.import_text(book.export_text())
    return other


def test_a_lesson_is_shown_and_applied(waiting: adage.Playbook) -> None:
    (proposal,) = waiting.review.list()
    assert FORCE in waiting.review.show(proposal)
    applied = waiting.review.apply([proposal])
    assert applied.lessons[0].lesson == waiting.find(PUSH).id and waiting.review.list() == ()
    with pytest.raises(adage.NoSuchProposalError):
        waiting.review.apply([proposal])


def test_a_proposal_with_another_text_is_refused(waiting: adage.Playbook) -> None:
    (proposal,) = waiting.review.list()
    with pytest.raises(adage.ProposalChangedError):
        waiting.review.dismiss([adage.Proposal(**{**proposal.to_dict(), "text": "0" * 32})])
    dismissed = waiting.review.dismiss([proposal])
    waiting.undo(dismissed.lessons[0].change)
    assert waiting.review.list() == (proposal,)


def test_a_proposed_skill_is_applied_and_undone(book: adage.Playbook) -> None:
    proposal = book.review.propose_skill("docker-build", SKILL)
    applied = book.review.apply([proposal])
    assert applied.change and book.skills.get("docker-build")["skill"]["name"] == "docker-build"
    assert [change.id for change in book.review.history()] == [applied.change]
    book.review.undo(applied.change)
    with pytest.raises(adage.NoSuchSkillError):
        book.skills.get("docker-build")
    with pytest.raises(adage.CannotApplyError, match="Not A Name"):
        book.review.propose_skill("Not A Name", SKILL)
    assert book.review.inapplicable() == ()


def test_a_skill_is_imported_promoted_and_matched(tmp_path: Path, book: adage.Playbook) -> None:
    file = tmp_path / "docker-build" / "SKILL.md"
    file.parent.mkdir()
    file.write_text(SKILL)
    book.skills.import_from(file)
    assert book.skills.match("build the docker images")["matches"] == []
    book.skills.promote("docker-build")
    assert [found["name"] for found in book.skills.match("build the docker images")["matches"]] == ["docker-build"]
    assert "make image" in book.skills.for_task("build the docker images")["block"]["text"]
    book.skills.verify("docker-build")
    assert book.skills.used("docker-build")
    assert [skill["skill"]["name"] for skill in book.skills.list()["skills"]] == ["docker-build"]
    assert book.skills.curation_plan() and book.skills.curate()


def test_a_lesson_is_exported_as_a_skill(tmp_path: Path, book: adage.Playbook) -> None:
    exported = book.skills.export([PUSH], tmp_path / "skills", name="rebased-push")
    assert exported["name"] == "rebased-push"
    assert FORCE in (tmp_path / "skills/rebased-push/SKILL.md").read_text()
    assert book.find(PUSH).graduated
