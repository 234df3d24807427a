"""The hooks of the Claude Agent SDK. Run: pip install 'adage[claude-agent]'; python claude_agent.py

With an argument, Claude Code is asked; without one, the hooks are called as the SDK calls them.
"""

import asyncio
import sys
import tempfile

import adage
from adage.claude_agent import LessonHooks
from claude_agent_sdk import ClaudeAgentOptions, query


async def main() -> None:
    folder = tempfile.mkdtemp()
    with adage.Playbook(folder) as book:
        book.learn("pushing a rebased branch", "Use --force-with-lease, never --force.", commands=["git push*"])
    async with LessonHooks(folder) as hooks:
        options = ClaudeAgentOptions(hooks=hooks.matchers())
        if len(sys.argv) > 1:
            async for message in query(prompt=sys.argv[1], options=options):
                print(message)
            return
        (matcher,) = options.hooks["PreToolUse"]
        event = {"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": folder}
        call = {"tool_name": "Bash", "tool_input": {"command": "git push -f"}, "tool_use_id": "t"}
        print(await matcher.hooks[0]({**event, **call}, "t", {"signal": None}))


asyncio.run(main())
