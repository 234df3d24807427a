"""Lessons for agents of LangChain and LangGraph (``pip install 'adage[langchain]'``).

    from langchain.agents import create_agent
    from adage.langchain import LessonMiddleware

    agent = create_agent(model, tools, middleware=[LessonMiddleware(book, project="web")])
    result = agent.invoke({"messages": [("user", "push my branch after a rebase")]})
    for receipt in result["lesson_receipts"]:
        book.outcome(receipt, "helpful")

DocumentRetriever is a retriever over :class:`adage.Documents`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import OmitFromInput, PrivateStateAttr
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as LangChainDocument
from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.retrievers import BaseRetriever
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from ._documents import Documents
from ._handle import in_thread
from ._playbook import Playbook
from ._types import Context, Feedback

__all__ = ["DocumentRetriever", "LessonMiddleware", "LessonState"]

COMMAND_KEYS = ("command", "cmd")
PATH_KEYS = ("file_path", "path", "filename")


def _joined(known: list[str] | None, more: list[str] | tuple[str, ...]) -> list[str]:
    """The receipts of a run; a tuple begins another run of the same thread."""
    return list(more) if isinstance(more, tuple) else [*(known or []), *more]


class LessonState(AgentState[Any]):
    """The agent's state, with the lessons of this run."""

    lesson_text: NotRequired[Annotated[str, PrivateStateAttr]]
    lesson_receipts: NotRequired[Annotated[list[str], OmitFromInput, _joined]]
    """The receipts of what was shown in this run, for :meth:`adage.Playbook.outcome`."""


class LessonMiddleware(AgentMiddleware[LessonState, Any, Any]):
    """Lessons for the task before the model is called, and lessons about a call before a tool runs.

    The lessons for the last message of the user are added to the system message. A tool call whose command or path matches the pattern
    of a lesson that this run has not shown yet is not made: the model gets the lesson as the tool's answer, and decides again. A second
    call is made.

    Args:
        book: The playbook. It stays open.
        project, role: As in :meth:`adage.Playbook.context`.
        judge: Says how the run ended, from its messages: ``"helpful"``, ``"neutral"``, ``"harmful"``, or None if that is unknown. The
            lessons that were shown are credited with it. Without a judge, record the outcome yourself, by ``lesson_receipts``.
    """

    state_schema = LessonState

    def __init__(
        self,
        book: Playbook,
        *,
        project: str = "",
        role: str = "",
        judge: Callable[[list[AnyMessage]], Feedback | None] | None = None,
    ) -> None:
        super().__init__()
        self.tools = []
        self._book = book
        self._context = partial(book.context, project=project, role=role)
        self._judge = judge

    def before_agent(self, state: LessonState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Finds the lessons for the task."""
        asked = [message for message in state["messages"] if isinstance(message, HumanMessage)]
        if not asked or not asked[-1].text.strip():
            return {"lesson_text": "", "lesson_receipts": ()}
        context = self._context(asked[-1].text, without_recoveries=True)
        return {"lesson_text": context.text, "lesson_receipts": tuple(_receipts(context))}

    async def abefore_agent(self, state: LessonState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As ``before_agent``, on a thread."""
        return await in_thread(self.before_agent, state, runtime)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Adds the lessons to the system message."""
        return handler(_with_lessons(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any]:
        """As ``wrap_model_call``."""
        return await handler(_with_lessons(request))

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]]
    ) -> ToolMessage | Command[Any]:
        """Answers with a lesson about the call, or makes it."""
        return self._lesson_about(request) or handler(request)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]]
    ) -> ToolMessage | Command[Any]:
        """As ``wrap_tool_call``."""
        return await in_thread(self._lesson_about, request) or await handler(request)

    def after_agent(self, state: LessonState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Records the outcome, if a judge says what it is."""
        feedback = self._judge(state["messages"]) if self._judge else None
        for receipt in state.get("lesson_receipts", []) if feedback else []:
            self._book.outcome(receipt, feedback)  # type: ignore[arg-type]
        return None

    async def aafter_agent(self, state: LessonState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """As ``after_agent``, on a thread."""
        return await in_thread(self.after_agent, state, runtime)

    def _lesson_about(self, request: ToolCallRequest) -> Command[Any] | None:
        call = request.tool_call
        running, touching = _texts(call["args"], COMMAND_KEYS), _texts(call["args"], PATH_KEYS)
        shown = _told_before(request.state["messages"])
        if not running and not touching:
            return None
        asked = " ".join([*running, *touching])
        peeked = self._context(asked, running=running, touching=touching, except_=shown, peek=True)
        about = [lesson.id for lesson in peeked.lessons if lesson.matched]
        if not about:
            return None
        context = self._context(asked, running=running, touching=touching, except_=shown, limit=len(about))
        told = ToolMessage(
            f"The call was not made, because of a lesson about it. Make it again if it is still right.\n\n{context.text}",
            name=call["name"],
            tool_call_id=call["id"],
            artifact={"adage_lessons": about},
            status="error",
        )
        return Command(update={"messages": [told], "lesson_receipts": _receipts(context)})


def _with_lessons(request: ModelRequest[Any]) -> ModelRequest[Any]:
    text = request.state.get("lesson_text", "")
    if not text:
        return request
    said = request.system_message.text if request.system_message else ""
    return request.override(system_message=SystemMessage(f"{said}\n\n{text}".strip()))


def _receipts(context: Context) -> list[str]:
    return [context.receipt] if context.receipt else []


def _texts(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> list[str]:
    return [value for key in keys if isinstance(value := arguments.get(key), str) and value.strip()]


def _told_before(messages: list[AnyMessage]) -> list[str]:
    artifacts = [message.artifact for message in messages if isinstance(message, ToolMessage)]
    return [id for artifact in artifacts if isinstance(artifact, dict) for id in artifact.get("adage_lessons", [])]


class DocumentRetriever(BaseRetriever):
    """Documents that match a question, best first, with their scores in the metadata (``score``, ``distance``, ``id``)."""

    memory: Documents
    """The documents. They stay open."""
    limit: int = 4
    """At most this many documents."""
    where: dict[str, Any] | None = None
    """Only documents that match this filter."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[LangChainDocument]:
        return [
            LangChainDocument(
                hit.document.text,
                id=hit.document.id,
                metadata={**hit.document.metadata, "id": hit.document.id, "score": hit.score, "distance": hit.distance},
            )
            for hit in self.memory.query(query, limit=self.limit, where=self.where).hits
        ]
