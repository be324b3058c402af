"""What answers on a port: each family is asked at its usual line settings.

The order upsets nobody: first only listening; then FEIG's and the PN532's binary frames, which
line-based readers drop; last the two ASCII protocols, each after a bare carriage return that
ends whatever line the frames before have begun. Asked is only for what changes nothing, a
name or a version, but for BRK, which stops a metraTec reader's own inventories.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import drivers
from drivers import ReaderError, feig, lines, metratec, pn532, rdm6300, twn4
from drivers._scard import Context, RefusalError, explain, is_sam, stable_port
from drivers._serial import Link, opened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from drivers._frames import Feeds

_LISTENING = 1.2
"""Seconds; pods and LF modules repeat themselves within a second."""
_PATIENCE = 0.3
_SLOW = 0.6


@dataclass(frozen=True, slots=True)
class Found:
    """A reader that answered: its driver, what it said of itself, settings besides the defaults."""

    port: str
    driver: str
    what: str
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Probe:
    """One way to ask: with which decoder, at which line settings, and who says what it is."""

    driver: str
    decoder: Callable[[], Feeds[Any]]
    ask: Callable[[Link[Any]], Awaitable[str | None]]
    baud: int
    parity: str = "none"


async def _pod(link: Link[Any]) -> str | None:
    """Lines of UIDs; metraTec's own inventories look like them but for their counts."""
    told = _Told()
    await link.find(told.take, _LISTENING)
    return "UIDs or looks, a line each" if told.frames and not told.metratec else None


@dataclass(slots=True)
class _Told:
    frames: int = 0
    metratec: bool = False

    def take(self, frame: object) -> str | None:
        """Count; nothing is ever what is looked for."""
        self.frames += isinstance(frame, lines.Told | lines.Snapshot)
        self.metratec = self.metratec or isinstance(frame, metratec.Inventory)
        return None


class _PodOrMetratec:
    """Both decoders over the same bytes, since only metraTec's knows its counts."""

    def __init__(self) -> None:
        self._decoders = lines.Decoder(), metratec.Decoder()

    @property
    def errors(self) -> int:
        """Lines that are no pod's."""
        return self._decoders[0].errors

    def feed(self, data: bytes) -> list[Any]:
        """The frames of both."""
        return [frame for decoder in self._decoders for frame in decoder.feed(data)]


async def _lf(link: Link[Any]) -> str | None:
    return "EM4100 cards" if await link.receive(_LISTENING) else None


async def _feig(link: Link[Any]) -> str | None:
    link.send(feig.encode(feig.BAUD_DETECT, b"\x00"))
    return await link.find(_is_feig, _PATIENCE)


def _is_feig(frame: object) -> str | None:
    mine = isinstance(frame, feig.Answer) and frame.command == feig.BAUD_DETECT
    return "FEIG OBID, ISO host protocol" if mine else None


async def _pn532(link: Link[Any]) -> str | None:
    for request in (pn532.SAM_CONFIGURATION, pn532.GET_FIRMWARE):
        link.send(pn532.WAKE_UP + request)
        found = await link.find(_is_pn532, _SLOW)
        if found:
            return found
    return None


def _is_pn532(frame: object) -> str | None:
    if isinstance(frame, pn532.Message) and frame.code == pn532.FIRMWARE + 1:
        version = frame.data
        return f"PN532, firmware {version[1]}.{version[2]}" if version[:1] == b"\x32" else None
    return None


async def _metratec(link: Link[Any]) -> str | None:
    for command in ("", "BRK", "WAK", "BRK"):
        link.drain()
        link.send(metratec.encode(command))
        if await link.find(_is_metratec, _PATIENCE):
            return await _metratec_name(link)
    return None


async def _metratec_name(link: Link[Any]) -> str:
    link.drain()
    link.send(metratec.encode("REV"))
    name = await link.find(lambda frame: getattr(frame, "text", None), _SLOW)
    return f"metraTec, {name or 'unnamed'}"


def _is_metratec(frame: object) -> bool | None:
    return (isinstance(frame, metratec.Word) and frame.text in {"BRA", "NCM"}) or None


async def _twn4(link: Link[Any]) -> str | None:
    link.send(b"\r")
    await link.gather(_PATIENCE)
    link.send(twn4.encode(twn4.VERSION))
    return await link.find(_is_twn4, _SLOW)


def _is_twn4(frame: object) -> str | None:
    mine = isinstance(frame, twn4.Answer) and frame.text.startswith("TWN4")
    return f"Elatec {frame.text}" if isinstance(frame, twn4.Answer) and mine else None


_FEIG_LINES = (
    (38400, "even"), (38400, "none"), (115200, "even"), (115200, "none"),
    (9600, "even"), (19200, "even"), (57600, "even"),
)  # fmt: skip
PROBES = (
    Probe("rdm6300", rdm6300.Decoder, _lf, 9600),
    Probe("lines", _PodOrMetratec, _pod, 115200),
    Probe("lines", _PodOrMetratec, _pod, 9600),
    *(Probe("feig", feig.Decoder, _feig, baud, parity) for baud, parity in _FEIG_LINES),
    Probe("pn532", pn532.Decoder, _pn532, 115200),
    Probe("metratec", metratec.Decoder, _metratec, 115200),
    Probe("twn4", twn4.Decoder, _twn4, 9600),
)
"""In the order of asking."""


async def probe(port: str) -> Found | None:
    """Who answers on a port, asked at every usual line setting in turn.

    ReaderError when the port cannot be opened at any of them, with the first reason.
    """
    errors: list[ReaderError] = []
    for each in PROBES:
        try:
            async with opened(port, each.decoder(), baud=each.baud, parity=each.parity) as link:
                what = await each.ask(link)
        except ReaderError as error:
            errors.append(error)
            continue
        if what is not None:
            return Found(port, each.driver, what, _beyond_defaults(each))
    if len(errors) == len(PROBES):
        raise errors[0]
    return None


def _beyond_defaults(used: Probe) -> dict[str, Any]:
    """The line settings of a probe that its driver would not use by itself."""
    settings = drivers.load(used.driver).Settings(
        name="probe", driver=used.driver, port="-", antennas={1: "shoe"}
    )
    line = {"baud": used.baud, "parity": used.parity}
    usual = {key: getattr(settings, key, line[key]) for key in line}
    return {key: value for key, value in line.items() if usual[key] != value}


@dataclass(frozen=True, slots=True)
class Slot:
    """A PC/SC reader; `port` is the name to configure, None when it has no steady one."""

    name: str
    port: str | None


def pcsc() -> list[Slot]:
    """The PC/SC readers for cards. ReaderError when pcscd or pyscard is missing."""
    context = None
    try:
        context = Context()
        names = context.readers()
        return [
            Slot(name, stable_port(name, names, context.usb_path(name)))
            for name in names
            if not is_sam(name)
        ]
    except RefusalError as refusal:
        raise explain(refusal, "PC/SC") from None
    finally:
        if context is not None:
            context.close()
