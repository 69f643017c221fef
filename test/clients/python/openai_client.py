"""The `openai` package as a client of chat-completions: what the tests ask of it."""

import asyncio
import functools
import json
from typing import Any

import openai
from openai.lib.streaming.chat import ChatCompletionStreamState
from pydantic import BaseModel

import recorder
import weather

Access = dict[str, str]
TOOLS = [
    {
        "type": "function",
        "function": {"name": weather.NAME, "description": weather.DESCRIPTION, "parameters": weather.SCHEMA},
    }
]


class Answer(BaseModel):
    answer: int


def options(access: Access) -> dict[str, Any]:
    return {"api_key": access["key"], "base_url": f"{access['baseUrl']}/v1", "max_retries": 0}


@functools.lru_cache
def _client(base_url: str, key: str, recording: bool) -> openai.OpenAI:
    http_client = recorder.recording_client() if recording else None
    return openai.OpenAI(**options({"baseUrl": base_url, "key": key}), http_client=http_client)


def client(access: Access, recording: bool = False) -> openai.OpenAI:
    return _client(access["baseUrl"], access["key"], recording)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def talk(access: Access, model: str, prompt: str, isStream: bool, withTools: bool, isAsync: bool = False) -> Any:
    conversation = weather.Conversation(user(prompt))
    request = {"model": model, "messages": conversation.messages, **({"tools": TOOLS} if withTools else {})}
    if isAsync:
        asyncio.run(converse_async(access, conversation, request, isStream))
    for _ in range(weather.MAX_ROUNDS):
        if conversation.text is None:
            take(conversation, ask(client(access), request, isStream))
    return conversation.told()


def ask(api: openai.OpenAI, request: dict[str, Any], is_stream: bool) -> Any:
    return accumulate(api, request).get_final_completion() if is_stream else api.chat.completions.create(**request)


def accumulate(api: openai.OpenAI, request: dict[str, Any]) -> ChatCompletionStreamState[Any]:
    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    for chunk in api.chat.completions.create(**request, stream=True):
        state.handle_chunk(chunk)
    return state


async def converse_async(
    access: Access, conversation: weather.Conversation, request: dict[str, Any], is_stream: bool
) -> None:
    async with openai.AsyncOpenAI(**options(access)) as api:
        for _ in range(weather.MAX_ROUNDS):
            if conversation.text is not None:
                return
            if not is_stream:
                take(conversation, await api.chat.completions.create(**request))
                continue
            state = ChatCompletionStreamState()
            async for chunk in await api.chat.completions.create(**request, stream=True):
                state.handle_chunk(chunk)
            take(conversation, state.get_final_completion())


def take(conversation: weather.Conversation, completion: Any) -> None:
    message = completion.choices[0].message
    conversation.messages.append(message)
    for call in message.tool_calls or []:
        conversation.calls.append({"name": call.function.name, "arguments": json.loads(call.function.arguments)})
        conversation.messages.append({"role": "tool", "tool_call_id": call.id, "content": weather.RESULT})
    if not message.tool_calls:
        conversation.text = message.content or ""


def fail(access: Access, model: str, isStream: bool = False) -> Any:
    try:
        ask(client(access), {"model": model, "messages": [user("Hi")]}, isStream)
    except Exception as error:
        return weather.thrown(error, openai.APIError, getattr(error, "status_code", None))
    raise RuntimeError("nothing was raised")


def argument_pieces(access: Access, model: str) -> list[str]:
    """The arguments of the first call as they come."""
    stream = client(access).chat.completions.create(model=model, messages=[user("Hi")], tools=TOOLS, stream=True)
    calls = [call for chunk in stream for choice in chunk.choices for call in choice.delta.tool_calls or []]
    return [call.function.arguments for call in calls if call.index == 0 and call.function.arguments]


def parse(access: Access, model: str, isStream: bool) -> int:
    request = {"model": model, "messages": [user("Answer as JSON")], "response_format": Answer}
    if isStream:
        with client(access).chat.completions.stream(**request) as stream:
            completion = stream.get_final_completion()
    else:
        completion = client(access).chat.completions.parse(**request)
    return completion.choices[0].message.parsed.answer


def look(access: Access, model: str, image: str) -> str:
    url = {"url": f"data:image/png;base64,{image}"}
    content = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": url}]
    completion = client(access).chat.completions.create(model=model, messages=[user(content)])
    return completion.choices[0].message.content


def hang_up(access: Access, model: str) -> str:
    """Reads the first words of a stream and goes away."""
    with client(access).chat.completions.create(model=model, messages=[user("Hi")], stream=True) as stream:
        for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                return chunk.choices[0].delta.content
    raise RuntimeError("the stream said nothing")


def list_models(access: Access) -> list[str]:
    return [model.id for model in client(access).models.list()]


def get_model(access: Access, model: str) -> str:
    return client(access).models.retrieve(model).id


def send(access: Access, model: str, mode: str, body: dict[str, Any]) -> Any:
    """One cell of the matrix: the library's view is the whole completion."""
    request: dict[str, Any] = {"model": model, "messages": [user("replaced by the case")]}
    api = client(access, recording=True)

    def view() -> Any:
        if mode == "json":
            completion = api.chat.completions.create(**request)
        else:
            # The final completion is no completion to this library where the answer was cut or filtered.
            state = accumulate(api, {**request, "stream_options": {"include_usage": True}})
            completion = state.current_completion_snapshot
        return completion.model_dump(mode="json", warnings=False)

    return recorder.record(body, view)
