"""The message contract as an AsyncAPI 3 document, generated from the types that encode it.

Source: https://www.asyncapi.com/docs/reference/specification/v3.1.0 and the MQTT bindings 0.2.0.
What the types leave to the tables of the rules (kinds of alerts, phases, categories, cards) is
filled in from those tables.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from daemon import __version__, commands, events, wire
from daemon.alerts import KINDS
from daemon.games import GAMES
from daemon.rules.cards import RANKS, SUITS
from daemon.rules.classes import CATEGORIES
from daemon.topics import CHANNELS, COMMANDS, Body, Channel

Schema: TypeAlias = dict[str, Any]

VERSION = "3.1.0"
_REF = "#/components/schemas/{name}"
_ANYTHING: Schema = {"description": "any JSON value"}
_CARD: Schema = {"type": "string", "pattern": f"^[{RANKS}][{SUITS}]$"}
_CARDS: Schema = {"type": "array", "items": _CARD}
_STREETS = list(dict.fromkeys(s.name for game in GAMES.values() for s in game.streets))
_PHASES = ["idle", "dealing", *_STREETS, "showdown", "button-draw", "chip-race"]
_STATUSES = ["in", "folded", "shown", "mucked", "out"]
_HEX: Schema = {"type": "string", "pattern": "^([0-9a-f]{2})+$"}


def _words(*words: str) -> Schema:
    return {"enum": list(words)}


_FIELDS: dict[str, Schema] = {
    "card": _CARD,
    "cards": _CARDS,
    "best": _CARDS,
    "board": _CARDS,
    "up": _CARDS,
    "shown": _CARDS,
    "typed": _CARDS,
    "street": _words(*_STREETS),
    "phase": _words(*_PHASES),
    "status": _words(*_STATUSES),
    "severity": _words("notice", "warning", "stop"),
    "category": _words(*CATEGORIES),
    "discipline": _words(*GAMES),
    "hash": _HEX,
    "salt": _HEX,
    "replaces": _HEX,
    "head": _HEX,
}
"""What a field of these names holds wherever its type says no more than text or a list of it."""

_PYTHONS_OWN = msgspec.json.encode(commands.LAST)[1:-1]
"""What patterns do not need where `$` means the end, and not everybody understands."""

_LOOSE: tuple[Schema, ...] = (
    {"type": "string"},
    {"type": "array", "items": {"type": "string"}},
)


def document() -> Schema:
    """The whole document, ready to be encoded as JSON."""
    return {
        "asyncapi": VERSION,
        "info": _info(),
        "defaultContentType": "application/json",
        "servers": {"broker": _server()},
        "channels": {each.name: _channel(each) for each in CHANNELS},
        "operations": {_operation_name(each): _operation(each) for each in CHANNELS},
        "components": {"messages": _messages(), "schemas": _schemas()},
    }


def encoded() -> bytes:
    """The document as it is printed and kept: two spaces a level, a newline at the end."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2) + b"\n"


def message_name(channel: Channel, body: Body) -> str:
    """`event.hand-started` for one of several messages of a topic, `showdown` for the only one."""
    if len(channel.bodies) == 1:
        return channel.name
    return f"{channel.name}.{body.__struct_config__.tag or body.__name__.lower()}"


def _info() -> Schema:
    return {
        "title": "feltd",
        "version": __version__,
        "description": (
            "What a live RFID poker table tells over MQTT, and what it takes. Payloads are JSON"
            " objects; subscribers ignore fields they do not know. Take `state` at `seq` S, drop"
            " what is not above S, apply the rest in order, and on a gap ask on `resend`."
            " Everything is sent at QoS 1, so a message may come twice with the same `seq`."
        ),
        "license": {"name": "Apache-2.0"},
    }


def _server() -> Schema:
    will = {"topic": "felt/{table}/status", "qos": 1, "retain": True}
    binding = {"lastWill": will, "cleanSession": True, "bindingVersion": "0.2.0"}
    return {"host": "127.0.0.1:1883", "protocol": "mqtt", "bindings": {"mqtt": binding}}


