"""The results of calls: frozen, comparable, printable, and plain data by ``to_dict()``.

Ids are texts of UUIDs. Distances are cosine distances, in [0, 2], smaller is nearer; for a score, larger is better. The two are
never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from ._record import Record, Result

__all__ = [
    "Applied",
    "Candidate",
    "Change",
    "ChangedLesson",
    "Check",
    "Context",
    "Credited",
    "Dismissed",
    "Document",
    "Draft",
    "DueSessions",
    "Exported",
    "Extraction",
    "Feedback",
    "FileChange",
    "Finding",
    "Forgotten",
    "Format",
    "Hit",
    "Hits",
    "Imported",
    "KeptFromPruning",
    "Learned",
    "LeftOut",
    "Lesson",
    "Mined",
    "Proposal",
    "Provenance",
    "Pruned",
    "Reason",
    "Recovery",
    "Removed",
    "Result",
    "RunOutcome",
    "RunRecord",
    "Scored",
    "SessionEntry",
    "SessionLessons",
    "SessionOutcome",
    "SessionScan",
    "SessionSummary",
    "Shown",
    "Signals",
    "Stats",
    "Transcript",
    "Undone",
    "UndoneFiles",
    "Waiting",
    "Window",
]

Feedback = Literal["helpful", "neutral", "harmful"]
"""How a task ended for which lessons were shown."""

Window = Literal["today", "week", "all"]
"""The period of a listing: since midnight, the last seven days, all time."""

Format = Literal["jsonl", "memory", "agents", "ace"]
"""A format of exchange: all fields as JSON lines, a marked section of a MEMORY.md or AGENTS.md, an ACE playbook."""


class Reason(Result):
    """Why something is so: a name to compare with, a sentence to print, and its figures."""

    kind: str
    message: str
    details: dict[str, Any] = {}

    def __str__(self) -> str:
        return self.message


class Draft(Record):
    """A lesson before it is learned.

    ``trigger`` says when it applies and ``solution`` what to do. Two or three ``situations`` (how a later task may put it, in other
    words) and one or two ``signs`` (the text of an error, a file, an effect) find it about twice as often. ``names`` are short
    aliases. ``paths`` and ``commands`` are patterns (``src/**/*.sql``, ``git push*``) for which it is shown first. ``source`` is
    one word; empty or ``user`` stands for a person, any other makes it a program's. With ``by_program``, claims about checks and
    evidence are ignored. ``supersedes`` is the id of the lesson that it replaces.
    """

    trigger: str
    solution: str
    mistake: str = ""
    task: str = ""
    anti_pattern: str = ""
    code_example: str = ""
    situations: Sequence[str] = ()
    signs: Sequence[str] = ()
    names: Sequence[str] = ()
    domains: Sequence[str] = ()
    paths: Sequence[str] = ()
    commands: Sequence[str] = ()
    confidence: float | None = None
    source: str = ""
    project: str = ""
    role: str = ""
    verified: bool = False
    supersedes: str | None = None
    by_program: bool = False
    extra: Mapping[str, Any] = {}


class Learned(Result):
    """What became of a draft.

    ``inserted``: it is new; ``near`` may give the same advice. ``superseded``: it replaced the lesson ``replaced``. ``merged``: an
    existing ``lesson`` gives the same advice and counts it. ``kept_apart``: it is near to a lesson and differs by ``why``.
    ``review``: it awaits a person, because of ``why``. ``refused``: it was not stored, because of ``why``.
    """

    outcome: Literal["inserted", "superseded", "merged", "kept_apart", "review", "refused", "unknown"]
    lesson: str | None = None
    """The lesson that has the text now; none if it was refused."""
    near: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()
    """Lessons that were archived for it."""
    replaced: str | None = None
    distance: float | None = None
    """The cosine distance of the whole texts, in [0, 2]; none if task and trigger were compared."""
    why: Reason | None = None
    change: str | None = None
    """For ``undo``; none if nothing was replaced or evicted."""


class Shown(Result):
    """A lesson that a context shows."""

    id: str
    folder: str
    trigger: str
    distance: float | None = None
    """The cosine distance of query and trigger, in [0, 2]; only in the vector tier."""
    score: float | None = None
    probability: float | None = None
    """The probability that it is an answer, in [0, 1]; none for a cold start and under the classic rule."""
    matched: str | None = None
    """The lesson's pattern that matched a path or a command of the request."""
    contradicted_by: str | None = None


class Signals(Result):
    """How well a query and a lesson match, by each measure; larger is better."""

    trigger: float | None
    has_ways_in: bool
    whole: float | None
    mistake: float | None
    words: float
    grams: float
    coverage: float
    name: float
    is_title: bool


class Scored(Result):
    """A candidate of a request that was made with ``explain=True``."""

    id: str
    trigger: str
    distance: float | None
    overlap: float
    evidence: Signals | None
    score: float
    probability: float | None
    passed: bool


