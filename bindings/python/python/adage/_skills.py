"""Skills: SKILL.md files that are matched, maintained and made of lessons."""

from __future__ import annotations

from collections.abc import Iterable
from json import loads
from typing import Any

from . import _native
from ._decode import encode
from ._handle import AnyPath


class Skills:
    """The skills of a playbook (``book.skills``). Results are dictionaries, as the program prints them with ``--json``."""

    def __init__(self, book: _native.NativePlaybook) -> None:
        self._native = _native.NativeSkills(book)

    def list(self) -> dict[str, Any]:
        """The skills of all folders, and the files that are not used, with reasons."""
        return _read(self._native.list())

    def get(self, name: str) -> dict[str, Any]:
        """A skill.

        Raises:
            NoSuchSkillError: None has this name.
        """
        return _read(self._native.get(name))

    def match(self, text: str) -> dict[str, Any]:
        """The skills that a text needs, by meaning or by words, with the evidence for each."""
        return _read(self._native.match_text(text))

    def for_task(self, text: str) -> dict[str, Any]:
        """The block of skills for a prompt; their use is recorded once a day."""
        return _read(self._native.for_task(text))

    def import_from(self, path: AnyPath) -> dict[str, Any]:
        """Copies a SKILL.md into the memory. It is not shown before ``promote``."""
        return _read(self._native.import_from(path))

    def export(self, lessons: Iterable[str], folder: AnyPath, *, name: str | None = None) -> dict[str, Any]:
        """Writes lessons as one SKILL.md into a folder, and marks them as graduated.

        Raises:
            SkillExistsError: Another text has this name.
            NoSuchLessonError, AmbiguousError: A lesson is not found.
        """
        return _read(self._native.export(encode([*lessons]), folder, name))

    def promote(self, name: str, text_hash: str | None = None) -> dict[str, Any]:
        """Lets a skill be shown, with exactly its present text, or the text of this hash."""
        return _read(self._native.promote(name, text_hash))

    def verify(self, name: str, *, passed: bool = True) -> dict[str, Any]:
        """Records a check of a skill."""
        return _read(self._native.verify(name, passed))

    def used(self, name: str) -> dict[str, Any]:
        """Records that a skill was used, and returns its counts."""
        return _read(self._native.used(name))

    def curation_plan(self) -> dict[str, Any]:
        """What ``curate`` would do to the memory's own drafts."""
        return _read(self._native.curation_plan())

    def curate(self) -> dict[str, Any]:
        """Merges and archives drafts that nobody wrote, checked or promoted."""
        return _read(self._native.curate())

    def undo_curation(self, change: str) -> str:
        """Reverts a curation, and returns the id of this change."""
        return self._native.undo_curation(change)


def _read(text: str) -> dict[str, Any]:
    return loads(text)  # type: ignore[no-any-return]
