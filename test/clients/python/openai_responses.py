"""The `openai` package as a client of Responses: what the tests ask of it."""

import asyncio
import json
from typing import Any

import openai
from pydantic import BaseModel

import openai_client
import recorder
import weather
from openai_client import Access, client, options, user

TOOLS = [
    {
        "type": "function",
        "name": weather.NAME,
        "description": weather.DESCRIPTION,
        "parameters": weather.SCHEMA,
        "strict": False,
    }
]
list_models = openai_client.list_models
get_model = openai_client.get_model


class Answer(BaseModel):
    answer: int


def talk(access: Access, model: str, prompt: str, isStream: bool, withTools: bool, isAsync: bool = False) -> Any:
    conversation = weather.Conversation(user(prompt))
    request = {"model": model, "input": conversation.messages, **({"tools": TOOLS} if withTools else {})}
    if isAsync:
        asyncio.run(converse_async(access, conversation, request, isStream))
    for _ in range(weather.MAX_ROUNDS):
        if conversation.text is None:
            take(conversation, ask(client(access), request, isStream))
    return conversation.told()


def ask(api: openai.OpenAI, request: dict[str, Any], is_stream: bool) -> Any:
    if not is_stream:
        return api.responses.create(**request)
    with api.responses.stream(**request) as stream:
        return stream.get_final_response()


async def converse_async(
    access: Access, conversation: weather.Conversation, request: dict[str, Any], is_stream: bool
) -> None:
    async with openai.AsyncOpenAI(**options(access)) as api:
        for _ in range(weather.MAX_ROUNDS):
            if conversation.text is not None:
                return
            if not is_stream:
                take(conversation, await api.responses.create(**request))
                continue
            async with api.responses.stream(**request) as stream:
                take(conversation, await stream.get_final_response())


def take(conversation: weather.Conversation, response: Any) -> None:
    calls = [item for item in response.output if item.type == "function_call"]
    for item in response.output:
        # What the library adds to what it parsed is nothing that the API knows.
        conversation.messages.append(item.to_dict(mode="json") | ({} if item.type != "function_call" else call(item)))
    for each in calls:
        conversation.calls.append({"name": each.name, "arguments": json.loads(each.arguments)})
        output = {"type": "function_call_output", "call_id": each.call_id, "output": weather.RESULT}
        conversation.messages.append(output)
    if not calls:
        conversation.text = response.output_text


def call(item: Any) -> dict[str, Any]:
    return {"arguments": item.arguments}


def fail(access: Access, model: str, isStream: bool = False) -> Any:
    try:
        ask(client(access), {"model": model, "input": "Hi"}, isStream)
    except Exception as error:
        return weather.thrown(error, openai.APIError, getattr(error, "status_code", None))
    raise RuntimeError("nothing was raised")


def argument_pieces(access: Access, model: str) -> list[str]:
    """The arguments of the first call as they come."""
    stream = client(access).responses.create(model=model, input="Hi", tools=TOOLS, stream=True)
    return [event.delta for event in stream if event.type == "response.function_call_arguments.delta"]


def parse(access: Access, model: str, isStream: bool) -> int:
    request = {"model": model, "input": "Answer as JSON", "text_format": Answer}
    if isStream:
        with client(access).responses.stream(**request) as stream:
            response = stream.get_final_response()
    else:
        response = client(access).responses.parse(**request)
    return response.output_parsed.answer


def look(access: Access, model: str, image: str) -> str:
    url = {"type": "input_image", "image_url": f"data:image/png;base64,{image}", "detail": "auto"}
    content = [{"type": "input_text", "text": "What is this?"}, url]
    return client(access).responses.create(model=model, input=[user(content)]).output_text


def hang_up(access: Access, model: str) -> str:
    """Reads the first words of a stream and goes away."""
    with client(access).responses.create(model=model, input="Hi", stream=True) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                return event.delta
    raise RuntimeError("the stream said nothing")


def count_tokens(access: Access, model: str) -> int:
    return client(access).responses.input_tokens.count(model=model, input="Hi").input_tokens


def send(access: Access, model: str, mode: str, body: dict[str, Any]) -> Any:
    """One cell of the matrix: the library's view is the whole response."""
    request: dict[str, Any] = {"model": model, "input": "replaced by the case"}
    api = client(access, recording=True)

    def view() -> Any:
        response = api.responses.create(**request) if mode == "json" else last_response(api, request)
        return response.model_dump(mode="json", warnings=False)

    return recorder.record(body, view)


def last_response(api: openai.OpenAI, request: dict[str, Any]) -> Any:
    """What the last event says. The stream helper takes an answer that is incomplete for none at all."""
    events = list(api.responses.create(**request, stream=True))
    return events[-1].response
