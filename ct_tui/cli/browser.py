"""The workstation in a browser: a server on loopback that only the one who started it can use.

Whoever reaches the page can sign with the user's key, so loopback alone is not enough: other users of the machine
reach it too, and so does any web page that the browser shows. A secret in the printed address, kept in a cookie, and
the Host and Origin headers are therefore checked on every request.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from aiohttp import web
from textual_serve.server import Server

if TYPE_CHECKING:
    from aiohttp.typedefs import Handler, Middleware

HOST = "127.0.0.1"
COOKIE = "ct-tui"


class LoopbackServer(Server):
    """textual-serve's server behind the three checks."""

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=HOST, port=port, title="ct-tui", public_url=f"http://{HOST}:{port}")
        self.secret = secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """The address to open, with the secret."""
        return f"{self.public_url}/?key={self.secret}"

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._guard())
        return app

    def _guard(self) -> Middleware:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            given = request.query.get("key", "")
            if not self._is_ours(request) or not self._knows(given or request.cookies.get(COOKIE, "")):
                raise web.HTTPForbidden(text="Open the address that ct-tui serve printed.\n")
            response = await handler(request)
            if given and not response.prepared:
                response.set_cookie(COOKIE, self.secret, httponly=True, samesite="Strict")
            return response

        return guard

    def _is_ours(self, request: web.Request) -> bool:
        """Whether the request was meant for this server and comes from its own page, if from any."""
        origin = request.headers.get("Origin")
        return request.host == f"{HOST}:{self.port}" and origin in {None, self.public_url}

    def _knows(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self.secret.encode())

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the verb prints the address itself."""
