"""Lessons for the OpenAI Agents SDK (``pip install 'adage[openai-agents]'``).

    from agents import Agent, Runner
    from adage.openai_agents import LessonHooks, lesson_tools, with_lessons

    agent = Agent(name="deployer", instructions=with_lessons(book, "You deploy."), tools=lesson_tools(book))
    hooks = LessonHooks(book, judge=lambda output: "helpful" if "done" in str(output) else None)
    await Runner.run(agent, "push my branch after a rebase", hooks=hooks)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agents import Agent, AgentHookContext, RunContextWrapper, RunHooks, Tool, function_tool

from ._playbook import Playbook
from ._tools import lesson_functions
from ._types import Feedback

__all__ = ["LessonHooks", "lesson_tools", "with_lessons"]

Instructions = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]


def lesson_tools(book: Playbook, *, project: str = "", role: str = "") -> list[Tool]:
    """Two tools for the agent: ``recall_lessons`` and ``learn_lesson``. What it learns counts as a program's."""
    return [function_tool(function) for function in lesson_functions(book, project=project, role=role)]


def with_lessons(book: Playbook, instructions: str, *, project: str = "", role: str = "") -> Instructions:
    """Instructions that begin with yours and end with the lessons for the run's input."""

    async def told(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        task = _task(context.turn_input)
        found = await book.acontext(task, project=project, role=role, peek=True) if task else None
        return f"{instructions}\n\n{found}" if found else instructions

    return told


class LessonHooks(RunHooks[Any]):
    """Counts what the run was shown, and records its outcome.

    Args:
        book: The playbook. It stays open.
        project, role: As in :meth:`adage.Playbook.context`.
        judge: Says how the run ended, from its final output: ``"helpful"``, ``"neutral"``, ``"harmful"``, or None if unknown.
    """

    def __init__(
        self,
        book: Playbook,
        *,
        project: str = "",
        role: str = "",
        judge: Callable[[Any], Feedback | None] | None = None,
    ) -> None:
        self._book = book
        self._realm = {"project": project, "role": role}
        self._judge = judge
        self.receipts: list[str] = []
        """The receipts of the runs so far that have no outcome yet."""

    async def on_agent_start(self, context: AgentHookContext[Any], agent: Any) -> None:
        """Counts the lessons that ``with_lessons`` shows for this input."""
        task = _task(context.turn_input)
        found = await self._book.acontext(task, **self._realm) if task else None
        if found and found.receipt:
            self.receipts.append(found.receipt)

    async def on_agent_end(self, context: AgentHookContext[Any], agent: Any, output: Any) -> None:
        """Records the outcome, if a judge says what it is."""
        feedback = self._judge(output) if self._judge else None
        if feedback:
            receipts, self.receipts = self.receipts, []
            for receipt in receipts:
                await self._book.aoutcome(receipt, feedback)


def _task(items: list[Any]) -> str:
    """The last text of the user."""
    said = [item.get("content") for item in items if isinstance(item, dict) and item.get("role") == "user"]
    return said[-1] if said and isinstance(said[-1], str) else ""
