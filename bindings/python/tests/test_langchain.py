"""The adapter for LangChain, with its own agent loop and a model that answers from a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import adage
from conftest import FORCE

pytest.importorskip("langchain")

from langchain.agents import create_agent  # noqa: E402
from langchain_core.language_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatResult  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langgraph.checkpoint.memory import InMemorySaver  # noqa: E402

from adage.langchain import DocumentRetriever, LessonMiddleware  # noqa: E402


class ScriptedModel(BaseChatModel):
    """Gives its answers in order, and keeps what it was asked."""

    answers: list[AIMessage]
    asked: list[list[BaseMessage]] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> ScriptedModel:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        self.asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.answers[len(self.asked) - 1])])


RUN: list[str] = []


@tool
def shell(command: str) -> str:
    """Runs a command line."""
    RUN.append(command)
    return "done"


def push(number: int, command: str = "git push --force") -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "shell", "args": {"command": command}, "id": f"call-{number}"}])


def agent_of(model: ScriptedModel, book: adage.Playbook, **settings: Any) -> Any:
    RUN.clear()
    return create_agent(model, [shell], system_prompt="You deploy.", middleware=[LessonMiddleware(book, **settings)])


TASK = {"messages": [("user", "push my branch after a rebase")]}


def test_the_lessons_for_a_task_are_in_the_system_message(book: adage.Playbook) -> None:
    model = ScriptedModel(answers=[AIMessage("done")], asked=[])
    result = agent_of(model, book).invoke(TASK)
    system = model.asked[0][0]
    assert system.text.startswith("You deploy.\n\n## RELEVANT LESSONS") and FORCE in system.text
    (receipt,) = result["lesson_receipts"]
    assert book.outcome(receipt, "helpful").lessons
    assert "lesson_text" not in result


def test_an_unrelated_task_leaves_the_prompt_as_it_is(book: adage.Playbook) -> None:
    model = ScriptedModel(answers=[AIMessage("Paris")], asked=[])
    result = agent_of(model, book).invoke({"messages": [("user", "What is the capital of France?")]})
    assert model.asked[0][0].text == "You deploy."
    assert result["lesson_receipts"] == []


def test_a_call_with_a_lesson_is_made_at_the_second_try(book: adage.Playbook) -> None:
    model = ScriptedModel(answers=[push(1), push(2, "git push --force-with-lease"), AIMessage("done")], asked=[])
    result = agent_of(model, book).invoke({"messages": [("user", "make the remote like mine")]})
    (told, made) = [message for message in result["messages"] if isinstance(message, ToolMessage)]
    assert told.status == "error" and FORCE in told.text
    assert made.text == "done" and RUN == ["git push --force-with-lease"]


def test_another_call_is_made_at_once(book: adage.Playbook) -> None:
    model = ScriptedModel(answers=[push(1, "git status"), AIMessage("done")], asked=[])
    agent_of(model, book).invoke(TASK)
    assert RUN == ["git status"]


def test_a_judge_credits_what_was_shown(book: adage.Playbook) -> None:
    model = ScriptedModel(answers=[AIMessage("done")], asked=[])
    agent_of(model, book, judge=lambda messages: "harmful" if messages[-1].text == "done" else None).invoke(TASK)
    assert book.list()[0].harmful_retrievals == 1


def test_a_second_run_of_a_thread_begins_without_receipts(book: adage.Playbook) -> None:
    model = ScriptedModel(answers=[AIMessage("done")] * 2, asked=[])
    agent = create_agent(model, [shell], middleware=[LessonMiddleware(book)], checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}
    first, second = agent.invoke(TASK, thread), agent.invoke(TASK, thread)
    assert len(second["lesson_receipts"]) == 1 and second["lesson_receipts"] != first["lesson_receipts"]


async def run_async(agent: Any) -> Any:
    return await agent.ainvoke(TASK)


def test_an_async_run_is_the_same(book: adage.Playbook) -> None:
    import asyncio

    model = ScriptedModel(answers=[push(1), push(2), AIMessage("done")], asked=[])
    result = asyncio.run(run_async(agent_of(model, book)))
    assert FORCE in model.asked[0][0].text
    assert len(RUN) == 1 and len(result["lesson_receipts"]) == 2


def test_a_retriever_gives_documents_with_scores(documents: adage.Documents) -> None:
    retriever = DocumentRetriever(memory=documents, limit=1, where={"type": "note"})
    (found,) = retriever.invoke("when can I write to staging?")
    assert found.id == "db" and found.metadata["team"] == "data" and found.metadata["score"] > 0
