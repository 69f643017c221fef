"""LangChain's chat models for the four families: what `bun run clients:python` asks of them."""

from typing import Any

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import StructuredTool
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

import weather

Access = dict[str, str]


class Answer(BaseModel):
    """The answer to the question."""

    answer: int


def open_model(family: str, access: Access, model: str) -> Any:
    key, url = access["key"], access["baseUrl"]
    if family == "chat-completions":
        return ChatOpenAI(model=model, api_key=key, base_url=f"{url}/v1", max_retries=0)
    if family == "responses":
        return ChatOpenAI(model=model, api_key=key, base_url=f"{url}/v1", max_retries=0, use_responses_api=True)
    if family == "messages":
        return ChatAnthropic(model=model, api_key=key, base_url=url, max_retries=0, max_tokens=1024)
    return ChatGoogleGenerativeAI(model=model, api_key=key, base_url=url, max_retries=1)


def talk(family: str, access: Access, model: str, system: str, prompt: str, isStream: bool, withTools: bool) -> Any:
    chat = open_model(family, access, model)
    calls: list[dict[str, Any]] = []
    tool = StructuredTool.from_function(weather.note(calls))
    asked = chat.bind_tools([tool]) if withTools else chat
    messages: list[Any] = [SystemMessage(system), HumanMessage(prompt)]
    for _ in range(weather.MAX_ROUNDS):
        answer = ask(asked, messages, isStream)
        if not answer.tool_calls:
            return {"text": answer.text, "calls": calls}
        messages.append(answer)
        messages.extend(tool.invoke(call) for call in answer.tool_calls)
    raise RuntimeError("the conversation does not end")


def ask(chat: Any, messages: list[Any], is_stream: bool) -> Any:
    if not is_stream:
        return chat.invoke(messages)
    whole = None
    for chunk in chat.stream(messages):
        whole = chunk if whole is None else whole + chunk
    return whole


def parse(family: str, access: Access, model: str) -> int:
    return open_model(family, access, model).with_structured_output(Answer).invoke("Answer as JSON").answer
