"""Past sessions of coding agents, and what they teach."""

from __future__ import annotations

import os
from collections.abc import Callable
from json import loads
from typing import Any, Literal, Union

from . import _native
from ._decode import decode, decode_list, encode
from ._errors import ArgumentError
from ._handle import AnyPath, in_thread
from ._types import DueSessions, Mined, RunOutcome, RunRecord, SessionLessons, SessionScan, Transcript

Model = Callable[[str, str], str]
"""A language model of yours: ``model(system, user)`` returns its whole answer. ``system`` are instructions, ``user`` is data."""

SessionFormat = Literal["auto", "claude-code", "codex", "gemini", "pi", "openai", "anthropic"]
"""The format of a session; ``auto`` finds it from the first records."""


class Sessions:
    """The sessions of agents that a playbook learns from (``book.sessions``). What is found awaits a person in ``book.review``.

    A session is a file of Claude Code, Codex, gemini-cli or pi, also gzipped, or a :class:`Transcript`: the messages that your
    program has. Secrets are redacted before rules or a model read it. A file that others can have written (in no agent's own place
    and format, unless you name its format) is read too; its lessons are marked ``tainted``.

    Without a ``model``, five rules find candidates. A model that raises loses nothing: what the rules found is learned, and
    ``failure`` or the history says what was raised. ``KeyboardInterrupt`` is raised when the session has been finished.
    """

    def __init__(self, book: _native.NativePlaybook) -> None:
        self._native = _native.NativeSessions(book)

    def scan(self, folder: AnyPath) -> SessionScan:
        """The sessions below a folder, such as ``~/.claude/projects``, those to be read first. Nothing is learned.

        Raises:
            FolderIOError: The folder cannot be read.
        """
        return decode(SessionScan, self._native.scan(folder))

    def due(self, folder: AnyPath) -> DueSessions:
        """The sessions that ``learn`` would read now: the queued ones and those of the folder that are worth it, 10 at most."""
        return decode(DueSessions, self._native.due(folder))

    def learn(self, folder: AnyPath, *, model: Model | None = None) -> RunOutcome:
        """Learns from the sessions that are due. One run at a time, in all processes; a session that fails is tried three times.

        A session is due when it was last written 3 hours ago and has 10 user turns. The next run is due after half an hour.
        """
        return decode(RunOutcome, self._native.learn(folder, _function(model)))

    def learn_from(
        self, session: AnyPath | Transcript, *, model: Model | None = None, format: SessionFormat = "auto"
    ) -> SessionLessons:
        """Learns from one session now. The same session again adds nothing.

        Raises:
            TranscriptError: It has no known format.
            FolderIOError: It cannot be read.
        """
        return decode(SessionLessons, self._native.learn_from(_recorded(session), format, _function(model)))

    def mine(self, session: AnyPath | Transcript, *, format: SessionFormat = "auto") -> Mined:
        """What the rules suggest for a session. Nothing is learned. Raises the same errors as ``learn_from``."""
        return decode(Mined, self._native.mine(_recorded(session), format))

    def queue(self, path: AnyPath) -> None:
        """Notes a session for the next run, wherever its file is and however recent: for a program that ends before it learns."""
        self._native.queue(path)

    def history(self) -> tuple[RunRecord, ...]:
        """The last 50 runs, oldest first, including those that failed."""
        return decode_list(RunRecord, self._native.history())

    def skip(self, name: str) -> int:
        """Records that a person does not want a suggestion of this name: it is not made for 30 days. Returns how often so far."""
        return self._native.skip(name)

    def skips(self) -> tuple[dict[str, Any], ...]:
        """The skipped suggestions: ``name``, ``at`` and ``times``."""
        return tuple(loads(self._native.skips()))

    def reset_skips(self, name: str | None = None) -> int:
        """Lets a skipped suggestion be made again, or all of them. Returns their number."""
        return self._native.reset_skips(name)

    async def alearn(self, folder: AnyPath, *, model: Model | None = None) -> RunOutcome:
        """``learn`` on a thread, where ``model`` is called too."""
        return await in_thread(self.learn, folder, model=model)

    async def alearn_from(
        self, session: AnyPath | Transcript, *, model: Model | None = None, format: SessionFormat = "auto"
    ) -> SessionLessons:
        """``learn_from`` on a thread, where ``model`` is called too."""
        return await in_thread(self.learn_from, session, model=model, format=format)


def _recorded(session: AnyPath | Transcript) -> Union[AnyPath, tuple[str, str, str]]:
    if isinstance(session, Transcript):
        return encode([*session.messages]), session.session, session.project
    if isinstance(session, (str, os.PathLike)):
        return session
    raise ArgumentError(f"a session is a path or a Transcript(messages, session), not {type(session).__name__}")


def _function(model: Model | None) -> Model | None:
    if model is None or callable(model):
        return model
    raise ArgumentError(f"a model is a function of two texts, (system, user), not {type(model).__name__}")
