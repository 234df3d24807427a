"""adage under the cases of another project: PyPI `memtrust-cli`, a harness for agents' memories.

    python3 -m venv /tmp/memtrust && /tmp/memtrust/bin/pip install memtrust-cli==0.3.8
    /tmp/memtrust/bin/python tests/memtrust_adapter.py target/release/adage

Its evaluations of contradiction, add-only contradiction, result consistency, compression and extraction run as they are. Its
samples of LoCoMo and LongMemEval want a judge, a language model on the network; here a question counts as answered where every
word of three letters and more of the expected answer is in what was shown.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from memtrust.adapters.base import (
    BackendAPIError,
    ConflictSignal,
    DeleteResult,
    MemoryBackendAdapter,
    MemoryRecord,
    QueryResult,
    StoreResult,
    UpdateResult,
)
from memtrust.evals import compression, contradiction, extraction_quality, locomo, longmemeval, result_consistency


class Adage(MemoryBackendAdapter):
    """Facts as lessons: what is stored is trigger and solution at once. A session is a project of one memory."""

    name = "adage"
    supports_update = True

    def __init__(self, program: Path, options: list[str]) -> None:
        self.program, self.options = program, options
        self.folder = tempfile.TemporaryDirectory()
        self.sessions: dict[str, str] = {}

    def call(self, *words: str) -> list[dict]:
        words = [str(self.program), "--dir", f"{self.folder.name}/memory", "--capacity", "1000", "--json", *words]
        state = {"HOME": self.folder.name, "PATH": "/usr/bin:/bin"}
        done = subprocess.run(words, capture_output=True, text=True, env=state, check=False)
        if done.returncode != 0:
            raise BackendAPIError(self.name, done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def store(self, session_id, content, metadata=None, mode=None) -> StoreResult:
        timer = self._timed()
        fact = [f"--trigger={content}", f"--solution={content}"]
        [learned] = self.call("learn", *fact, "--project", session_id)
        name = learned["into"] if learned["outcome"] == "merged" else learned["id"]
        self.sessions[name] = session_id
        return StoreResult(memory_id=name or "", latency_ms=timer.elapsed_ms(), raw=learned)

    def query(self, session_id, query, top_k=5, mode=None) -> QueryResult:
        timer = self._timed()
        words = ["context", query, "--peek", "--project", session_id, "--limit", str(top_k), "--max-tokens", "100000"]
        [context] = self.call(*words, *self.options)
        text_of = {lesson["id"]: lesson["correct_pattern"] for lesson in self.call("list", "--limit", "1000")}
        records = [MemoryRecord(shown["id"], text_of[shown["id"]], shown["score"]) for shown in context["lessons"]]
        marked = any(shown["contradicted_by"] for shown in context["lessons"])
        signal = ConflictSignal.FLAGGED if marked else ConflictSignal.NOT_APPLICABLE
        return QueryResult(records, signal, timer.elapsed_ms(), raw=context)

    def update(self, session_id, memory_id, content) -> UpdateResult:
        timer = self._timed()
        [learned] = self.call("edit", memory_id, f"--trigger={content}", f"--solution={content}")
        return UpdateResult(memory_id=learned["id"], acknowledged=True, latency_ms=timer.elapsed_ms(), raw=learned)

    def delete(self, memory_id) -> DeleteResult:
        timer = self._timed()
        self.call("remove", memory_id)
        return DeleteResult(memory_id=memory_id, acknowledged=True, latency_ms=timer.elapsed_ms())


def words(text) -> set[str]:
    return set(re.findall(r"[^\W_]{3,}", str(text).lower()))


def answered(adapter: Adage, cases) -> str:
    """Of questions with an answer those that what is shown answers; and how many turns are shown for one."""
    n_questions = n_answered = n_shown = 0
    for session, question, answer in cases:
        shown = adapter.query(session, question).records
        n_questions, n_shown = n_questions + 1, n_shown + len(shown)
        n_answered += words(answer) <= words(" ".join(record.content for record in shown))
    return f"{n_answered} of {n_questions} answered, {n_shown / max(n_questions, 1):.1f} turns shown"


def of_locomo(adapter: Adage):
    for conversation in locomo.load_dataset():
        for session in (turns for name, turns in conversation.items() if re.fullmatch(r"session_\d+", name)):
            for turn in session:
                adapter.store(conversation["conversation_id"], f"{turn['speaker']}: {turn['text']}")
        for question in conversation["qa"]:
            if question["category"] != 5:
                yield conversation["conversation_id"], question["question"], question["answer"]


def of_longmemeval(adapter: Adage):
    for example in longmemeval.load_dataset():
        for turns in example["haystack_sessions"]:
            for turn in turns:
                adapter.store(example["question_id"], turn["content"])
        yield example["question_id"], example["question"], example["answer"]


def rates(result, *names: str) -> str:
    shown = ((name, getattr(result, name)) for name in names)
    return ", ".join(f"{name.removesuffix('_rate')} {value:.0%}" for name, value in shown if value is not None)


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    conflict = ("flagged_rate", "silent_overwrite_rate", "served_stale_rate", "empty_or_lost_rate")
    for title, options in [("as shipped", []), ("classic rule, distance below 0.75", ["--threshold", "0.75"])]:
        def new() -> Adage:
            return Adage(program, options)

        print(f"## {title}")
        print("contradiction, by `edit`:", rates(contradiction.run_contradiction_eval(new()), *conflict))
        print("contradiction, add-only:", rates(contradiction.run_add_only_contradiction_eval(new()), *conflict))
        for name, run in [
            ("consistency", result_consistency.run_result_consistency_eval),
            ("compression", compression.run_compression_eval),
            ("extraction", extraction_quality.run_extraction_quality_eval),
        ]:
            result = run(new())
            figures = {key: getattr(result, key) for key in dir(result) if key.endswith(("_rate", "_mean", "rate", "fidelity"))}
            figures = {key: value for key, value in figures.items() if isinstance(value, (int, float))}
            means = result.mean_fidelity_by_mode() if hasattr(result, "mean_fidelity_by_mode") else {}
            print(f"{name}:", ", ".join(f"{key} {value:.0%}" for key, value in {**figures, **means}.items()))
        print("LoCoMo sample:", answered(adapter := new(), list(of_locomo(adapter))))
        print("LongMemEval sample:", answered(adapter := new(), list(of_longmemeval(adapter))))


if __name__ == "__main__":
    main()
