"""Keeps the last answer whole, as it came over the wire, and lets a test put a body of its own in the library's place."""

import json
import threading
from typing import Any

import httpx2

FRAME = ("model", "stream", "stream_options")

_current = threading.local()


class _Recorder(httpx2.BaseTransport):
    def __init__(self) -> None:
        self._inner = httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        own = json.loads(request.read() or b"{}")
        body = {**_current.body, **{key: own[key] for key in FRAME if key in own}}
        headers = [(name, value) for name, value in request.headers.items() if name != "content-length"]
        sent = httpx2.Request(request.method, request.url, headers=headers, content=json.dumps(body))
        response = self._inner.handle_request(sent)
        content = response.read()
        _current.answer = {
            "status": response.status_code,
            "headers": list(response.headers.items()),
            "text": content.decode(),
        }
        return httpx2.Response(response.status_code, headers=response.headers, content=content, request=request)


def recording_client() -> httpx2.Client:
    """For the library's own option to bring an HTTP client along."""
    return httpx2.Client(transport=_Recorder())


def record(body: dict[str, Any], ask: Any) -> dict[str, Any]:
    """Runs `ask` with this body instead of the library's; what it returns is the library's view of the answer."""
    _current.body = body
    _current.answer = None
    try:
        view = {"kind": "answer", "value": ask()}
    except Exception as error:
        status = getattr(error, "status_code", getattr(error, "code", None))
        message = f"{type(error).__name__}: {error}"
        view = {"kind": "failed", "status": status if isinstance(status, int) else None, "message": message}
    return {**(_current.answer or {"status": 0, "headers": [], "text": ""}), "view": view}