def _channel(channel: Channel) -> Schema:
    parameters = {
        "prefix": {"description": "The configured root.", "default": "felt"},
        "table": {"description": "The table's id, [a-z0-9-]{1,32}."},
    }
    if "{reader}" in channel.address:
        parameters["reader"] = {"description": "The reader's name, [a-z0-9-]{1,32}."}
    names = [message_name(channel, body) for body in channel.bodies]
    return {
        "address": channel.address,
        "description": channel.about,
        "parameters": parameters,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in names},
    }


def _operation_name(channel: Channel) -> str:
    return f"{'take' if channel.taken else 'tell'}.{channel.name}"


def _operation(channel: Channel) -> Schema:
    operation: Schema = {
        "action": "receive" if channel.taken else "send",
        "channel": {"$ref": f"#/channels/{channel.name}"},
        "bindings": {"mqtt": {"qos": 1, "retain": channel.retain, "bindingVersion": "0.2.0"}},
    }
    if channel.reply is not None:
        operation["reply"] = {"channel": {"$ref": f"#/channels/{channel.reply}"}}
    return operation


def _messages() -> Schema:
    return {
        message_name(channel, body): {
            "name": message_name(channel, body),
            "payload": {"$ref": _REF.format(name=_schema_name(channel, body))},
        }
        for channel in CHANNELS
        for body in channel.bodies
    }


def _counted(channel: Channel, body: Body) -> bool:
    """An answer to one subscriber stands outside the count of its topic."""
    return channel.counted and body is not events.ResendGone


def _schema_name(channel: Channel, body: Body) -> str:
    """The type's name; with the channel's where another channel has the type otherwise."""
    first = next(each for each in CHANNELS if body in each.bodies)
    alike = _counted(first, body) == _counted(channel, body)
    return body.__name__ if alike else f"{body.__name__}.{channel.name}"


def _schemas() -> Schema:
    bodies = [*dict.fromkeys(body for each in CHANNELS for body in each.bodies)]
    _, components = msgspec.json.schema_components(
        [wire.Envelope, *bodies], schema_hook=lambda _: dict(_ANYTHING), ref_template=_REF
    )
    text = msgspec.json.encode(components).replace(_PYTHONS_OWN, b"")
    schemas = {name: _refined(name, schema) for name, schema in msgspec.json.decode(text).items()}
    head = schemas.pop(wire.Envelope.__name__)
    plain = {body: schemas[body.__name__] for body in bodies}
    for channel in CHANNELS:
        for body in channel.bodies:
            if not channel.taken:
                whole = _enveloped(head, plain[body], channel, body)
                schemas[_schema_name(channel, body)] = whole
    return dict(sorted(schemas.items()))


def _enveloped(head: Schema, body: Schema, channel: Channel, kind: Body) -> Schema:
    """One flat object: the envelope's fields, then the body's own."""
    counted = _counted(channel, kind)
    left_out: set[str] = set() if counted else {"seq", "late", "hand"}
    properties = {k: v for k, v in head["properties"].items() if k not in left_out}
    needed = {"v", *head["required"]} | ({"seq"} if counted else set())
    return {
        **body,
        "properties": properties | body.get("properties", {}),
        "required": [*(name for name in properties if name in needed), *body.get("required", [])],
    }


def _refined(name: str, schema: Schema) -> Schema:
    """The schema with the words of the rules in place of plain text."""
    refined = {k: v for k, v in schema.items() if k != "discriminator"}
    properties = schema.get("properties", {})
    refined["properties"] = {
        field: _refined_field(name, field, value) for field, value in properties.items()
    }
    return refined


def _refined_field(name: str, field: str, schema: Schema) -> Schema:
    if field == "kind" and name in {events.Alert.__name__, events.FloorNote.__name__}:
        return _words(*KINDS)
    if field == "command" and name == events.CommandTaken.__name__:
        tags = [each.__struct_config__.tag for each in COMMANDS]
        return schema | {"properties": {"type": _words(*map(str, tags))}, "required": ["type"]}
    if field == "v":
        return {"const": wire.VERSION}
    if field == "at":
        return {"type": "string", "format": "date-time"}
    if any(all(schema.get(k) == v for k, v in loose.items()) for loose in _LOOSE):
        return _FIELDS.get(field, schema)
    return schema
