"""The adapter for the Claude Agent SDK, with the SDK's own client and a program in place of Claude Code."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import adage
from conftest import FORCE

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient  # noqa: E402

from adage.claude_agent import LessonHooks  # noqa: E402

# Speaks the SDK's protocol: registers hooks, calls two of them for a prompt, and writes down what they answer.
AGENT = """#!{python}
import json, sys
if "--version" in sys.argv or "-v" in sys.argv:
    print("99.0.0 (Claude Code)"); sys.exit()
def say(value): print(json.dumps(value), flush=True)
answers, hooks = [], {{}}
payload = dict(session_id="s1", transcript_path="", cwd={cwd!r})
def call(event, number, **more):
    (entry,) = hooks[event]
    say(dict(type="control_request", request_id=f"r{{number}}", request=dict(subtype="hook_callback",
        callback_id=entry["hookCallbackIds"][0], tool_use_id=None, input=dict(payload, hook_event_name=event, **more))))
    while True:
        message = json.loads(sys.stdin.readline())
        if message["type"] == "control_response":
            return answers.append(message["response"].get("response"))
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "control_request":
        hooks = message["request"].get("hooks") or hooks
        say(dict(type="control_response", response=dict(subtype="success", request_id=message["request_id"], response={{}})))
    elif message["type"] == "user":
        call("UserPromptSubmit", 1, prompt="push my branch after a rebase")
        call("PreToolUse", 2, tool_name="Bash", tool_input=dict(command="git push --force"), tool_use_id="t1")
        open({report!r}, "w").write(json.dumps(answers))
        say(dict(type="result", subtype="success", duration_ms=1, duration_api_ms=1, is_error=False, num_turns=1,
            session_id="s1", total_cost_usd=0.0, usage={{}}, result="done"))
"""


async def run(program: Path, cwd: Path, folder: Path) -> None:
    async with LessonHooks(folder) as hooks:
        options = ClaudeAgentOptions(cli_path=program, cwd=cwd, hooks=hooks.matchers())
        async with ClaudeSDKClient(options) as client:
            await client.query("push my branch after a rebase")
            async for _ in client.receive_response():
                pass


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home folder of the test's own, in which the program records what it showed."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))


@pytest.mark.skipif(os.name != "posix", reason="the program is a script")
def test_the_agent_gets_the_lesson_with_the_prompt(tmp_path: Path, book: adage.Playbook) -> None:
    program, report = tmp_path / "claude", tmp_path / "report.json"
    program.write_text(AGENT.format(python=sys.executable, cwd=str(tmp_path), report=str(report)))
    program.chmod(0o755)
    asyncio.run(run(program, tmp_path, book.folder))
    prompt, tool = json.loads(report.read_text())
    told = prompt["hookSpecificOutput"]
    assert told["hookEventName"] == "UserPromptSubmit" and FORCE in told["additionalContext"]
    # No lesson is shown twice in a session.
    assert "hookSpecificOutput" not in tool


def ask(hooks: LessonHooks, event: str, **payload: Any) -> Any:
    (matcher,) = hooks.matchers()[event]  # type: ignore[index]
    said: Any = {"session_id": "s2", "transcript_path": "", "cwd": "/", "hook_event_name": event, **payload}
    return asyncio.run(matcher.hooks[0](said, None, {"signal": None}))  # type: ignore[arg-type]


def test_a_lesson_comes_before_its_command_and_a_passed_check_credits_it(book: adage.Playbook) -> None:
    hooks = LessonHooks(book.folder)
    call = {"tool_name": "Bash", "tool_input": {"command": "git push -f"}, "tool_use_id": "t1"}
    assert FORCE in ask(hooks, "PreToolUse", **call)["hookSpecificOutput"]["additionalContext"]
    check = {"tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_use_id": "t2"}
    ask(hooks, "PostToolUse", **check, tool_response={"stdout": "ok", "exit_code": 0})
    asyncio.run(hooks.end())
    assert book.list()[0].helpful_retrievals == 1


def test_a_hook_that_takes_too_long_gives_no_lesson(book: adage.Playbook) -> None:
    assert ask(LessonHooks(book.folder, timeout=0.0), "UserPromptSubmit", prompt="push my branch after a rebase") == {}
