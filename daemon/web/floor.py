"""The floor's panel: log-in, the table as it stands, and every command of the contract."""

from __future__ import annotations

import logging
import secrets
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import msgspec
from aiohttp import web
from msgspec import UNSET, Meta, Struct, UnsetType

from daemon import commands
from daemon.commands import Chips, CommandError, Id, SeatKeys, Value
from daemon.rules.chip_race import chip_race
from daemon.rules.errors import RuleError
from daemon.web.guard import refuse
from daemon.web.login import SlowDownError
from daemon.web.pages import language
from daemon.web.subscriber import NoAnswerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.commands import AnyCommand
    from daemon.rules.profile import Profile
    from daemon.web.follow import Payload
    from daemon.web.hub import Hub
    from daemon.web.login import Doorkeeper, Session
    from daemon.web.pages import Pages
    from daemon.web.picture import TableView
    from daemon.web.subscriber import Subscriber

UNDOABLE = {"fold", "card", "remove-card", "pots", "end-hand"}
UNTYPED = {"muck", "shoe"}
COOKIE, GATE = "feltd_floor", "feltd_gate"
_WORDS = {
    "en": {
        "title": "Floor",
        "role": "Role",
        "name": "Your name",
        "password": "Password",
        "enter": "Log in",
        "wrong": "That was not right.",
        "slow": "Too many attempts. Wait a minute.",
        "stale": "The page was too old. Try again.",
    },
    "ru": {
        "title": "Судья",
        "role": "Роль",
        "name": "Ваше имя",
        "password": "Пароль",
        "enter": "Войти",
        "wrong": "Неверно.",
        "slow": "Слишком много попыток. Подождите минуту.",
        "stale": "Страница устарела. Попробуйте ещё раз.",
    },
}

log = logging.getLogger("feltd.web.floor")


class Order(Struct, frozen=True, forbid_unknown_fields=True):
    """What the page posts: for which table and hand, and the command without `by` and `hand`."""

    table: str
    id: Id
    command: dict[str, object]
    hand: Annotated[int, Meta(ge=0)] | UnsetType = UNSET


class Race(Struct, frozen=True, forbid_unknown_fields=True, rename={"old": "from", "new": "to"}):
    """A chip race to be looked at before it begins."""

    old: Value
    new: Value
    counts: SeatKeys
    all_in: list[Chips] = []


