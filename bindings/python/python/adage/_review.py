"""What awaits a person's review: lessons, sessions, notes and skills."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from json import loads
from typing import Any

from . import _native
from ._decode import decode, decode_list, encode
from ._types import Applied, Dismissed, FileChange, Proposal, UndoneFiles


class Review:
    """The inbox of a playbook (``book.review``). Nothing in it takes effect by itself.

    What is shown, applied or dismissed is exactly what was listed: a proposal that has changed since raises ProposalChangedError.
    """

    def __init__(self, book: _native.NativePlaybook) -> None:
        self._native = _native.NativeReview(book)

    def list(self) -> tuple[Proposal, ...]:
        """The proposals that can be applied, by kind."""
        return decode_list(Proposal, self._native.list())

    def inapplicable(self) -> tuple[dict[str, Any], ...]:
        """Entries of the inbox that cannot be applied: their ``name`` and the ``reason``."""
        return tuple(loads(self._native.inapplicable()))

    def show(self, proposal: Proposal, *, reveal: bool = False) -> str:
        """The text for a person: of a patch, the diff that applying would make. Secrets are masked unless ``reveal``."""
        return self._native.show(encode(_listed(proposal)), reveal)

    def apply(self, proposals: Iterable[Proposal]) -> Applied:
        """Applies proposals: the files of all of them, or of none."""
        return decode(Applied, self._native.apply(encode([_listed(proposal) for proposal in proposals])))

    def apply_lines(self, proposal: Proposal, lines: Sequence[int]) -> Applied:
        """Admits these candidates of a session, counted from 1 as in its ``lines``; the others are dismissed."""
        return decode(Applied, self._native.apply_lines(encode(_listed(proposal)), lines))

    def dismiss(self, proposals: Iterable[Proposal]) -> Dismissed:
        """Removes proposals from the inbox."""
        return decode(Dismissed, self._native.dismiss(encode([_listed(proposal) for proposal in proposals])))

    def propose_skill(self, name: str, text: str) -> Proposal:
        """Puts a new skill (the text of a SKILL.md) into the inbox."""
        return decode(Proposal, self._native.propose_skill(name, text))

    def history(self) -> tuple[FileChange, ...]:
        """The recorded changes of files, oldest first."""
        return decode_list(FileChange, self._native.history())

    def undo(self, change: str) -> UndoneFiles:
        """Reverts a change of files. Lessons are reverted by :meth:`adage.Playbook.undo`."""
        return decode(UndoneFiles, self._native.undo(change))


def _listed(proposal: Proposal) -> dict[str, str]:
    return {"name": proposal.name, "text": proposal.text}
