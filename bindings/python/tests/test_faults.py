"""Errors, closing, threads, processes and interrupts."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adage
from conftest import FORCE, PUSH


def python(folder: Path, code: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Runs code in another process, with the folder as its argument."""
    words = [sys.executable, "-c", textwrap.dedent(code), str(folder)]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=False, **settings)


Call = Callable[[adage.Playbook], object]


@pytest.mark.parametrize(
    ("call", "expected", "attributes"),
    [
        (lambda book: book.find("x"), adage.NoSuchLessonError, {"lesson": 'trigger "x"'}),
        (lambda book: book.outcome(book.find(PUSH).id, "helpful"), adage.NoSuchReceiptError, {}),
        (lambda book: book.outcome("x", "helpful"), adage.ArgumentError, {}),
        (lambda book: book.outcome(book.find(PUSH).id, "good"), adage.ArgumentError, {}),
        (lambda book: book.undo(book.find(PUSH).id), adage.NoSuchChangeError, {}),
        (lambda book: book.undo_merge(PUSH), adage.NoSuchMergeError, {}),
        (lambda book: book.context("x", tier="words"), adage.ArgumentError, {}),
        (lambda book: book.context("x", limit=-1), adage.ArgumentError, {}),
        (lambda book: book.list(window="year"), adage.ArgumentError, {}),
        (lambda book: book.learn("a", "b", situations="one text"), adage.ArgumentError, {}),
        (lambda book: book.edit(PUSH, signs="one text"), adage.ArgumentError, {}),
        (lambda book: book.context("x", touching="src/main.rs"), adage.ArgumentError, {}),
        (lambda book: book.learn("a\ud800", "b"), adage.ArgumentError, {}),
        (lambda book: book.learn("a", b"b"), adage.ArgumentError, {}),
        (lambda book: book.export_text("yaml"), adage.ExchangeError, {}),
        (lambda book: book.import_text("no known format"), adage.ExchangeError, {}),
        (lambda book: book.credit_recent(-1), adage.ArgumentError, {}),
        (lambda book: adage.Playbook(book.folder, config={"a": 1}), adage.ConfigError, {}),
        (lambda book: adage.Playbook(book.folder, config={"retrieval": {"limit": "x"}}), adage.ConfigError, {}),
        (lambda book: adage.Documents(book.folder), adage.WrongKindError, {}),
        (lambda book: adage.Playbook(book.folder, read_only=True).remove(PUSH), adage.ReadOnlyError, {}),
        (lambda book: adage.Playbook(book.folder / "skills_playbook.json"), adage.FolderIOError, {}),
    ],
)
def test_each_error_has_a_class(book: adage.Playbook, call: Call, expected: type[adage.Error], attributes: dict[str, Any]) -> None:
    before = book.list()
    with pytest.raises(expected) as raised:
        call(book)
    error = raised.value
    assert type(error) is expected and str(error) and isinstance(error, adage.Error)
    assert {name: getattr(error, name) for name in attributes} == attributes
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), vars(again)) == (str(error), vars(error))
    assert book.list() == before


def test_errors_are_those_that_python_has_too(book: adage.Playbook) -> None:
    with pytest.raises(LookupError):
        book.find("x")
    with pytest.raises(ValueError, match="not an id"):
        book.undo("x")
    with pytest.raises(OSError, match="could not") as raised:
        adage.Playbook(book.folder / "skills_playbook.json")
    assert raised.value.errno and isinstance(raised.value, adage.FolderError) and raised.value.path


def test_an_argument_that_is_wrong_is_named(book: adage.Playbook, documents: adage.Documents) -> None:
    with pytest.raises(adage.ArgumentError, match=r"^limit: invalid value: number `-1`, expected a whole number, 0 or more$"):
        book.context("x", limit=-1)
    with pytest.raises(adage.ArgumentError, match=r"^\[0\].metadata.year: invalid type: number `2021`, expected a string$"):
        documents.add("m", "t", {"year": 2021})  # type: ignore[dict-item]
    with pytest.raises(adage.ArgumentError, match="^situations: a list"):
        book.learn("a", "b", situations="one text")


def test_an_ambiguous_trigger_names_the_lessons(book: adage.Playbook) -> None:
    book.learn(PUSH, "Use --force, never --force-with-lease.")
    with pytest.raises(adage.AmbiguousError) as raised:
        book.remove(PUSH)
    assert sorted(raised.value.ids) == sorted(lesson.id for lesson in book.list())


def test_a_change_that_cannot_be_undone_says_why(book: adage.Playbook) -> None:
    change = book.remove(PUSH).change
    book.undo(change)
    with pytest.raises(adage.CannotUndoError) as raised:
        book.undo(change)
    assert raised.value.reason == "it was undone already"


