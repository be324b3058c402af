"""The files of the pages, read once; pages are templates whose values are escaped."""

from __future__ import annotations

import hashlib
import html
from pathlib import Path
from string import Template

from aiohttp import web

FOLDER = Path(__file__).with_name("static")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Pages:
    """Everything that is sent as it lies in the package."""

    def __init__(self) -> None:
        files = [path for path in FOLDER.iterdir() if path.suffix in _TYPES]
        self._files = {path.name: (path.read_bytes(), _TYPES[path.suffix]) for path in files}
        self._html = {
            path.stem: Template(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.html")
        }

    async def static(self, request: web.Request) -> web.Response:
        """A script, a style sheet or a picture, unless the browser has it."""
        found = self._files.get(request.match_info["name"])
        if found is None:
            raise web.HTTPNotFound
        body, kind = found
        tag = hashlib.sha256(body).hexdigest()[:16]
        headers = {"Cache-Control": "no-cache", "ETag": f'"{tag}"'}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=kind, charset="utf-8", headers=headers)

    def page(self, name: str, *, status: int = 200, **values: object) -> web.Response:
        """A page with its values escaped."""
        safe = {key: html.escape(str(value), quote=True) for key, value in values.items()}
        text = self._html[name].substitute(safe)
        return web.Response(text=text, status=status, content_type="text/html")


def language(request: web.Request) -> str:
    """The language asked for in the address, else the first of the browser's that we have."""
    asked = request.query.get("lang")
    if asked in {"en", "ru"}:
        return asked
    wanted = request.headers.get("Accept-Language", "")[:200].split(",")
    tags = [each.strip()[:2].lower() for each in wanted]
    return next((tag for tag in tags if tag in {"en", "ru"}), "en")
