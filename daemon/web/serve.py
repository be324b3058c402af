"""The two processes: the public pages with the floor's panel, and the private overlay."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from aiohttp import web

from daemon.address import Address
from daemon.errors import ConfigError, FeltdError
from daemon.sealing import Opener
from daemon.web.credentials import Tokens, read_hash
from daemon.web.floor import Floor
from daemon.web.guard import MOST_BYTES, add_headers, guard, own_hosts, refuse
from daemon.web.hub import Hub
from daemon.web.login import Doorkeeper
from daemon.web.pages import Pages, language
from daemon.web.picture import HoleView, TableView
from daemon.web.subscriber import Root, Subscriber

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from daemon.config import Config
    from daemon.web.follow import Payload, Step

PUBLIC = ("state", "event", "alert", "showdown", "ruling/#", "status", "reader/#")
OVERLAY_TOKEN = "token"  # noqa: S105  the name of the parameter

log = logging.getLogger("feltd.web")


class Site:
    """What both processes have: a picture that follows the table, and browsers that watch it."""

    def __init__(self, config: Config, listen: str) -> None:
        self.config = config
        self.host, self.port = split(listen)
        self.pages = Pages()
        table, prefix = config.table.id, config.mqtt.prefix
        self.public = Root(f"{prefix}/{table}", PUBLIC)
        self.view = TableView(table, config.profile)
        self.hubs: list[Hub] = []

    def step(self, root: Root, step: Step) -> None:
        """A step of the follower."""
        if root.anchored:
            self.view.take(step)
        self.changed()

    def aside(self, root: Root, topic: str, payload: Payload) -> None:
        """A message outside the count."""
        if root.anchored:
            self.view.aside(topic, payload)
        self.changed()

    def linked(self, link: bool) -> None:  # noqa: FBT001
        """The broker has come or gone."""
        self.view.link = link
        self.changed()

    def changed(self) -> None:
        """Tell the browsers, once there are some."""
        for hub in self.hubs:
            hub.changed()

    def subscriber(self, address: Callable[[], Address], *more: Root) -> Subscriber:
        """The one that follows the table."""
        roots = (self.public, *more)
        return Subscriber(address, roots, self.step, self.aside, self.linked)

    def application(self, subscriber: Subscriber) -> web.Application:
        """The web server, without routes."""
        app = web.Application(
            middlewares=[guard(own_hosts(self.host, self.config.web.hosts))],
            client_max_size=MOST_BYTES,
        )
        app.on_response_prepare.append(add_headers)
        app.router.add_get("/static/{name}", self.pages.static)

        async def follow(_: web.Application) -> AsyncIterator[None]:
            task = asyncio.create_task(subscriber.run(), name="web-subscriber")
            yield
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        async def let_go(_: web.Application) -> None:
            for hub in self.hubs:
                hub.close()

        app.cleanup_ctx.append(follow)
        app.on_shutdown.append(let_go)
        return app

    def hub(self, draw: Callable[[], Payload]) -> Hub:
        """A picture for browsers."""
        hub = Hub(draw)
        self.hubs.append(hub)
        return hub


def public_site(config: Config) -> tuple[Site, web.Application]:
    """/overlay, and /floor where roles are configured. Raises ConfigError."""
    keys = config.web
    site = Site(config, keys.listen)
    hashes = {role: read_hash(config.path.parent / file) for role, file in keys.roles.items()}
    private = f"{config.mqtt.prefix}-private/{config.table.id}"
    own = PUBLIC if not hashes else (*PUBLIC, "reply")
    site.public = Root(site.public.name, own)
    more = [Root(private, ("reply",), anchored=False)] if hashes else []
    user = "floor" if hashes else "overlay"
    subscriber = site.subscriber(
        lambda: broker(config, user, keys.username, keys.password_file), *more
    )
    app = site.application(subscriber)
    hub = site.hub(site.view.overlay)

    async def page(request: web.Request) -> web.Response:
        return _overlay(site, request, "/overlay/events")

    async def events(request: web.Request) -> web.StreamResponse:
        return await hub.stream(request, lambda: True)

    app.router.add_get("/overlay", page)
    app.router.add_get("/overlay/events", events)
    if hashes:
        floor = Floor(
            site.pages,
            door=Doorkeeper(hashes, keys.session_hours),
            view=site.view,
            subscriber=subscriber,
            make_hub=site.hub,
            roots=(site.public.name, private),
            profile=config.profile,
            seats=config.table.seats,
        )
        app.router.add_routes(floor.routes())
    return site, app


def private_site(config: Config) -> tuple[Site, web.Application]:
    """/overlay/private alone, for those who have a token. Raises ConfigError, FeltdError."""
    keys = config.web.private
    if keys is None:
        raise ConfigError(f"{config.path}: there is no [web.private]")
    site = PrivateSite(config, keys.listen, keys.receiver)
    tokens = Tokens(config.path.parent / keys.tokens_file)
    if keys.key_file is not None:
        site.opener = Opener(config.path.parent / keys.key_file)
    root = Root(
        f"{config.mqtt.prefix}-private/{config.table.id}",
        ("hole-cards", "equity", "event"),
        anchored=False,
    )
    subscriber = site.subscriber(
        lambda: broker(config, "vault", keys.username, keys.password_file), root
    )
    app = site.application(subscriber)
    hub = site.hub(lambda: site.hole.on(site.view.overlay()))

    def check(request: web.Request) -> None:
        if tokens.whose(request.query.get(OVERLAY_TOKEN, "")) is None:
            refuse(request, "no token")
            raise web.HTTPForbidden(text="no token")

    async def page(request: web.Request) -> web.Response:
        check(request)
        return _overlay(site, request, "/overlay/private/events")

    async def events(request: web.Request) -> web.StreamResponse:
        check(request)
        return await hub.stream(request, lambda: True)

    app.router.add_get("/overlay/private", page)
    app.router.add_get("/overlay/private/events", events)
    return site, app


class PrivateSite(Site):
    """A site that also follows the private root, and opens what is sealed for its receiver."""

    def __init__(self, config: Config, listen: str, receiver: str) -> None:
        super().__init__(config, listen)
        self.hole = HoleView()
        self.opener: Opener | None = None
        self._receiver = receiver

    def step(self, root: Root, step: Step) -> None:
        """A step of either follower."""
        if root.anchored:
            if step.kind == "fresh":
                self.hole.forget()
            if step.kind == "told" and step.payload.get("type") == "street":
                self.hole.new_street()
            super().step(root, step)
            return
        payload = self._opened(step.payload)
        if payload is not None and step.kind != "old":
            self.hole.take(step.topic, payload)
            self.changed()

    def _opened(self, payload: Payload) -> Payload | None:
        """The message itself, or None where it is for another receiver."""
        if "box" not in payload:
            return payload
        if payload.get("to") != self._receiver or self.opener is None:
            return None
        plain = self.opener.open(str(payload["box"]))
        if plain is None:
            log.warning("a sealed message cannot be opened with our key")
            return None
        opened: Payload = msgspec.json.decode(plain, type=dict[str, object])
        return opened


def _overlay(site: Site, request: web.Request, events: str) -> web.Response:
    token = request.query.get(OVERLAY_TOKEN, "")
    source = f"{events}?{OVERLAY_TOKEN}={token}" if token else events
    return site.pages.page("overlay", lang=language(request), table=site.view.table, events=source)


def split(listen: str) -> tuple[str, int]:
    """Host and port of `host:port`. Raises ConfigError."""
    host, colon, port = listen.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not port.isdecimal() or int(port) > 65535:
        raise ConfigError(f"{listen!r} is not host:port - at web.listen")
    return host, int(port)


def is_loopback(host: str) -> bool:
    """Whether nobody else can get there."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def broker(config: Config, user: str, username: str | None, password: str | None) -> Address:
    """Where the broker is, with the rights of `user`. Raises FeltdError.

    The embedded broker's port and passwords are those that the daemon has written down.
    """
    keys, beside = config.mqtt, config.beside
    if keys.url != "embedded":
        return Address(
            keys.url,
            username=username or keys.username,
            password_file=beside(password if username else keys.password_file),
            ca_file=beside(keys.ca_file),
            cert_file=beside(keys.cert_file),
            key_file=beside(keys.key_file),
        )
    folder = config.state_dir / "broker"
    try:
        settings = json.loads((folder / "nats.conf").read_text(encoding="utf-8"))
        port = settings["mqtt"]["port"]
    except (OSError, ValueError, KeyError) as error:
        raise FeltdError(f"{folder}: the embedded broker does not run") from error
    return Address(
        f"mqtt://127.0.0.1:{port}", username=user, password_file=folder / f"{user}.password"
    )


async def serve(
    site: Site, app: web.Application, stop: asyncio.Event, listening: asyncio.Event | None = None
) -> None:
    """Serve until `stop` is set. Raises FeltdError when the port is taken."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, site.host, site.port).start()
        except OSError as error:
            where = f"{site.host}:{site.port}"
            raise FeltdError(f"cannot listen on {where}: {error.strerror}") from None
        site.port = runner.addresses[0][1]
        if not is_loopback(site.host):
            log.warning("%s is no loopback address: put TLS in front of it", site.host)
        log.info("http://%s:%d", site.host, site.port)
        if listening is not None:
            listening.set()
        await stop.wait()
    finally:
        await runner.cleanup()


async def run(config: Config, *, private: bool) -> None:
    """One of the two processes, until SIGINT or SIGTERM."""
    site, app = private_site(config) if private else public_site(config)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    await serve(site, app, stop)
