"""Lessons for the Claude Agent SDK (``pip install 'adage[claude-agent]'``), by the hooks of Claude Code.

    from adage.claude_agent import LessonHooks
    from claude_agent_sdk import ClaudeAgentOptions, query

    async with LessonHooks() as hooks:
        async for message in query(prompt="push my branch", options=ClaudeAgentOptions(hooks=hooks.matchers())):
            ...

Each event's payload goes to the program's ``adage hook``: the memory, the limits and what counts as an outcome are the same as in Claude
Code.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any, cast

from claude_agent_sdk import HookContext, HookMatcher
from claude_agent_sdk.types import HookEvent, HookInput, HookJSONOutput

from ._handle import AnyPath

__all__ = ["LessonHooks"]

EVENTS: tuple[HookEvent, ...] = (
    "SubagentStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
)


class LessonHooks:
    """The hooks of one or several sessions.

    The SDK has no event for the end of a session: leaving ``async with``, or ``end()``, ends each session that was seen, which records
    its outcome and queues its transcript.

    Args:
        folder: The memory's folder, which is trusted because you name it. Without it, the memory of the session's working directory and
            your own, as in Claude Code.
        timeout: Seconds after which a hook is given up; the agent then goes on without a lesson.
    """

    def __init__(self, folder: AnyPath | None = None, *, timeout: float = 10.0) -> None:
        self._options = [] if folder is None else ["--dir", os.fspath(folder), "--trust"]
        self._timeout = timeout
        self._sessions: dict[str, dict[str, Any]] = {}

    def matchers(self) -> dict[HookEvent, list[HookMatcher]]:
        """For ``ClaudeAgentOptions(hooks=…)``. To combine them with your own, append to its lists."""
        return {event: [HookMatcher(hooks=[self._hook])] for event in EVENTS}

    async def end(self) -> None:
        """Ends the sessions that were seen."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for payload in sessions:
            await self._ask({**payload, "hook_event_name": "SessionEnd", "reason": "other"})

    async def __aenter__(self) -> LessonHooks:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def _hook(self, payload: HookInput, tool_use_id: str | None, context: HookContext) -> HookJSONOutput:
        common = {key: payload[key] for key in ("session_id", "transcript_path", "cwd") if key in payload}
        self._sessions[payload["session_id"]] = common
        return cast(HookJSONOutput, await self._ask(dict(payload)))

    async def _ask(self, payload: dict[str, Any]) -> dict[str, Any]:
        """The program's answer; an empty one if it cannot be had, because a hook never stops the agent."""
        words = ["-m", "adage", *self._options, "hook", payload["hook_event_name"], "--agent", "claude-code"]
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            program = await asyncio.create_subprocess_exec(
                sys.executable, *words, stdin=pipe, stdout=pipe, stderr=nowhere
            )
        except OSError:
            return {}
        try:
            printed, _ = await asyncio.wait_for(program.communicate(json.dumps(payload).encode()), self._timeout)
            answer = json.loads(printed)
        except (asyncio.TimeoutError, ValueError):
            if program.returncode is None:
                program.kill()
                await program.wait()
            return {}
        return answer if isinstance(answer, dict) else {}
