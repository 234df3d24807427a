"""Tools and instructions of the OpenAI Agents SDK. Run: pip install 'adage[openai-agents]'; python openai_agent.py"""

import asyncio
import tempfile

import adage
from adage.openai_agents import LessonHooks, lesson_tools, with_lessons
from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

set_tracing_disabled(True)


class Echo(Model):
    """In place of a model on a network: repeats its instructions."""

    async def get_response(self, system_instructions, *_, **__):
        part = ResponseOutputText(text=system_instructions, type="output_text", annotations=[])
        said = ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *_, **__):
        raise NotImplementedError


with adage.Playbook(tempfile.mkdtemp()) as book:
    book.learn("pushing a rebased branch", "Use --force-with-lease, never --force.")
    agent = Agent(name="deployer", instructions=with_lessons(book, "You deploy."), tools=lesson_tools(book), model=Echo())
    hooks = LessonHooks(book, judge=lambda output: "helpful")
    print(asyncio.run(Runner.run(agent, "push my branch after a rebase", hooks=hooks)).final_output)
    print(book.list()[0].helpful_retrievals, "time helpful")