def test_a_closed_memory_is_refused(book: adage.Playbook, documents: adage.Documents) -> None:
    for memory in (book, documents):
        memory.close()
        memory.close()
        assert not memory.is_open and "closed" in repr(memory)
    with pytest.raises(adage.ClosedError):
        book.context(PUSH)
    with pytest.raises(adage.ClosedError):
        documents.count()


HOLDER = """
    import fcntl, glob, sys
    held = [open(path, "a") for path in glob.glob(sys.argv[1] + "/**/*lock*", recursive=True)]
    for file in held:
        fcntl.flock(file, fcntl.LOCK_EX)
    print(len(held), flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the lock is taken by flock")
def test_a_locked_folder_is_an_error_and_nothing_is_lost(book: adage.Playbook) -> None:
    words = [sys.executable, "-c", textwrap.dedent(HOLDER), str(book.folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout and int(holder.stdout.readline()) > 0
        with adage.Playbook(book.folder, config={"store": {"lock_timeout": 0.2}}) as other:
            assert other.context(PUSH)
            with pytest.raises(adage.LockedError) as raised:
                other.learn("pinning numpy", "Pin numpy below 2.0.")
            with pytest.raises(adage.LockedError):
                other.check_writable()
        assert raised.value.waited >= 0.2
        holder.communicate("")
    assert book.learn("pinning numpy", "Pin numpy below 2.0.").outcome == "inserted"


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork")
def test_a_forked_process_is_refused_and_the_first_one_goes_on(book: adage.Playbook) -> None:
    done = python(
        book.folder,
        """
        import os, sys, adage
        book = adage.Playbook(sys.argv[1])
        book.context("push my branch after a rebase")
        child = os.fork()
        if child == 0:
            try:
                book.stats()
            except adage.ForkedError as error:
                print("refused:", error, book.is_open, flush=True)
            book.close()
            with adage.Playbook(sys.argv[1]) as own:
                own.learn("pinning numpy", "Pin numpy below 2.0.")
            sys.exit(0)
        os.waitpid(child, 0)
        print(book.stats().n_lessons, book.is_open)
        """,
    )
    assert done.returncode == 0, done.stderr
    refused, rest = done.stdout.splitlines()
    assert refused.startswith("refused: this process was forked") and refused.endswith("False")
    assert rest == "2 True"
    assert book.find(PUSH).retrievals == 1


def test_an_interpreter_that_ends_with_open_handles_writes_its_counts(book: adage.Playbook) -> None:
    done = python(
        book.folder,
        """
        import sys, threading, adage
        book = adage.Playbook(sys.argv[1])
        kept = [book, adage.Documents(sys.argv[1] + "-documents")]
        kept.append(kept)
        for _ in range(3):
            assert book.context("push my branch after a rebase").receipt
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert book.find(PUSH).retrievals == 3


@pytest.mark.skipif(sys.platform == "win32", reason="it needs signals, and the lock is taken by flock")
def test_an_interrupt_during_a_long_call_is_raised_after_the_commit(book: adage.Playbook) -> None:
    import fcntl

    # The call waits for the lock, and says so; the interrupt comes then.
    code = """
        import logging, sys, adage
        logging.basicConfig(stream=sys.stdout, format="%(message)s")
        book = adage.Playbook(sys.argv[1], embedder="hashing", config={"store": {"lock_timeout": 60}})
        try:
            book.learn("pinning numpy", "Pin numpy below 2.0.")
            print("not interrupted")
        except KeyboardInterrupt:
            print("interrupted", book.stats().n_lessons)
    """
    words = [sys.executable, "-c", textwrap.dedent(code), str(book.folder)]
    with (book.folder / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        running = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        assert running.stdout and running.stdout.readline().startswith("waiting for the lock")
        running.send_signal(signal.SIGINT)
    assert running.communicate(timeout=60)[0] == "interrupted 2\n"
    assert running.returncode == 0 and book.stats().n_lessons == 2


def test_threads_share_a_handle(tmp_path: Path) -> None:
    # A writer waits for the commits of all threads before it: on a busy machine, eight take longer than it waits by default.
    book = adage.Playbook(tmp_path, config={"store": {"lock_timeout": 60}, "retention": {"capacity": 100}})
    book.learn(PUSH, FORCE)
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(5):
                assert FORCE in book.context("push my branch after a rebase").text
                book.learn(f"topic {number} number {step}", f"Do {number} then {step}.")
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert book.find(PUSH).retrievals == 40


def test_other_threads_run_while_a_call_works(book: adage.Playbook) -> None:
    drafts = [adage.Draft(f"situation {n} of the {n * 7919}", f"Do step {n}.") for n in range(100)]
    worker = threading.Thread(target=book.learn_many, args=(drafts,))
    worker.start()
    n_turns = 0
    while worker.is_alive():
        time.sleep(0.001)
        n_turns += 1
    worker.join()
    assert n_turns > 5
