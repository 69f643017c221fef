"""The `google-genai` package as a client of generate-content: what the tests ask of it."""

import asyncio
import base64
import functools
from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import BaseModel

import recorder
import weather

Access = dict[str, str]
DECLARED = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name=weather.NAME, description=weather.DESCRIPTION, parameters_json_schema=weather.SCHEMA
        )
    ]
)
# Calls are the test's to answer, not the library's.
BY_HAND = types.AutomaticFunctionCallingConfig(disable=True)


class Answer(BaseModel):
    answer: int


@functools.lru_cache
def _client(base_url: str, key: str, recording: bool) -> genai.Client:
    http_client = recorder.recording_client() if recording else None
    return genai.Client(api_key=key, http_options=types.HttpOptions(base_url=base_url, httpx_client=http_client))


def client(access: Access, recording: bool = False) -> genai.Client:
    return _client(access["baseUrl"], access["key"], recording)


def user(*parts: types.Part) -> types.Content:
    return types.Content(role="user", parts=list(parts))


def hi() -> list[Any]:
    return [user(types.Part(text="Hi"))]


def talk(access: Access, model: str, prompt: str, isStream: bool, withTools: bool, isAsync: bool = False) -> Any:
    conversation = weather.Conversation(user(types.Part(text=prompt)))
    config = types.GenerateContentConfig(tools=[DECLARED], automatic_function_calling=BY_HAND)
    request = {"model": model, "contents": conversation.messages, "config": config if withTools else None}
    if isAsync:
        asyncio.run(converse_async(access, conversation, request, isStream))
    for _ in range(weather.MAX_ROUNDS):
        if conversation.text is None:
            take(conversation, parts_of(ask(client(access), request, isStream)))
    return conversation.told()


def ask(api: genai.Client, request: dict[str, Any], is_stream: bool) -> list[Any]:
    if is_stream:
        return list(api.models.generate_content_stream(**request))
    return [api.models.generate_content(**request)]


async def converse_async(
    access: Access, conversation: weather.Conversation, request: dict[str, Any], is_stream: bool
) -> None:
    options = types.HttpOptions(base_url=access["baseUrl"])
    async with genai.Client(api_key=access["key"], http_options=options).aio as api:
        for _ in range(weather.MAX_ROUNDS):
            if conversation.text is not None:
                return
            if is_stream:
                responses = [each async for each in await api.models.generate_content_stream(**request)]
            else:
                responses = [await api.models.generate_content(**request)]
            take(conversation, parts_of(responses))


def parts_of(responses: list[Any]) -> list[types.Part]:
    candidates = [candidate for response in responses for candidate in (response.candidates or [])[:1]]
    return [part for candidate in candidates if candidate.content for part in candidate.content.parts or []]


def take(conversation: weather.Conversation, parts: list[types.Part]) -> None:
    calls = [part.function_call for part in parts if part.function_call]
    conversation.calls.extend({"name": call.name, "arguments": call.args} for call in calls)
    if not calls:
        conversation.text = "".join(part.text or "" for part in parts if not part.thought)
        return
    responses = [
        types.FunctionResponse(id=call.id, name=call.name, response={"output": weather.RESULT}) for call in calls
    ]
    results = [types.Part(function_response=response) for response in responses]
    conversation.messages.extend([types.Content(role="model", parts=parts), user(*results)])


def run_tools(access: Access, model: str, system: str, prompt: str, isStream: bool) -> Any:
    calls: list[dict[str, Any]] = []
    config = types.GenerateContentConfig(system_instruction=system, tools=[weather.note(calls)])
    responses = ask(client(access), {"model": model, "contents": prompt, "config": config}, isStream)
    return {"text": "".join(part.text or "" for part in parts_of(responses)), "calls": calls}


def fail(access: Access, model: str, isStream: bool = False) -> Any:
    try:
        ask(client(access), {"model": model, "contents": hi()}, isStream)
    except Exception as error:
        return weather.thrown(error, errors.APIError, getattr(error, "code", None))
    raise RuntimeError("nothing was raised")


def parse(access: Access, model: str, isStream: bool) -> int:
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=Answer)
    request = {"model": model, "contents": hi(), "config": config}
    if isStream:
        text = "".join(part.text or "" for part in parts_of(ask(client(access), request, True)))
        return Answer.model_validate_json(text).answer
    return client(access).models.generate_content(**request).parsed.answer


def look(access: Access, model: str, image: str) -> str:
    picture = types.Part.from_bytes(data=base64.b64decode(image), mime_type="image/png")
    contents = [user(picture, types.Part(text="What is this?"))]
    return client(access).models.generate_content(model=model, contents=contents).text


def hang_up(access: Access, model: str) -> str:
    """Reads the first words of a stream and goes away."""
    stream = client(access).models.generate_content_stream(model=model, contents=hi())
    for response in stream:
        if response.text:
            stream.close()
            return response.text
    raise RuntimeError("the stream said nothing")


def count_tokens(access: Access, model: str) -> int:
    return client(access).models.count_tokens(model=model, contents=hi()).total_tokens


def list_models(access: Access) -> list[str]:
    return [model.name.removeprefix("models/") for model in client(access).models.list()]


def get_model(access: Access, model: str) -> str:
    return client(access).models.get(model=model).name.removeprefix("models/")


def send(access: Access, model: str, mode: str, body: dict[str, Any]) -> Any:
    """One cell of the matrix: the library's view is the list of responses."""
    request = {"model": model, "contents": "replaced by the case"}
    api = client(access, recording=True)

    def view() -> Any:
        responses = ask(api, request, mode == "stream")
        return [response.model_dump(mode="json", by_alias=True, exclude_none=True) for response in responses]

    return recorder.record(body, view)
