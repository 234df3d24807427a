"""The adapter for Pydantic AI, with its own model for tests."""

from __future__ import annotations

import pytest

import adage
from conftest import FORCE, PUSH

pytest.importorskip("pydantic_ai")

from pydantic_ai import Agent  # noqa: E402
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart  # noqa: E402
from pydantic_ai.models.function import AgentInfo, FunctionModel  # noqa: E402

from adage.pydantic_ai import lesson_toolset  # noqa: E402


def run(book: adage.Playbook, task: str, *answers: TextPart | ToolCallPart) -> list[str]:
    """What the model is told at each step."""
    told, left = [], list(answers)

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        told.append(f"{info.instructions}{messages}")
        return ModelResponse(parts=[left.pop(0)])

    Agent(FunctionModel(answer), toolsets=[lesson_toolset(book)]).run_sync(task)
    return told


def test_lessons_for_the_prompt_are_instructions(book: adage.Playbook) -> None:
    (told,) = run(book, "push my branch after a rebase", TextPart("done"))
    assert FORCE in told
    assert book.credit_recent() == 1 and book.find(PUSH).helpful_retrievals == 1


def test_an_unrelated_prompt_has_none(book: adage.Playbook) -> None:
    (told,) = run(book, "What is the capital of France?", TextPart("Paris"))
    assert "LESSONS" not in told


def test_the_agent_learns_by_a_tool(book: adage.Playbook) -> None:
    lesson = {"trigger": "pinning numpy", "solution": "Pin numpy below 2.0.", "mistake": "ABI", "situations": ["pip"]}
    _, told = run(book, "hello", ToolCallPart("learn_lesson", lesson), TextPart("done"))
    assert "inserted" in told
    assert book.find("pinning numpy").situations == ("pip",)
