"""Every topic of the contract: its address, what goes over it, and which way.

Source: docs/protocol.md, topics and commands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, get_args

from msgspec import Struct

from daemon import commands, events, resend, wire
from daemon.rules import results

Body: TypeAlias = type[Struct]

PUBLIC = "{prefix}/{table}/"
PRIVATE = "{prefix}-private/{table}/"

EVENTS: tuple[Body, ...] = tuple(events.Event.__subclasses__())
COMMANDS: tuple[Body, ...] = get_args(commands.AnyCommand)


@dataclass(frozen=True)
class Channel:
    """One topic. `taken` is what the table takes, all else it tells.

    `counted` messages carry `seq`; `reply` names the channel of the answers.
    """

    name: str
    address: str
    bodies: tuple[Body, ...]
    about: str
    retain: bool = False
    counted: bool = False
    taken: bool = False
    reply: str | None = None


CHANNELS: tuple[Channel, ...] = (
    Channel(
        "status",
        f"{PUBLIC}status",
        (wire.Status,),
        "Whether the daemon runs; also its last will.",
        retain=True,
    ),
    Channel(
        "state",
        f"{PUBLIC}state",
        (wire.Picture,),
        "The table as everybody may see it; `seq` is the last message folded into it.",
        retain=True,
        counted=True,
    ),
    Channel(
        "event", f"{PUBLIC}event", EVENTS, "One thing that happened at the table.", counted=True
    ),
    Channel(
        "showdown",
        f"{PUBLIC}showdown",
        (results.ShowdownResult,),
        "Who won, and with which five cards.",
        retain=True,
        counted=True,
    ),
    Channel(
        "ruling-button-draw",
        f"{PUBLIC}ruling/button-draw",
        (results.ButtonDrawResult,),
        "Who has the button for the first hand.",
        retain=True,
        counted=True,
    ),
    Channel(
        "ruling-first-to-act",
        f"{PUBLIC}ruling/first-to-act",
        (results.FirstToActResult,),
        "Who opens a street of stud.",
        retain=True,
        counted=True,
    ),
    Channel(
        "ruling-chip-race",
        f"{PUBLIC}ruling/chip-race",
        (results.ChipRaceResult,),
        "A color-up: new chips at face value, and who wins the odd ones.",
        retain=True,
        counted=True,
    ),
    Channel(
        "alert",
        f"{PUBLIC}alert",
        (events.Alert,),
        "Please look. Never names a hidden card or its tag.",
        counted=True,
    ),
    Channel(
        "reader",
        f"{PUBLIC}reader/{{reader}}",
        (wire.ReaderPicture,),
        "The health of one reader.",
        retain=True,
    ),
    Channel(
        "metrics",
        f"{PUBLIC}metrics",
        (wire.Metrics,),
        "Counters; nothing about any card.",
        retain=True,
    ),
    Channel(
        "command",
        f"{PUBLIC}command",
        COMMANDS,
        "What the floor commands; never about hidden cards.",
        taken=True,
        reply="reply",
    ),
    Channel("reply", f"{PUBLIC}reply", (events.Reply,), "The answer to a command."),
    Channel(
        "resend",
        f"{PUBLIC}resend",
        (resend.Request,),
        "A subscriber missed something: all messages again from this `seq` on, with `late` true.",
        taken=True,
        reply="event",
    ),
    Channel(
        "private-hole-cards",
        f"{PRIVATE}hole-cards",
        (events.HoleCards, events.Sealed),
        "The down cards of one seat, in the clear or sealed for one receiver.",
        counted=True,
    ),
    Channel(
        "private-equity",
        f"{PRIVATE}equity",
        (events.Equity, events.SealedEquity),
        "The chances of each live seat, in the clear or sealed for one receiver.",
        counted=True,
    ),
    Channel(
        "private-floor",
        f"{PRIVATE}floor",
        (events.FloorNote,),
        "What only the floor may know.",
        counted=True,
    ),
    Channel(
        "private-event",
        f"{PRIVATE}event",
        (events.ResendGone,),
        "Private messages that were asked for again are no longer kept.",
    ),
    Channel(
        "private-command",
        f"{PRIVATE}command",
        COMMANDS,
        "Commands, those about hidden cards too.",
        taken=True,
        reply="private-reply",
    ),
    Channel(
        "private-reply",
        f"{PRIVATE}reply",
        (events.Reply,),
        "The answer to a command of the private topic.",
    ),
    Channel(
        "private-resend",
        f"{PRIVATE}resend",
        (resend.Request,),
        "As `resend`, for the private counter, told on the private root.",
        taken=True,
        reply="private-hole-cards",
    ),
)
