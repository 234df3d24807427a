"""Lessons for Pydantic AI (``pip install 'adage[pydantic-ai]'``).

    from pydantic_ai import Agent
    from adage.pydantic_ai import lesson_toolset

    agent = Agent(model, toolsets=[lesson_toolset(book, project="web")])
    result = agent.run_sync("push my branch after a rebase")
"""

from __future__ import annotations

from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.toolsets import FunctionToolset

from ._playbook import Playbook
from ._tools import lesson_functions

__all__ = ["lesson_toolset"]


def lesson_toolset(book: Playbook, *, project: str = "", role: str = "") -> FunctionToolset[Any]:
    """Two tools, ``recall_lessons`` and ``learn_lesson``, and instructions with the lessons for the run's prompt.

    What the agent learns counts as a program's. Record the outcome by ``book.credit_recent()``, or of the receipt of a context that you
    asked for yourself.
    """

    async def lessons(context: RunContext[Any]) -> str | None:
        prompt = context.prompt
        if not isinstance(prompt, str) or not prompt.strip():
            return None
        found = await book.acontext(prompt, project=project, role=role)
        return found.text or None

    functions = lesson_functions(book, project=project, role=role)
    return FunctionToolset(functions, instructions=[lessons], id="adage")
