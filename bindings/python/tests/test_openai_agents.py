"""The adapter for the OpenAI Agents SDK, with its own runner and a model that answers from a list."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import adage
from conftest import FORCE, PUSH

pytest.importorskip("agents")

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from adage.openai_agents import LessonHooks, lesson_tools, with_lessons  # noqa: E402

set_tracing_disabled(True)


class ScriptedModel(Model):
    """Gives its outputs in order, and keeps what it was asked."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs, self.instructions, self.inputs = list(outputs), [], []

    async def get_response(self, system_instructions: str | None, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.instructions.append(system_instructions)
        self.inputs.append(input)
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def said(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


def called(name: str, **arguments: Any) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(call_id=f"call-{name}", name=name, arguments=json.dumps(arguments), type="function_call")


def run(book: adage.Playbook, model: ScriptedModel, task: str, hooks: LessonHooks | None = None) -> Any:
    agent = Agent(name="deployer", instructions=with_lessons(book, "You deploy."), tools=lesson_tools(book), model=model)
    return asyncio.run(Runner.run(agent, task, hooks=hooks))


def test_lessons_are_in_the_instructions_and_the_outcome_is_credited(book: adage.Playbook) -> None:
    model, hooks = ScriptedModel(said("done")), LessonHooks(book, judge=lambda output: "helpful")
    run(book, model, "push my branch after a rebase", hooks)
    assert model.instructions[0].startswith("You deploy.") and FORCE in model.instructions[0]
    lesson = book.find(PUSH)
    assert (lesson.retrievals, lesson.helpful_retrievals, hooks.receipts) == (1, 1, [])


def test_without_a_judge_the_receipts_are_kept(book: adage.Playbook) -> None:
    hooks = LessonHooks(book)
    run(book, ScriptedModel(said("done")), "push my branch after a rebase", hooks)
    assert book.outcome(hooks.receipts[0], "neutral").lessons


def test_the_agent_recalls_and_learns_by_tools(book: adage.Playbook) -> None:
    model = ScriptedModel(
        called("recall_lessons", query="push my branch after a rebase"),
        called("learn_lesson", trigger="pinning numpy", solution="Pin numpy below 2.0.", mistake="ABI", situations=[]),
        said("done"),
    )
    run(book, model, "What is the capital of France?")
    assert model.instructions[0] == "You deploy."
    assert FORCE in str(model.inputs[1])
    learned = book.find("pinning numpy")
    assert (learned.source, learned.provenance.origin) == ("agent", "program")
