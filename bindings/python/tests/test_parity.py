"""One table of cases through Python, the command line and the MCP server. The library's own tests run the same table."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import adage

CHECKOUT = Path(os.environ.get("ADAGE_CHECKOUT", Path(__file__).parent / "../../.."))
TABLE = CHECKOUT / "tests/cases/parity.jsonl"
CASES = [json.loads(line) for line in TABLE.read_text().splitlines()] if TABLE.is_file() else []
pytestmark = pytest.mark.skipif(not CASES, reason="the table of cases is not here")

Answer = dict[str, Any]
Step = dict[str, Any]


class Surface:
    """A way to call adage, with what later steps refer to."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.receipt, self.change = folder, "", ""


class InPython(Surface):
    def learn(self, step: Step) -> Answer:
        row = {("solution" if name == "correct_pattern" else name): value for name, value in step["lesson"].items()}
        with self._book() as book:
            (learned,) = book.learn_many([adage.Draft(**row, source="agent", by_program=True)])
        return {"outcome": learned.outcome, "why": learned.why and str(learned.why)}

    def context(self, step: Step) -> Answer:
        with self._book() as book:
            found = book.context(step["query"], limit=step.get("limit"))
        self.receipt = found.receipt or self.receipt
        reason = found.none_because and str(found.none_because)
        return {"text": found.text, "lessons": len(found.lessons), "reason": reason}

    def outcome(self, step: Step) -> Answer:
        with self._book() as book:
            return {"lessons": len(book.outcome(self.receipt, step["feedback"]).lessons)}

    def list(self, _: Step) -> Answer:
        with self._book() as book:
            return {"triggers": [lesson.trigger for lesson in book.list()]}

    def remove(self, step: Step) -> Answer:
        with self._book() as book:
            self.change = book.remove(step["lesson"]).change
            return {"lessons": 1}

    def undo(self, _: Step) -> Answer:
        with self._book() as book:
            undone = book.undo(self.change)
            return {"lessons": len(undone.restored + undone.withdrawn)}

    def _book(self) -> adage.Playbook:
        return adage.Playbook(self.folder, embedder=None)


class Failed(Exception):
    """The program or the server answered with an error."""


class OnTheCommandLine(Surface):
    def learn(self, step: Step) -> Answer:
        flags = {"signs": "sign", "names": "name", "correct_pattern": "correct-pattern"}
        words = ["learn", "--source", "agent"]
        for name, value in step["lesson"].items():
            for one in value if isinstance(value, list) else [value]:
                words += [f"--{flags.get(name, name)}", one]
        (learned,) = self._run(*words)
        return {"outcome": learned["outcome"], "why": learned["why"]}

    def context(self, step: Step) -> Answer:
        limit = ["--limit", str(step["limit"])] if "limit" in step else []
        (found,) = self._run("context", step["query"], *limit)
        self.receipt = found["receipt"] or self.receipt
        return {"text": found["text"], "lessons": len(found["lessons"]), "reason": found["none_because"]}

    def outcome(self, step: Step) -> Answer:
        (credited,) = self._run("outcome", self.receipt, step["feedback"])
        return {"lessons": len(credited.get("lessons", []))}

    def list(self, _: Step) -> Answer:
        return {"triggers": [lesson["trigger"] for lesson in self._run("list")]}

    def remove(self, step: Step) -> Answer:
        (removed,) = self._run("remove", step["lesson"])
        self.change = removed["change"]
        return {"lessons": 1}

    def undo(self, _: Step) -> Answer:
        (undone,) = self._run("undo", self.change)
        return {"lessons": len(undone["restored"] + undone["withdrawn"])}

    def _run(self, *words: str) -> list[Any]:
        program = [sys.executable, "-m", "adage", "--dir", str(self.folder), "--embedder", "none", "--json"]
        done = subprocess.run([*program, *words], capture_output=True, text=True, timeout=60, check=False)
        errors = [json.loads(line) for line in done.stderr.splitlines()]
        if not done.stdout and any("error" in error for error in errors):
            raise Failed(next(error["error"] for error in errors if "error" in error))
        return [json.loads(line) for line in done.stdout.splitlines()]


class OverMcp(Surface):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        words = [sys.executable, "-m", "adage", "mcp", "--dir", str(folder), "--embedder", "none"]
        self._server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self._ask("initialize", about)
        self._send({"method": "notifications/initialized"})

    def close(self) -> None:
        self._server.communicate(timeout=60)

    def learn(self, step: Step) -> Answer:
        lesson = dict(step["lesson"])
        learned = self._call("learn", {**lesson, "solution": lesson.pop("correct_pattern"), **lesson})
        return {"outcome": learned["outcome"], "why": learned["reason"]}

    def context(self, step: Step) -> Answer:
        found = self._call("recall", {name: step[name] for name in ("query", "limit") if name in step})
        self.receipt = found["receipt"] or self.receipt
        return {"text": found["text"], "lessons": len(found["lessons"]), "reason": found["reason"]}

    def outcome(self, step: Step) -> Answer:
        return {"lessons": len(self._call("outcome", {"receipt": self.receipt, "result": step["feedback"]})["lessons"])}

    def list(self, _: Step) -> Answer:
        return {"triggers": [lesson["trigger"] for lesson in self._call("list", {})["lessons"]]}

    def remove(self, step: Step) -> Answer:
        removed = self._call("remove", {"lesson": step["lesson"]})
        self.change = removed["change"]
        return {"lessons": len(removed["lessons"])}

    def undo(self, _: Step) -> Answer:
        return {"lessons": len(self._call("undo", {"change": self.change})["lessons"])}

    def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        arguments.pop("correct_pattern", None)
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result["isError"]:
            raise Failed(result["content"][0]["text"])
        return result["structuredContent"]

    def _ask(self, method: str, params: dict[str, Any]) -> Any:
        self._send({"id": 1, "method": method, "params": params})
        assert self._server.stdout
        return json.loads(self._server.stdout.readline())["result"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._server.stdin.flush()


def answer(surface: Surface, step: Step) -> Answer:
    """The answer without what differs from run to run."""
    try:
        call: Callable[[Step], Answer] = getattr(surface, step["do"])
        told = {name: value for name, value in call(step).items() if value is not None}
    except (adage.Error, Failed) as error:
        told = {"error": str(error)}
    ids = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
    return {name: ids.sub("ID", value) if isinstance(value, str) else value for name, value in told.items()}


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
@pytest.mark.parametrize("kind", [InPython, OnTheCommandLine, OverMcp])
def test_every_surface_answers_as_the_table_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[Surface], case: dict[str, Any]
) -> None:
    for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path)
    surface = kind(tmp_path / "memory")
    answers = [answer(surface, step) for step in case["steps"]]
    if isinstance(surface, OverMcp):
        surface.close()
    assert answers == [step["answer"] for step in case["steps"]]
