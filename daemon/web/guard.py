"""What holds for every answer: who may ask, what a page may do, how much may be sent."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import Collection

    from aiohttp.typedefs import Handler, Middleware

MOST_BYTES = 16_384
CSP = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "connect", "manifest")),
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Server": "feltd",
}

log = logging.getLogger("feltd.web")


def refuse(request: web.Request, why: str) -> None:
    """Log what was refused, and from where; `why` never holds a password or a card."""
    log.warning("refused %s %.80r from %s: %s", request.method, request.path, request.remote, why)


def host_of(request: web.Request) -> str:
    """The name by which the browser asked, without the port."""
    return (urlsplit(f"//{request.host}").hostname or "").lower()


def own_hosts(listen: str, more: Collection[str]) -> frozenset[str]:
    """Names that are ours: a page elsewhere whose name leads here is not."""
    return frozenset({"localhost", "127.0.0.1", "::1", listen.lower(), *map(str.lower, more)})


def is_same_site(request: web.Request) -> bool:
    """Whether a form or script of our own pages sent this; without any sign of it, no."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site is not None and site != "same-origin":
        return False
    if origin is not None:
        return urlsplit(origin).netloc.lower() == request.host.lower()
    return site == "same-origin"


def guard(hosts: frozenset[str]) -> Middleware:
    """The middleware in front of everything."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            known = host_of(request) in hosts
        except ValueError:
            known = False
        if not known:
            refuse(request, f"host {request.host[:80]!r} is not ours")
            raise web.HTTPMisdirectedRequest(text="not this host")
        if (request.content_length or 0) > MOST_BYTES:
            refuse(request, "too large")
            raise web.HTTPRequestEntityTooLarge(MOST_BYTES, request.content_length or 0)
        if request.method == "POST" and not is_same_site(request):
            refuse(request, "not from our own pages")
            raise web.HTTPForbidden(text="not from this site")
        try:
            return await handler(request)
        except web.HTTPRequestEntityTooLarge:
            refuse(request, "too large")
            raise

    return check


async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
    """The signal handler that puts our headers on every answer."""
    response.headers.update(HEADERS)
    if not request.path.startswith("/static/"):
        response.headers.setdefault("Cache-Control", "no-store")
