"""The `anthropic` package as a client of messages: what the tests ask of it."""

import asyncio
import functools
from typing import Any

import anthropic
from pydantic import BaseModel

import recorder
import weather

Access = dict[str, str]
MAX_TOKENS = 1024
TOOLS = [{"name": weather.NAME, "description": weather.DESCRIPTION, "input_schema": weather.SCHEMA}]


class Answer(BaseModel):
    answer: int


def options(access: Access) -> dict[str, Any]:
    return {"api_key": access["key"], "base_url": access["baseUrl"], "max_retries": 0}


@functools.lru_cache
def _client(base_url: str, key: str, recording: bool) -> anthropic.Anthropic:
    http_client = recorder.recording_client() if recording else None
    return anthropic.Anthropic(**options({"baseUrl": base_url, "key": key}), http_client=http_client)


def client(access: Access, recording: bool = False) -> anthropic.Anthropic:
    return _client(access["baseUrl"], access["key"], recording)


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def asking(model: str, messages: list[Any], **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": messages, "max_tokens": MAX_TOKENS, **more}


def talk(access: Access, model: str, prompt: str, isStream: bool, withTools: bool, isAsync: bool = False) -> Any:
    conversation = weather.Conversation(user(prompt))
    request = asking(model, conversation.messages, **({"tools": TOOLS} if withTools else {}))
    if isAsync:
        asyncio.run(converse_async(access, conversation, request, isStream))
    for _ in range(weather.MAX_ROUNDS):
        if conversation.text is None:
            take(conversation, ask(client(access), request, isStream))
    return conversation.told()


def ask(api: anthropic.Anthropic, request: dict[str, Any], is_stream: bool) -> Any:
    if not is_stream:
        return api.messages.create(**request)
    with api.messages.stream(**request) as stream:
        return stream.get_final_message()


async def converse_async(
    access: Access, conversation: weather.Conversation, request: dict[str, Any], is_stream: bool
) -> None:
    async with anthropic.AsyncAnthropic(**options(access)) as api:
        for _ in range(weather.MAX_ROUNDS):
            if conversation.text is not None:
                return
            if not is_stream:
                take(conversation, await api.messages.create(**request))
                continue
            async with api.messages.stream(**request) as stream:
                take(conversation, await stream.get_final_message())


def take(conversation: weather.Conversation, message: Any) -> None:
    calls = [block for block in message.content if block.type == "tool_use"]
    conversation.calls.extend({"name": call.name, "arguments": call.input} for call in calls)
    if not calls:
        conversation.text = text_of(message)
        return
    results = [{"type": "tool_result", "tool_use_id": call.id, "content": weather.RESULT} for call in calls]
    conversation.messages.extend([{"role": "assistant", "content": message.content}, user(results)])


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def run_tools(access: Access, model: str, system: str, prompt: str, isStream: bool) -> Any:
    calls: list[dict[str, Any]] = []
    tool = anthropic.beta_tool(weather.note(calls))
    runner = client(access).beta.messages.tool_runner(
        **asking(model, [user(prompt)], system=system, tools=[tool], max_iterations=weather.MAX_ROUNDS),
        stream=isStream,
    )
    return {"text": text_of(runner.until_done()), "calls": calls}


def fail(access: Access, model: str, isStream: bool = False) -> Any:
    try:
        ask(client(access), asking(model, [user("Hi")]), isStream)
    except Exception as error:
        return weather.thrown(error, anthropic.APIError, getattr(error, "status_code", None))
    raise RuntimeError("nothing was raised")


def argument_pieces(access: Access, model: str) -> list[str]:
    """The arguments of the first call as they come."""
    pieces: dict[int, list[str]] = {}
    for event in client(access).messages.create(**asking(model, [user("Hi")], tools=TOOLS), stream=True):
        if event.type == "content_block_delta" and event.delta.type == "input_json_delta" and event.delta.partial_json:
            pieces.setdefault(event.index, []).append(event.delta.partial_json)
    return pieces[min(pieces)]


def parse(access: Access, model: str, isStream: bool) -> int:
    request = asking(model, [user("Answer as JSON")], output_format=Answer)
    if isStream:
        with client(access).messages.stream(**request) as stream:
            return stream.get_final_message().parsed_output.answer
    return client(access).messages.parse(**request).parsed_output.answer


def look(access: Access, model: str, image: str) -> str:
    source = {"type": "base64", "media_type": "image/png", "data": image}
    content = [{"type": "image", "source": source}, {"type": "text", "text": "What is this?"}]
    return text_of(client(access).messages.create(**asking(model, [user(content)])))


def hang_up(access: Access, model: str) -> str:
    """Reads the first words of a stream and goes away."""
    with client(access).messages.stream(**asking(model, [user("Hi")])) as stream:
        for text in stream.text_stream:
            return text
    raise RuntimeError("the stream said nothing")


def count_tokens(access: Access, model: str) -> int:
    return client(access).messages.count_tokens(model=model, messages=[user("Hi")]).input_tokens


def list_models(access: Access) -> list[str]:
    return [model.id for model in client(access).models.list(limit=1000)]


def get_model(access: Access, model: str) -> str:
    return client(access).models.retrieve(model).id


def send(access: Access, model: str, mode: str, body: dict[str, Any]) -> Any:
    """One cell of the matrix: the library's view is the whole message."""
    api = client(access, recording=True)
    request = asking(model, [user("replaced by the case")])
    return recorder.record(body, lambda: ask(api, request, mode == "stream").model_dump(mode="json", warnings=False))
