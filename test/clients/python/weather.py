"""The tool that every client offers, and what all of them do with it: the same words as in `libraries/library.ts`."""

from typing import Any

NAME = "get_weather"
DESCRIPTION = "The weather in a city"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
RESULT = "Sunny"
# More rounds than any test needs: a loop that does not end is a bug.
MAX_ROUNDS = 4


class Conversation:
    """A talk that ends with the first answer without calls."""

    def __init__(self, prompt: Any) -> None:
        self.messages = [prompt]
        self.calls: list[dict[str, Any]] = []
        self.text: str | None = None

    def told(self) -> dict[str, Any]:
        if self.text is None:
            raise RuntimeError("the conversation does not end")
        return {"text": self.text, "calls": self.calls}


def note(calls: list[dict[str, Any]]) -> Any:
    """The tool as a function, which writes down how it was called."""

    def get_weather(city: str) -> str:
        calls.append({"name": NAME, "arguments": {"city": city}})
        return RESULT

    get_weather.__doc__ = DESCRIPTION
    return get_weather


def thrown(error: Exception, own_class: type[Exception], status: Any) -> dict[str, Any]:
    """What a library raised, for the tests."""
    return {
        "isOwnClass": isinstance(error, own_class),
        "status": status,
        "className": type(error).__name__,
        "message": str(error),
    }
