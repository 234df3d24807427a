"""The errors of adage.

Every error is an :class:`Error`. Its message says what happened, to what, and what to do; its attributes have the parts. Nothing
was changed unless the message says so.
"""

from __future__ import annotations

__all__ = [
    "AmbiguousError",
    "ArgumentError",
    "CalibrateError",
    "CannotApplyError",
    "CannotUndoError",
    "ClosedError",
    "ConfigError",
    "ContendedError",
    "DocumentError",
    "DocumentExistsError",
    "EmbedError",
    "Error",
    "ExchangeError",
    "FileChangedError",
    "FileTooLargeError",
    "FolderError",
    "FolderIOError",
    "FolderReplacedError",
    "ForkedError",
    "IrregularFileError",
    "LockedError",
    "ModelLoadError",
    "NewerSchemaError",
    "NoEmbedderError",
    "NoFolderIdError",
    "NoSuchChangeError",
    "NoSuchDocumentError",
    "NoSuchLessonError",
    "NoSuchMergeError",
    "NoSuchProposalError",
    "NoSuchReceiptError",
    "NoSuchSkillError",
    "NoTrustStoreError",
    "NotTrustedError",
    "ProposalChangedError",
    "ProposalError",
    "ReadOnlyError",
    "ReentrantError",
    "SkillError",
    "SkillExistsError",
    "TranscriptError",
    "UnreadableError",
    "VectorError",
    "WritesStoppedError",
    "WrongKindError",
]

class Error(Exception):
    """An error of adage."""

    def __init__(self, message: str = "", **details: object) -> None:
        super().__init__(message)
        self.__dict__.update(details)

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again, (type(self), str(self), vars(self))

    def __init_subclass__(cls) -> None:
        cls.__module__ = "adage"


class ArgumentError(Error, ValueError):
    """An argument cannot be read: an unknown name, a value out of range, a text that is not an id."""


class ClosedError(Error):
    """The memory was closed. Open it again."""


class ForkedError(Error):
    """The process was forked after the memory was opened. Open the memory in the new process, or start it by ``spawn``."""


class ReentrantError(Error):
    """An embedder called a memory while the memory waited for it."""


class FolderError(Error):
    """The folder of a memory, or one of its files."""

    path: str


class FolderIOError(FolderError, OSError):
    """An operation on a file failed; nothing was committed. ``errno`` is the operating system's number, or None."""

    def __init__(self, message: str = "", **details: object) -> None:
        FolderError.__init__(self, message, **details)
        number = details.get("errno")
        self.errno = number if isinstance(number, int) else None

    def __str__(self) -> str:
        return str(self.args[0])


class IrregularFileError(FolderError):
    """A link, a folder or a device is in place of a file. It was not touched: look at it, then remove it."""


class UnreadableError(FolderError):
    """A file became unreadable while the folder was open. Repair it, or open the folder again to restore the backup."""


class FileTooLargeError(FolderError):
    """A file is longer than what is read of it: it has ``size`` bytes, at most ``limit`` are read."""

    size: int
    limit: int


class NewerSchemaError(FolderError):
    """A newer version wrote the file (``found``, this one writes ``supported``): the folder is open for reading only."""

    found: int
    supported: int


class ReadOnlyError(FolderError):
    """The memory was opened for reading."""


class NotTrustedError(FolderError):
    """The user has neither made nor trusted the folder. ``adage trust --show`` prints what is in it."""


class WrongKindError(FolderError):
    """The folder of a playbook was opened as documents, or the reverse. Each needs a folder of its own."""


class FolderReplacedError(FolderError):
    """Another folder is at the path of the one that was opened. Open it again."""


class NoFolderIdError(FolderError):
    """The file with the folder's id has other content. Look at it, then remove it."""


class NoTrustStoreError(FolderError):
    """A decision about a folder cannot be recorded: the memory has no trust store."""


class LockedError(FolderError):
    """Another process (``pid``, if it is known) held the lock for ``waited`` seconds. Try again, or end that process."""

    pid: int | None
    waited: float


class WritesStoppedError(FolderError):
    """An earlier write could not be synced to disk, so this memory refuses further ones. Open the folder again."""


class ConfigError(Error, ValueError):
    """A setting cannot be used."""


class VectorError(Error, ValueError):
    """A vector cannot be used: another dimension, a component that is not finite, or no direction."""


class EmbedError(Error):
    """The embedder failed. What your own embedder raised is the ``__cause__``."""


class ModelLoadError(EmbedError):
    """The embedding model or its tokenizer could not be loaded."""


class NoEmbedderError(Error):
    """The call needs vectors, and the memory was opened without an embedder."""


class TranscriptError(Error):
    """A session could not be read."""


class ExchangeError(Error):
    """Lessons could not be exchanged; no file was changed."""


class CalibrateError(Error):
    """Labelled queries cannot be fitted to."""


class ContendedError(Error):
    """Other processes changed the folder during each of ``rounds`` attempts to commit."""

    rounds: int


class NoSuchLessonError(Error, LookupError):
    """No lesson has this id or trigger (``lesson``)."""

    lesson: str


class AmbiguousError(Error, LookupError):
    """Several lessons (``ids``) have this ``trigger``; name one by id."""

    trigger: str
    ids: list[str]


class NoSuchReceiptError(Error, LookupError):
    """The ``receipt`` is unknown or older than 7 days."""

    receipt: str


class NoSuchChangeError(Error, LookupError):
    """No ``change`` with this id is recorded."""

    change: str


class NoSuchMergeError(Error, LookupError):
    """No merge into this ``lesson`` is left to undo."""

    lesson: str


class CannotUndoError(Error):
    """The ``change`` cannot be undone, for this ``reason``."""

    change: str
    reason: str


class FileChangedError(Error):
    """A file (``path``) has changed since its edit was prepared."""

    path: str


class SkillError(Error):
    """A skill could not be read or written."""


class NoSuchSkillError(SkillError, LookupError):
    """No skill has this ``name``."""

    name: str


class SkillExistsError(SkillError):
    """Another skill has this ``name``."""

    name: str


class ProposalError(Error):
    """A proposal cannot be shown, applied or dismissed."""


class NoSuchProposalError(ProposalError, LookupError):
    """No proposal with this ``name`` awaits review."""

    name: str


class ProposalChangedError(ProposalError):
    """The proposal (``name``) has changed since it was listed; list it again."""

    name: str


class CannotApplyError(ProposalError):
    """The proposal (``name``), or an undo of edits, cannot be applied."""

    name: str


class NoSuchDocumentError(Error, LookupError):
    """No document has this ``id``."""

    id: str


class DocumentExistsError(Error):
    """A document with this ``id`` exists; replace it with ``update`` or ``put_all``."""

    id: str


class DocumentError(Error, ValueError):
    """A document (``id``) cannot be stored: a part is empty or too long."""

    id: str


Error.__module__ = "adage"


def _made_again(wanted: type[Error], message: str, details: dict[str, object]) -> Error:
    """For pickle, which would not pass on the details."""
    return wanted(message, **details)
