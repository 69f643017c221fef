"""Agents of pydantic-ai for the four families: what `bun run clients:python` asks of them."""

import asyncio
from typing import Any

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.google import GoogleProvider
from pydantic_ai.providers.openai import OpenAIProvider

import weather

Access = dict[str, str]


class Answer(BaseModel):
    """The answer to the question."""

    answer: int


def open_model(family: str, access: Access, model: str) -> Any:
    key, url = access["key"], access["baseUrl"]
    if family == "chat-completions":
        return OpenAIChatModel(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key=key))
    if family == "responses":
        return OpenAIResponsesModel(model, provider=OpenAIProvider(base_url=f"{url}/v1", api_key=key))
    if family == "messages":
        return AnthropicModel(model, provider=AnthropicProvider(base_url=url, api_key=key))
    return GoogleModel(model, provider=GoogleProvider(base_url=url, api_key=key))


def talk(family: str, access: Access, model: str, system: str, prompt: str, isStream: bool, withTools: bool) -> Any:
    calls: list[dict[str, Any]] = []
    tools = [weather.note(calls)] if withTools else []

    async def run() -> str:
        agent = Agent(open_model(family, access, model), system_prompt=system, tools=tools)
        if not isStream:
            return (await agent.run(prompt)).output
        async with agent.run_stream(prompt) as result:
            return await result.get_output()

    return {"text": asyncio.run(run()), "calls": calls}


def parse(family: str, access: Access, model: str) -> int:
    async def run() -> int:
        agent = Agent(open_model(family, access, model), output_type=Answer)
        return (await agent.run("Answer as JSON")).output.answer

    return asyncio.run(run())
