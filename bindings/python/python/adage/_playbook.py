"""A playbook: the lessons of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from json import loads
from pathlib import Path
from typing import Any, Literal

from . import _native
from ._decode import decode, decode_list, decode_optional, encode
from ._embedding import EmbedderChoice, native_choice, native_vector
from ._errors import ArgumentError
from ._handle import AnyPath, Handle, closed_at_exit, in_thread
from ._review import Review
from ._sessions import Sessions
from ._skills import Skills
from ._types import (
    Change,
    Check,
    Context,
    Credited,
    Draft,
    Exported,
    Feedback,
    Forgotten,
    Format,
    Imported,
    KeptFromPruning,
    Learned,
    Lesson,
    Pruned,
    Recovery,
    Removed,
    Stats,
    Undone,
    Waiting,
    Window,
)

Texts = Sequence[str]


class Playbook(Handle):
    """A lesson playbook in one folder, which any number of threads and processes can share.

    Opening is cheap: a missing folder is made, and no model is loaded before the first embedding. Every call blocks without holding
    the interpreter's lock, and none accesses a network. Where a method takes a ``lesson``, that is its id, the beginning of its id
    (4 digits or more), or its trigger.

    Args:
        folder: The folder of the memory.
        embedder: How texts become vectors: the bundled model, your own :class:`Embedder`, or None to compare only words.
        read_only: Nothing in the folder is created or changed.
        create: If False, a missing folder is not made: the playbook is empty and refuses writes.
        config: Settings that differ from the defaults, by section: ``{"retrieval": {"answer_from": 0.4}}``.
        export_key: The key (64 hex digits) by which your own exports are recognised.
        own_project: The roots of the project whose memory this is. Lessons for it are stored without a project.
        project_skills, extra_skills, writable_skills, global_notes: Folders of skills, and the file for global notes, that reviews
            may use.

    Raises:
        ConfigError: A setting is unknown or out of range.
        FolderIOError: The folder cannot be made or read.
        WrongKindError: It is a folder of documents.
    """

    _native: _native.NativePlaybook

    def __init__(
        self,
        folder: AnyPath,
        *,
        embedder: EmbedderChoice = "bundled",
        read_only: bool = False,
        create: bool = True,
        config: Mapping[str, Any] | None = None,
        export_key: str | None = None,
        own_project: Iterable[AnyPath] = (),
        project_skills: Iterable[AnyPath] = (),
        extra_skills: Iterable[AnyPath] = (),
        writable_skills: Iterable[AnyPath] = (),
        global_notes: AnyPath | None = None,
    ) -> None:
        settings = {
            "read_only": read_only,
            "create": create,
            "config": config,
            "export_key": export_key,
            "own_project": [os.fspath(root) for root in own_project],
            "project_skills": [os.fspath(root) for root in project_skills],
            "extra_skills": [os.fspath(root) for root in extra_skills],
            "writable_skills": [os.fspath(root) for root in writable_skills],
            "global_notes": None if global_notes is None else os.fspath(global_notes),
        }
        self._native = _native.NativePlaybook(folder, encode(settings), native_choice(embedder))
        closed_at_exit(self)

    def __repr__(self) -> str:
        return f"Playbook({str(self.folder)!r})" if self.is_open else "Playbook(closed)"

    # Learning

    def learn(
        self,
        trigger: str,
        solution: str,
        *,
        mistake: str = "",
        task: str = "",
        anti_pattern: str = "",
        code_example: str = "",
        situations: Texts = (),
        signs: Texts = (),
        names: Texts = (),
        domains: Texts = (),
        paths: Texts = (),
        commands: Texts = (),
        confidence: float | None = None,
        source: str = "",
        project: str = "",
        role: str = "",
        verified: bool = False,
        supersedes: str | None = None,
    ) -> Learned:
        """Learns a lesson: when it applies (``trigger``), and what to do (``solution``). The other fields are those of Draft.

        If your embedder fails, there is no error: duplicates are then detected by task and trigger.

        Raises:
            FolderError: It could not be committed; nothing was learned.
        """
        return self.learn_many([
            Draft(
                trigger,
                solution,
                mistake=mistake,
                task=task,
                anti_pattern=anti_pattern,
                code_example=code_example,
                situations=situations,
                signs=signs,
                names=names,
                domains=domains,
                paths=paths,
                commands=commands,
                confidence=confidence,
                source=source,
                project=project,
                role=role,
                verified=verified,
                supersedes=supersedes,
            )
        ])[0]

    def learn_many(self, drafts: Iterable[Draft]) -> tuple[Learned, ...]:
        """Learns lessons in order, embedded in batches and committed at once: on an error, none is learned."""
        return decode_list(Learned, self._native.learn(encode([_row_of(draft) for draft in drafts])))

    def edit(self, lesson: str, **changes: Any) -> Learned:
        """Changes fields of a lesson, by the names of Draft. The lesson with the new text has a new id; ``undo`` reverts it."""
        return decode(Learned, self._native.edit(lesson, encode(_renamed(changes))))

    def mark_verified(self, lesson: str, *, passed: bool = True) -> str:
        """Records a check of a lesson, and returns its id. A passed one protects it from pruning and eviction."""
        return self._native.verify(lesson, passed)

    def mark_graduated(self, lesson: str, graduated: bool = True) -> str:
        """Marks whether another text covers the lesson, such as a skill, and returns its id."""
        return self._native.graduate(lesson, graduated)

    # Retrieving

    def context(
        self,
        query: str = "",
        *,
        project: str = "",
        role: str = "",
        limit: int | None = None,
        max_tokens: int | None = None,
        touching: Texts = (),
        running: Texts = (),
        except_: Texts = (),
        tier: Literal["vector", "lexical"] | None = None,
        distance_threshold: float | None = None,
        vector: Any | None = None,
        peek: bool = False,
        explain: bool = False,
        without_recoveries: bool = False,
    ) -> Context:
        """The lessons for a task, as text for a prompt. Without a query, the newest ones.

        Args:
            query: The task, error or question.
            project, role: Lessons of these are shown in addition to those that apply everywhere.
            limit: At most this many lessons; 5 by default, 0 shows none.
            max_tokens: At most this many estimated tokens; 1,200 by default.
            touching, running: Files that are about to be changed, command lines about to be run: lessons whose patterns match are
                shown first.
            except_: Ids of lessons that the prompt has already.
            tier: Requires vectors, or words.
            distance_threshold: The classic rule: triggers below this cosine distance, in [0, 2].
            vector: The query's vector, of the playbook's own model: a one-dimensional array or a list.
            peek: The retrieval is not counted, and there is no receipt.
            explain: Fills ``considered`` with every candidate.
            without_recoveries: Leaves out recoveries that come before their command.

        Raises:
            NoEmbedderError, EmbedError: Vectors are required, and there is no embedder, or it failed.
            VectorError: The vector has another dimension or is not finite.
        """
        request = {
            "query": query,
            "project": project,
            "role": role,
            "limit": limit,
            "max_tokens": max_tokens,
            "touching": touching,
            "running": running,
            "except_": except_,
            "tier": tier,
            "distance_threshold": distance_threshold,
            "peek": peek,
            "explain": explain,
            "without_recoveries": without_recoveries,
        }
        given = {name: value for name, value in request.items() if value or name == "query" or type(value) in (int, float)}
        near = None if vector is None else native_vector(vector)
        return decode(Context, self._native.context(encode(given), near))

    def recent_failures(self, *, project: str = "", role: str = "", limit: int = 5) -> str:
        """The most recent mistakes, as text for a prompt."""
        return self._native.recent_failures(project, role, limit)

    # Feedback

    def outcome(self, receipt: str, feedback: Feedback) -> Credited:
        """Records how a task ended, by the receipt of its context. Only the first feedback of a receipt counts.

        Raises:
            NoSuchReceiptError: It is unknown or older than 7 days.
        """
        recorded: dict[str, dict[str, Any]] = loads(self._native.outcome(receipt, feedback))
        if "recorded" in recorded:
            return Credited(lessons=tuple(recorded["recorded"]["lessons"]))
        return Credited(already=recorded["already_recorded"]["outcome"])

    def credit_recent(self, seconds: float = 300.0) -> int:
        """Credits every lesson shown in this time that has no feedback yet as helpful. Returns their number."""
        return self._native.credit_recent(seconds)

    def record_retrieval(self, lesson: str) -> str:
        """Counts that you showed a lesson yourself, and returns the receipt."""
        return self._native.record_retrieval(lesson)

    def record_helpful(self, lesson: str) -> str:
        """Records that a lesson helped, and returns its id."""
        return self._native.credit(lesson, True)

    def record_harmful(self, lesson: str) -> str:
        """Records that a lesson did harm, and returns its id."""
        return self._native.credit(lesson, False)

    def record_missed(self, lesson: str, request: str) -> str:
        """Records that a request should have shown a lesson: it becomes one of its situations. Returns the lesson's id."""
        return self._native.record_missed(lesson, request)

    def effect(self, lesson: str) -> dict[str, Any]:
        """What showing a lesson changed, as the log of receipts says (setting ``credit``)."""
        return loads(self._native.effect(lesson))  # type: ignore[no-any-return]

    # Reading

    def list(
        self,
        *,
        window: Window = "all",
        source: str = "",
        project: str | None = None,
        role: str | None = None,
        limit: int | None = 20,
    ) -> tuple[Lesson, ...]:
        """Lessons, newest first, without counting a retrieval. ``limit=None`` lists all. With a project or a role, what they see."""
        return decode_list(Lesson, self._native.list(_listing(window, source, project, role, limit)))

    def find(self, lesson: str) -> Lesson:
        """A lesson.

        Raises:
            NoSuchLessonError, AmbiguousError: None has this id or trigger, or several have it.
        """
        return decode(Lesson, self._native.find(lesson))

    def stats(self) -> Stats:
        """The figures of the playbook."""
        return decode(Stats, self._native.stats())

    def check(self) -> Check:
        """Looks for problems in the files. Nothing is changed."""
        return decode(Check, self._native.check())

    # Removing and undoing

    def remove(self, lesson: str) -> Removed:
        """Removes a lesson for good. Nothing but learning it by hand, or ``undo`` within 30 days, brings it back."""
        return decode(Removed, self._native.remove(lesson))

    def forget(self, lesson: str) -> Forgotten:
        """Deletes a lesson, its texts and its earlier versions from all files of the memory. This cannot be undone."""
        return decode(Forgotten, self._native.forget(lesson))

    def retract_session(self, session: str) -> tuple[Removed, ...]:
        """Removes every lesson that was mined from a session, also those that await review."""
        return decode_list(Removed, self._native.retract_session(session))

    def history(self) -> tuple[Change, ...]:
        """The recorded changes, oldest first: each replaced a text or removed a lesson."""
        return decode_list(Change, self._native.history())

    def undo(self, change: str) -> Undone:
        """Reverts a change.

        Raises:
            NoSuchChangeError, CannotUndoError: It is not recorded, or a later one touched the same lessons.
        """
        return decode(Undone, self._native.undo(change))

    def undo_merge(self, lesson: str) -> Undone:
        """Reverts the newest merge into a lesson."""
        return decode(Undone, self._native.undo_merge(lesson))

    def prunable(self) -> tuple[str, ...]:
        """The ids of the lessons that ``prune`` would archive."""
        return tuple(loads(self._native.prunable()))

    def kept_from_pruning(self) -> tuple[KeptFromPruning, ...]:
        """Lessons that rarely helped and that no prune archives, with the reason."""
        return decode_list(KeptFromPruning, self._native.kept_from_pruning())

    def prune(self) -> Pruned:
        """Archives lessons that rarely helped."""
        return decode(Pruned, self._native.prune())

    def accept_edits(self) -> int:
        """Accepts edits that were made in the playbook file, so that checks do not list them. Returns their number."""
        return self._native.accept_edits()

    # Lessons that await review

    def waiting(self) -> tuple[Waiting, ...]:
        """The lessons that await review, oldest first."""
        return decode_list(Waiting, self._native.waiting())

    def promote(self, waiting: Waiting) -> Learned:
        """Admits a lesson with exactly the text that a person was shown.

        Raises:
            ProposalChangedError: Its text has changed since; list it again.
        """
        return decode(Learned, self._native.promote(waiting.lesson.id, waiting.shown_hash))

    def dismiss(self, waiting: Waiting) -> Removed:
        """Removes a lesson that awaits review, with exactly the text that a person was shown."""
        return decode(Removed, self._native.dismiss(waiting.lesson.id, waiting.shown_hash))

    @property
    def review(self) -> Review:
        """What awaits review: lessons, sessions, notes and skills."""
        return Review(self._native)

    @property
    def sessions(self) -> Sessions:
        """The past sessions of agents, to learn from."""
        return Sessions(self._native)

    @property
    def skills(self) -> Skills:
        """The skills."""
        return Skills(self._native)

    # Exchange

    def export_text(
        self, format: Format = "jsonl", *, project: str | None = None, role: str | None = None, limit: int | None = None
    ) -> str:
        """Lessons as text. JSON lines are sealed with the ``export_key``, if there is one."""
        return self._native.export_text(format, _listing("all", "", project, role, limit))

    def export_into(
        self,
        file: AnyPath,
        format: Format = "jsonl",
        *,
        project: str | None = None,
        role: str | None = None,
        limit: int | None = None,
    ) -> Exported:
        """Writes lessons into a file, atomically. In a Markdown file only the marked section changes.

        Raises:
            ExchangeError: The file has content of others, or is a link that leads elsewhere; nothing was written.
        """
        return decode(Exported, self._native.export_into(format, _listing("all", "", project, role, limit), file))

    def undo_export(self, change: str, file: AnyPath) -> str:
        """Restores what a file had before an export into it, and returns the id of this change."""
        return self._native.undo_export(change, file)

    def import_text(
        self, text: str, format: Format | None = None, *, key: str | None = None, preview: bool = False
    ) -> Imported:
        """Imports the lessons of a text; they await review. Your own export, with its ``key``, is restored as it was.

        The format is detected if it is not named. With ``preview``, nothing is written.

        Raises:
            ExchangeError: The format cannot be detected.
        """
        return decode(Imported, self._native.import_text(text, format, key, preview))

    # The folder

    @property
    def folder(self) -> Path:
        """The folder."""
        return Path(self._native.folder())

    @property
    def exists(self) -> bool:
        """False for a playbook opened with ``create=False`` that found no folder."""
        return self._native.exists()

    @property
    def recovery(self) -> Recovery | None:
        """What the open did about a broken playbook file; None if the file was whole."""
        return decode_optional(Recovery, self._native.recovery())

    @property
    def config(self) -> dict[str, Any]:
        """All settings, by section."""
        return loads(self._native.config())  # type: ignore[no-any-return]

    @property
    def folder_config(self) -> str | None:
        """The text of the folder's own ``config.toml``; None if there is none."""
        return self._native.folder_config()

    def set_folder_config(self, text: str) -> None:
        """Writes the folder's own ``config.toml``."""
        self._native.set_folder_config(text)

    def warm_up(self) -> int:
        """Embeds the texts that have no vector yet, and returns their number."""
        return self._native.warm_up()

    @property
    def texts_without_vector(self) -> int:
        """The number of texts that have no vector yet."""
        return self._native.texts_without_vector()

    def flush(self) -> bool:
        """Writes retrieval counts that are still in memory. True when nothing is left."""
        return self._native.flush()

    def check_writable(self) -> None:
        """Raises the error that a write would raise now, such as LockedError."""
        self._native.check_writable()

    def check_folder(self) -> None:
        """Raises FolderReplacedError if another folder is at the path now."""
        self._native.check_folder()

    def back_up(self, folder: AnyPath) -> dict[str, Any]:
        """Copies the memory to an empty folder, with a record of every file, which is returned."""
        return loads(self._native.back_up(folder))  # type: ignore[no-any-return]

    def restore(self, folder: AnyPath) -> dict[str, Any]:
        """Restores the memory from a backup; what it replaces is kept."""
        return loads(self._native.restore(folder))  # type: ignore[no-any-return]

    def repair(self, *, preview: bool = False) -> dict[str, Any]:
        """Takes up what was quarantined, as far as it can be read. With ``preview``, nothing is written."""
        return loads(self._native.repair(preview))  # type: ignore[no-any-return]

    # For asyncio

    async def acontext(self, query: str = "", **request: Any) -> Context:
        """``context`` on a thread."""
        return await in_thread(self.context, query, **request)

    async def alearn(self, trigger: str, solution: str, **draft: Any) -> Learned:
        """``learn`` on a thread."""
        return await in_thread(self.learn, trigger, solution, **draft)

    async def alearn_many(self, drafts: Iterable[Draft]) -> tuple[Learned, ...]:
        """``learn_many`` on a thread."""
        return await in_thread(self.learn_many, drafts)

    async def aoutcome(self, receipt: str, feedback: Feedback) -> Credited:
        """``outcome`` on a thread."""
        return await in_thread(self.outcome, receipt, feedback)


_TEXT_FIELDS = tuple(name for name in Draft._fields if name not in ("supersedes", "by_program", "extra"))

_LIST_FIELDS = {"situations", "signs", "names", "domains", "paths", "commands"}


def _row_of(draft: Draft) -> dict[str, Any]:
    given = {name: getattr(draft, name) for name in _TEXT_FIELDS}
    row = _renamed({name: value for name, value in given.items() if value not in ("", (), None, False)})
    return {"row": {**draft.extra, **row}, "supersedes": draft.supersedes, "by_program": draft.by_program}


def _renamed(fields_of_draft: dict[str, Any]) -> dict[str, Any]:
    """A lesson's advice is its correct pattern; its solution is a second text, equal unless it is set apart."""
    for name in _LIST_FIELDS & fields_of_draft.keys():
        if isinstance(fields_of_draft[name], str):
            raise ArgumentError(f"{name}: a list of texts is needed, not one text")
    return {"correct_pattern" if name == "solution" else name: value for name, value in fields_of_draft.items()}


def _listing(window: str, source: str, project: str | None, role: str | None, limit: int | None) -> str:
    return encode({"window": window, "source": source, "project": project, "role": role, "limit": limit})
