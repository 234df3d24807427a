"""A toolset for Pydantic AI. Run: pip install 'adage[pydantic-ai]'; python pydantic_agent.py"""

import tempfile

import adage
from adage.pydantic_ai import lesson_toolset
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

with adage.Playbook(tempfile.mkdtemp()) as book:
    book.learn("pushing a rebased branch", "Use --force-with-lease, never --force.")
    # In place of a model on a network: repeats its instructions.
    echo = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart(info.instructions or "")]))
    agent = Agent(echo, toolsets=[lesson_toolset(book)])
    print(agent.run_sync("push my branch after a rebase").output)
