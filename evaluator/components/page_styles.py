"""A layer that puts what is ours into the page: without it the first picture is Streamlit's, and everything moves.

Streamlit has no place for it. A page that is asked for as HTML is asked for whole and uncompressed.
"""

from __future__ import annotations

from evaluator.components.guard import Application, Message, Receive, Scope, Send


class PageStyles:
    """Puts HTML at the end of the head and of the body of every page; other answers stay as they are."""

    # Streamlit's own stand between the two: of two rules of one weight theirs outdoes the first.

    def __init__(self, application: Application, head: str, body: str) -> None:
        self._application = application
        self._parts = {"head": head, "body": body}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or one session."""
        wanted = scope["type"] == "http" and scope["method"] == "GET"
        if not wanted or not any(name == b"accept" and b"text/html" in value for name, value in scope["headers"]):
            await self._application(scope, receive, send)
            return
        # The page depends on our version too: a browser that has Streamlit's date of it must not get "not modified".
        headers = [
            pair for pair in scope["headers"] if pair[0] != b"accept-encoding" and not pair[0].startswith(b"if-")
        ]
        start: Message = {}
        body = b""

        async def with_style(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                if dict(message["headers"]).get(b"content-type", b"").startswith(b"text/html"):
                    start = message
                    return
            elif start and message["type"] == "http.response.body":
                body += message.get("body", b"")
                if message.get("more_body"):
                    return
                for place, part in self._parts.items():
                    end = f"</{place}>"
                    body = body.replace(end.encode(), f"{part}{end}".encode(), 1)
                kept = [
                    each for each in start["headers"] if each[0] not in (b"content-length", b"etag", b"last-modified")
                ]
                await send({**start, "headers": [*kept, (b"content-length", str(len(body)).encode())]})
                message = {"type": "http.response.body", "body": body}
            await send(message)

        await self._application({**scope, "headers": headers}, receive, with_style)