@dataclass
class Floor:
    """The routes below /floor; `make_hub` shows a picture, `roots` are public and private."""

    pages: Pages
    door: Doorkeeper
    view: TableView
    subscriber: Subscriber
    make_hub: Callable[[Callable[[], Payload]], Hub]
    roots: tuple[str, str]
    profile: Profile
    seats: int
    done: deque[Payload] = field(default_factory=lambda: deque(maxlen=20))

    def __post_init__(self) -> None:
        """The floor's own picture."""
        self.hub = self.make_hub(self.picture)

    def picture(self) -> Payload:
        """The table, and what of this hand can be undone."""
        seen = self.view.floor()
        return seen | {"undoable": [each for each in self.done if each["hand"] == seen["hand"]]}

    def routes(self) -> list[web.RouteDef]:
        """Everything that the panel answers."""
        return [
            web.get("/floor", self.page),
            web.post("/floor/login", self.login),
            web.post("/floor/logout", self.logout),
            web.get("/floor/events", self.events),
            web.post("/floor/command", self.command),
            web.post("/floor/race", self.race),
        ]

    async def page(self, request: web.Request) -> web.Response:
        """The panel, or the log-in."""
        session = self._session(request)
        if session is None:
            return self._login_page(request)
        return self.pages.page(
            "floor",
            lang=language(request),
            table=self.view.table,
            csrf=session.csrf,
            by=session.by,
            seats=self.seats,
        )

    async def login(self, request: web.Request) -> web.Response:
        """Check a password; the form has to be one that we gave to this browser."""
        form = await request.post()
        role, name, password, gate = (
            str(form.get(key, "")) for key in ("role", "name", "password", "gate")
        )
        cookie = request.cookies.get(GATE, "")
        if not gate or not secrets.compare_digest(gate.encode(), cookie.encode()):
            refuse(request, "a log-in form that is not ours")
            return self._login_page(request, "stale", status=403)
        address = request.remote or "?"
        try:
            opened = await self.door.admit(role, name, password, address)
        except SlowDownError:
            refuse(request, "too many log-ins")
            return self._login_page(request, "slow", status=429)
        if opened is None:
            refuse(request, f"wrong log-in as {role[:32]!r}")
            return self._login_page(request, "wrong", status=403)
        log.info("%s/%s logged in from %s", role, name, address)
        response = web.HTTPSeeOther(f"/floor?lang={language(request)}")
        self._set_cookie(request, response, COOKIE, opened)
        response.del_cookie(GATE, path="/floor")
        return response

    async def logout(self, request: web.Request) -> web.Response:
        """End the session."""
        session = self._authorised(request)
        self.door.leave(request.cookies.get(COOKIE))
        self.hub.wake()
        log.info("%s logged out", session.by)
        response = web.json_response({})
        response.del_cookie(COOKIE, path="/floor")
        return response

    async def events(self, request: web.Request) -> web.StreamResponse:
        """The floor's picture, for as long as the session lasts."""
        session = self._session(request)
        if session is None:
            refuse(request, "no session")
            raise web.HTTPForbidden(text="log in first")
        return await self.hub.stream(request, lambda: self.door.lasts(session))

    async def race(self, request: web.Request) -> web.Response:
        """What a chip race would exchange, and how many cards it needs; nothing happens yet."""
        session = self._authorised(request)
        self._count(request, session)
        try:
            race = msgspec.json.decode(await request.read(), type=Race)
            counts = {int(seat): chips for seat, chips in race.counts.items()}
            result = chip_race(race.old, race.new, counts, all_in=race.all_in, profile=self.profile)
        except (msgspec.DecodeError, UnicodeDecodeError, RuleError) as error:
            return web.json_response({"ok": False, "error": str(error)})
        body = msgspec.to_builtins(result, str_keys=True)
        return web.json_response({"ok": True, "race": body})

    async def command(self, request: web.Request) -> web.Response:
        """Send one command to the table and bring back its answer."""
        session = self._authorised(request)
        self._count(request, session)
        try:
            order = msgspec.json.decode(await request.read(), type=Order)
            if order.table != self.view.table:
                refuse(request, f"{session.by} named another table")
                raise web.HTTPConflict(text="another table")
            hand = self.view.next_hand() if order.hand is UNSET else order.hand
            command, body = _signed(order, session.by, hand)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            refuse(request, f"{session.by} sent no order")
            return web.json_response({"ok": False, "error": str(error)}, status=400)
        except CommandError as error:
            log.info("%s: not sent: a command that cannot be read", session.by)
            return web.json_response({"ok": False, "error": str(error)})
        return await self._send(session, order.id, command, body)

    async def _send(
        self, session: Session, id_: str, command: AnyCommand, body: bytes
    ) -> web.Response:
        private = commands.about_hidden_cards(command)
        root = self.roots[1] if private else self.roots[0]
        kind = str(command.__struct_config__.tag)
        said = f"{kind} {commands.public_part(command)}"
        try:
            reply = await self.subscriber.command(root, session.by, id_, body)
        except NoAnswerError as error:
            log.warning("%s, hand %s: %s: no answer", session.by, command.hand, said)
            return web.json_response({"ok": None, "error": str(error)})
        ok = reply.get("ok") is True
        log.info("%s, hand %s: %s: %s", session.by, command.hand, said, "ok" if ok else "refused")
        if ok and kind in UNDOABLE:
            entry = {"id": id_, "hand": command.hand, "type": kind}
            self.done.appendleft(entry | {"said": _told(command)})
        elif ok and isinstance(command, commands.Undo):
            self.done = deque([each for each in self.done if each["id"] != command.of], 20)
        self.hub.changed()
        kept = {key: reply[key] for key in ("ok", "error", "waiting") if key in reply}
        return web.json_response(kept | {"id": id_})

    def _login_page(
        self, request: web.Request, problem: str = "", *, status: int = 200
    ) -> web.Response:
        lang, gate = language(request), secrets.token_urlsafe(24)
        words = _WORDS[lang]
        response = self.pages.page(
            "login",
            status=status,
            lang=lang,
            table=self.view.table,
            gate=gate,
            problem=words.get(problem, ""),
            role=self.door.roles[0] if len(self.door.roles) == 1 else "",
            **{f"w_{key}": text for key, text in words.items()},
        )
        self._set_cookie(request, response, GATE, gate)
        return response

    def _set_cookie(
        self, request: web.Request, response: web.StreamResponse, name: str, value: str
    ) -> None:
        response.set_cookie(
            name,
            value,
            path="/floor",
            httponly=True,
            samesite="Strict",
            secure=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
        )

    def _session(self, request: web.Request) -> Session | None:
        return self.door.session(request.cookies.get(COOKIE))

    def _authorised(self, request: web.Request) -> Session:
        """The session, if the request also knows its token, which only our page does."""
        session = self._session(request)
        given = request.headers.get("X-CSRF-Token", "")
        if session is None or not secrets.compare_digest(given.encode(), session.csrf.encode()):
            refuse(request, "no session" if session is None else f"{session.by}: a forged form")
            raise web.HTTPForbidden(text="log in first")
        if request.content_type != "application/json":
            refuse(request, f"{session.by}: no JSON")
            raise web.HTTPUnsupportedMediaType
        return session

    def _count(self, request: web.Request, session: Session) -> None:
        try:
            self.door.use(session)
        except SlowDownError:
            refuse(request, f"{session.by}: too many commands")
            raise web.HTTPTooManyRequests(text="too many commands") from None


def _signed(order: Order, by: str, hand: int | None) -> tuple[AnyCommand, bytes]:
    """The command as the table gets it. Raises CommandError that names the field."""
    if hand is None:
        raise CommandError("the table's hand is not known yet")
    fields: Payload = {**order.command, "id": order.id, "by": by, "hand": hand}
    command = commands.decode(msgspec.json.encode(fields))
    if isinstance(command, commands.TypeCard | commands.RemoveCard) and command.zone in UNTYPED:
        raise CommandError(f"no card is corrected at {command.zone} - at `$.zone`")
    return command, msgspec.json.encode(command)


def _told(command: AnyCommand) -> str:
    """What a person needs to know a command again; no face, whatever the zone."""
    fields = commands.public_part(command, face_up=True)
    return " ".join(str(fields[key]) for key in ("seat", "zone") if key in fields)
