"""An agent of LangChain that reads a lesson before it pushes. Run: pip install 'adage[langchain]'; python langchain_agent.py"""

import tempfile

import adage
from adage.langchain import LessonMiddleware
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage


class Model(GenericFakeChatModel):
    """In place of a model on a network."""

    def bind_tools(self, tools, **_):
        return self


def shell(command: str) -> str:
    """Runs a command line."""
    return f"ran {command}"


def call(number: int, command: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "shell", "args": {"command": command}, "id": str(number)}])


with adage.Playbook(tempfile.mkdtemp()) as book:
    book.learn("pushing a rebased branch", "Use --force-with-lease, never --force.", commands=["git push*"])
    model = Model(messages=iter([call(1, "git push --force"), call(2, "git push --force-with-lease"), AIMessage("done")]))
    agent = create_agent(model, [shell], middleware=[LessonMiddleware(book, judge=lambda messages: "helpful")])
    for message in agent.invoke({"messages": [("user", "bring my work to the server")]})["messages"]:
        message.pretty_print()
    print(book.list()[0].helpful_retrievals, "time helpful")