class Context(Result):
    """The lessons for a prompt. ``str(context)`` is the text, which is empty when nothing is relevant."""

    text: str
    tier: Literal["vector", "lexical", "recency"]
    lessons: tuple[Shown, ...]
    none_because: Reason | None
    """Why nothing is shown; none if something is."""
    receipt: str | None
    """For ``outcome``; none for a peek, and if there was nothing to show."""
    index: str | None = None
    skills: tuple[str, ...] = ()
    considered: tuple[Scored, ...] = ()

    def __str__(self) -> str:
        return self.text

    def __bool__(self) -> bool:
        return bool(self.text)


class Credited(Result):
    """The result of an outcome: the lessons that it credits, or the first feedback, which counts."""

    lessons: tuple[str, ...] = ()
    already: Feedback | None = None


class Provenance(Result):
    """Where a lesson comes from, and whether it may be shown."""

    origin: str = "hand"
    trust: Literal["trusted", "tainted"] = "trusted"
    session: str = ""
    evidence: tuple[dict[str, Any], ...] = ()
    confirmed: str | None = None
    recovery: dict[str, Any] | None = None
    promoted: str | None = None
    supersedes: str | None = None
    extra: dict[str, Any] = {}


class Lesson(Result):
    """A lesson. Counts are of its whole life; ``utility`` decides which lessons stay; ``extra`` has unknown keys of its row."""

    id: str
    timestamp: datetime
    task: str
    trigger: str
    mistake: str
    anti_pattern: str
    solution: str
    correct_pattern: str
    utility: float
    code_example: str = ""
    domains: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    situations: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    recovery: dict[str, Any] | None = None
    confidence: float = 0.5
    source: str = ""
    source_challenge_hash: str = ""
    project: str = ""
    role: str = ""
    verified: bool = False
    verification_attempted: bool = False
    graduated: bool = False
    retrievals: int = 0
    helpful_retrievals: int = 0
    harmful_retrievals: int = 0
    settled_retrievals: int = 0
    learned_at_recall: int = 0
    shown_at_recall: int = 0
    frequency: int = 1
    last_retrieved_at: datetime | None = None
    last_credited_at: datetime | None = None
    near: tuple[str, ...] = ()
    provenance: Provenance = Provenance()
    schema_version: int = 2
    extra: dict[str, Any] = {}


class Waiting(Result):
    """A lesson that awaits review. ``shown_hash`` stands for exactly this text: a promotion covers it and no other."""

    lesson: Lesson
    reason: Reason
    shown_hash: str


class Removed(Result):
    """A removed lesson. Its text is kept for 30 days for ``undo(change)``."""

    id: str
    change: str


class Forgotten(Result):
    """A lesson that was deleted with its texts. ``kept_in`` are files of a person that still have one of them."""

    id: str
    kept_in: tuple[str, ...] = ()


class Undone(Result):
    """The result of an undo: lessons that came back, and those that the change had inserted."""

    change: str
    restored: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()


class ChangedLesson(Result):
    """What a change did to a lesson. The trigger is empty if the text is no longer kept."""

    id: str
    what: str
    trigger: str


class Change(Result):
    """A recorded change: ``undo(id)`` reverts it."""

    id: str
    at: datetime
    action: str
    is_undone: bool
    lessons: tuple[ChangedLesson, ...] = ()


class Pruned(Result):
    """Lessons that were archived because they rarely helped, least utility first."""

    lessons: tuple[str, ...] = ()
    change: str | None = None


class KeptFromPruning(Result):
    """A lesson that rarely helped and that no prune removes."""

    id: str
    because: str


class Stats(Result):
    """The figures of a playbook. ``utility`` is the least, the median and the largest one; none for an empty playbook."""

    n_lessons: int
    n_verified: int
    n_waiting: int
    n_removed: int
    n_changes: int
    realms: dict[str, int]
    sources: dict[str, int]
    retrievals: int
    helpful_retrievals: int
    harmful_retrievals: int
    utility: tuple[float, ...] | None
    generation: int
    capacity: int


class Finding(Result):
    """A problem that a check found, and what the program does about it."""

    part: str
    problem: str
    consequence: str


class Check(Result):
    """The result of a check. Without findings, everything is in order."""

    n_lessons: int
    n_vectors: int
    findings: tuple[Finding, ...] = ()


class Imported(Result):
    """The result of an import: one outcome per lesson, one change to undo, and the parts of the text that are not lessons."""

    outcomes: tuple[Learned, ...]
    change: str | None
    not_read: tuple[str, ...] = ()


class Exported(Result):
    """The result of an export into a file. ``change`` is none if the file already had this content."""

    n_lessons: int
    change: str | None


class Recovery(Result):
    """What an open did about a broken playbook file."""

    reason: str
    kept_at: tuple[str, ...]
    from_backup: bool
    n_lessons: int
    extra: dict[str, Any] = {}


class Proposal(Result):
    """What awaits review. ``text`` is the hash of exactly the content that was listed; ``lines`` are the candidates of a session."""

    name: str
    text: str
    summary: str
    files: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()


class Applied(Result):
    """The result of applying proposals: files for ``review.undo(change)``, lessons for ``undo``."""

    change: str | None
    files: tuple[str, ...]
    lessons: tuple[Learned, ...]


