"""The functions that an agent gets as tools, whatever its framework."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ._playbook import Playbook
from ._types import Draft


def lesson_functions(book: Playbook, *, project: str = "", role: str = "") -> list[Callable[..., Awaitable[str]]]:
    """Functions to recall and to learn lessons. Their names, annotations and docstrings are what a model is told."""

    async def recall_lessons(query: str) -> str:
        """Lessons from earlier work about a task, an error or a question.

        Args:
            query: The task, error or question.
        """
        found = await book.acontext(query, project=project, role=role)
        return found.text or "no lesson about this"

    async def learn_lesson(trigger: str, solution: str, mistake: str, situations: list[str]) -> str:
        """Keeps a lesson for later work, after a mistake was understood.

        Args:
            trigger: The situation in which the lesson applies.
            solution: What to do.
            mistake: What went wrong.
            situations: Two or three other wordings of a later task.
        """
        draft = Draft(
            trigger, solution, mistake, situations=tuple(situations), source="agent", project=project, role=role,
            by_program=True,
        )
        (learned,) = await book.alearn_many([draft])
        return f"{learned.outcome}: {learned.why}" if learned.why else learned.outcome

    return [recall_lessons, learn_lesson]