class Dismissed(Result):
    """The result of dismissing proposals. ``change`` returns patches and skills; each removed lesson has a change of its own."""

    change: str | None
    lessons: tuple[Removed, ...]


class FileChange(Result):
    """A recorded change of files by a review."""

    id: str
    at: datetime
    what: str
    files: tuple[str, ...]


class UndoneFiles(Result):
    """Files with their former content, and the id of this change."""

    change: str
    files: tuple[str, ...]


class Transcript(Record):
    """A session that your program has: messages as OpenAI's or Anthropic's API takes them.

    ``session`` identifies it, so that the same session again adds nothing. ``project`` is its folder: the lessons are for it.
    Messages of the role ``user`` must be what a person typed.
    """

    messages: Sequence[Mapping[str, Any]]
    session: str
    project: str = ""


class SessionSummary(Result):
    """What a session is about: the request it begins with, and what was done."""

    session: str
    n_user_turns: int
    n_turns: int
    intent: str
    workflow: str
    owner: Literal["person", "agent"]
    n_tool_calls: int = 0
    n_failed_calls: int = 0
    last_record: datetime | None = None


class SessionEntry(Result):
    """A session of a folder. ``standing`` is whether it was read; ``hurdle`` is why it is not worth reading now, if it is not."""

    id: str
    path: str
    updated: datetime
    summary: SessionSummary
    standing: Literal["new", "read", "given_up"]
    n_attempts: int | None
    hurdle: Reason | None


class LeftOut(Result):
    """A file that is no session, or is not read."""

    path: str
    reason: Reason


class SessionScan(Result):
    """The sessions of a folder, those to be read first; and the files that are none."""

    entries: tuple[SessionEntry, ...]
    left_out: tuple[LeftOut, ...]


class DueSessions(Result):
    """The sessions that a run would read now, or why there are none."""

    sessions: tuple[SessionEntry, ...] = ()
    none_because: Reason | None = None


class SessionOutcome(Result):
    """What a run made of a session: the number of lessons it found, or the error."""

    id: str
    updated: datetime
    n_candidates: int | None
    error: str | None


class RunRecord(Result):
    """A run over sessions, and how it ended."""

    pid: int
    started: datetime
    ended: datetime
    end: Literal["finished", "cancelled", "died"]
    sessions: tuple[SessionOutcome, ...]


class RunOutcome(Result):
    """The run, or why there was none: no session is due, the last run is too recent, or another process reads them."""

    run: RunRecord | None = None
    none_because: Reason | None = None


class Candidate(Result):
    """A lesson that a rule suggests. ``draft`` has the fields of a lesson; ``turns`` are the turns it is based on, from 0."""

    heuristic: Literal["multi_step", "error_recovery", "user_correction", "repeated_action", "explicit_instruction"]
    name: str
    draft: dict[str, Any]
    turns: tuple[int, ...]
    score: float
    author: Literal["person", "agent"]


class Mined(Result):
    """What the rules suggest for a session.

    Names of suggestions that were left out: ``skipped`` by a person, ``known`` from another session, or ``replaced`` by a model's
    proposal. ``explanations`` say for each place why a rule fired or did not.
    """

    candidates: tuple[Candidate, ...]
    explanations: tuple[dict[str, Any], ...]
    skipped: tuple[str, ...]
    known: tuple[str, ...]
    recurring: tuple[Candidate, ...]
    replaced: tuple[str, ...]


class Extraction(Result):
    """What a model answered. ``failure`` says why its answer was not used; ``refused`` are proposals that the session does not prove."""

    kind: Literal["proposed", "nothing_to_learn", "nobody_typed", "unreadable", "model_failed", "unknown"]
    failure: str | None
    lessons: tuple[dict[str, Any], ...]
    refused: tuple[dict[str, Any], ...]


class SessionLessons(Result):
    """What was learned from a session. ``mined`` and ``extracted`` are the outcomes of the rules' candidates and the model's lessons."""

    suggested: Mined
    mined: tuple[Learned, ...]
    extraction: Extraction | None
    extracted: tuple[Learned, ...]
    skills: dict[str, Any]


class Document(Result):
    """A document: an id of 1 to 1,024 bytes, a text of at most 1 MiB, and texts to filter by. It is not redacted."""

    id: str
    text: str
    metadata: dict[str, str] = {}


class Hit(Result):
    """A document that matches a query, by its best chunk."""

    document: Document
    score: float
    """Larger is better. Scores of queries by text and by vector are not comparable."""
    distance: float | None
    """The chunk's cosine distance, in [0, 2]; none if no vectors were compared."""
    chunk: dict[str, int]

    @property
    def chunk_text(self) -> str:
        """The text of the chunk."""
        return self.document.text.encode()[self.chunk["start"] : self.chunk["end"]].decode()


class Hits(Result):
    """The result of a query, best first. ``by`` says how the vectors were searched; none if they were not."""

    hits: tuple[Hit, ...]
    by: str | None
