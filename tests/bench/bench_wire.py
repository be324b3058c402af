"""Every message and every command, encoded and decoded, beside the same shapes in pydantic v2.

Run: `python tests/bench/bench_wire.py`

Told: a body that is there becomes a whole message, as `Wire.body` does it, envelope and time
included. pydantic does the same with two models that are merged (`merged`) and with one flat model
that is filled in and dumped (`flat`); `body` is the encoding of the body alone, both ways. Taken: a
command is decoded with every check on its fields. Before anything is timed both have to give the
same JSON, and to refuse the same bad commands.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import warnings
from functools import cache
from pathlib import Path
from time import perf_counter
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import pydantic
import pydantic_core
from msgspec import UNSET, Meta, Struct, UnsetType

from daemon import commands, schema
from daemon.wire import Envelope

HERE = Path(__file__).parents[1]
CALLS = 500
ROUNDS = 7
STRICT = pydantic.ConfigDict(strict=True, frozen=True, extra="forbid")
BAD = (
    b'{"id":"7","type":"fold","seat":11}',
    b'{"id":"7","type":"fold","seat":"4"}',
    b'{"id":"7","type":"fold"}',
    b'{"id":"","type":"fold","seat":4}',
    b'{"id":"7","type":"fold","seat":4,"more":1}',
    b'{"id":"7","type":"muck","seat":4}',
    b'{"id":"7","type":"card","zone":"board","card":"1s"}',
    b'{"id":"7","type":"card","zone":"board","card":"As\\n"}',
    b'{"id":"7","type":"pots","pots":[],"chip":25}',
    b'{"id":"7","type":"fold","seat":4',
)


def golden():
    """One filled message of each kind, from the test that keeps their bytes."""
    path = HERE / "daemon" / "test_golden.py"
    spec = importlib.util.spec_from_file_location("test_golden", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def translated(kind: Any) -> Any:
    """A msgspec annotation as pydantic writes it."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[translated(inner[0]), constraints(inner[1])]
    if origin in {Union, UnionType}:
        kinds = [NoneType if each is UnsetType else translated(each) for each in inner]
        return Union[tuple(kinds)]  # noqa: UP007 - made of data
    if origin is not None and origin is not Literal:
        return origin[tuple(x if x is Ellipsis else translated(x) for x in inner)]
    return model(kind) if isinstance(kind, type) and issubclass(kind, Struct) else kind


def constraints(meta: Meta) -> Any:
    """The same bounds; in pydantic's patterns `$` is the end and nothing else."""
    names = ("ge", "le", "min_length", "max_length", "pattern")
    found = {name: value for name in names if (value := getattr(meta, name)) is not None}
    if meta.pattern is not None:
        found["pattern"] = meta.pattern.removesuffix(commands.LAST)
    return pydantic.Field(**found)


def fields_of(struct: type[Struct]) -> dict[str, Any]:
    """Names, types and defaults for `create_model`; what may be unset is None there."""
    hints = get_type_hints(struct, include_extras=True)
    config = struct.__struct_config__
    found: dict[str, Any] = {}
    if config.tag_field is not None:
        found[config.tag_field] = (Literal[config.tag], config.tag)
    for each in msgspec.structs.fields(struct):
        default = None if each.default is UNSET else each.default
        if each.default_factory is not msgspec.NODEFAULT:
            default = each.default_factory()
        kind = translated(hints[each.name])
        found[each.encode_name] = (kind, ... if default is msgspec.NODEFAULT else default)
    return found


@cache
def model(struct: type[Struct]) -> type[pydantic.BaseModel]:
    """The pydantic model of a structure."""
    return pydantic.create_model(struct.__name__, __config__=STRICT, **fields_of(struct))


def flat_model(struct: type[Struct]) -> type[pydantic.BaseModel]:
    """Envelope and body as one model."""
    name = f"Told{struct.__name__}"
    both = fields_of(Envelope) | fields_of(struct)
    return pydantic.create_model(name, __config__=STRICT, **both)


def seconds(call: Any) -> float:
    """One call; the best of several rounds, the first of which warms up."""
    best = float("inf")
    for _ in range(ROUNDS + 1):
        start = perf_counter()
        for _ in range(CALLS):
            call()
        best = min(best, perf_counter() - start)
    return best / CALLS


def told(sample: Any, body: Struct) -> tuple[str, float, float, float, float]:
    """One message: its name, our seconds, and pydantic's ratios: merged, flat, the body alone."""
    ours = sample.encoded(body)
    parts = json.loads(ours)
    head = {name: parts.pop(name) for name in Envelope.__struct_fields__ if name in parts}
    numbers = {name: head[name] for name in ("seq", "hand") if name in head}
    now, wire = 75_250, sample.WIRE
    envelope, whole = model(Envelope), flat_model(type(body))
    peer = model(type(body)).model_validate_json(json.dumps(parts))
    filled = {name: getattr(peer, name) for name in parts}

    def merged() -> bytes:
        top = envelope(v=1, table=wire.table, epoch=wire.epoch, at=wire.at(now), **numbers)
        both = top.model_dump(exclude_unset=True) | peer.model_dump(exclude_unset=True)
        return pydantic_core.to_json(both)

    def flat() -> str:
        made = whole(v=1, table=wire.table, epoch=wire.epoch, at=wire.at(now), **numbers, **filled)
        return made.model_dump_json(exclude_unset=True)

    assert json.loads(merged()) == json.loads(flat()) == json.loads(ours)
    assert json.loads(peer.model_dump_json(exclude_unset=True)) == parts
    took = seconds(lambda: wire.body(body, now, **numbers))
    alone = seconds(lambda: msgspec.json.encode(body))
    theirs = seconds(lambda: peer.model_dump_json(exclude_unset=True))
    name = schema.message_name(sample.channel_of(body), type(body))
    return name, took, seconds(merged) / took, seconds(flat) / took, theirs / alone


def taken(
    sample: Any, adapter: pydantic.TypeAdapter[Any], body: Struct
) -> tuple[str, float, float]:
    """One command: its name, our seconds, and pydantic's ratio."""
    data = sample.encoded(body)
    peer = adapter.validate_json(data)
    assert json.loads(peer.model_dump_json(exclude_unset=True)) == json.loads(data)
    assert commands.decode(data) == body
    took = seconds(lambda: commands.decode(data))
    theirs = seconds(lambda: adapter.validate_json(data))
    return f"command.{body.__struct_config__.tag}", took, theirs / took


def refuse(adapter: pydantic.TypeAdapter[Any]) -> None:
    """Both have to refuse what is no command, or they do not do the same work."""
    for data in BAD:
        for decode, error in (
            (commands.decode, commands.CommandError),
            (adapter.validate_json, pydantic.ValidationError),
        ):
            try:
                decode(data)
            except error:
                continue
            raise AssertionError(f"{decode} takes {data!r}")


def main() -> None:
    """A line for each kind of message and of command, then the medians."""
    warnings.simplefilter("error")
    sample = golden()
    kinds = tuple(model(each) for each in get_args(commands.AnyCommand))
    adapter = pydantic.TypeAdapter(
        Annotated[Union[kinds], pydantic.Field(discriminator="type")]  # noqa: UP007 - made of data
    )
    refuse(adapter)
    print(f"pydantic {pydantic.VERSION}, msgspec {msgspec.__version__}")
    print(f"{'encode':34} {'us':>7} {'merged':>9} {'flat':>9} {'body':>9}")
    rows = [told(sample, body) for body in sample.BODIES]
    for name, took, *ratios in rows:
        print(f"{name:34} {took * 1e6:7.2f}", *(f"{ratio:8.1f}x" for ratio in ratios))
    middle = [statistics.median(row[place] for row in rows) for place in (2, 3, 4)]
    print(f"{'median ratio':42}", *(f"{ratio:8.1f}x" for ratio in middle))
    print(f"{'decode':34} {'us':>7} {'pydantic':>9}")
    inward = [taken(sample, adapter, body) for body in sample.COMMANDS[:-1]]
    for name, took, ratio in inward:
        print(f"{name:34} {took * 1e6:7.2f} {ratio:8.1f}x")
    print(f"{'median ratio':42} {statistics.median(row[2] for row in inward):8.1f}x")


if __name__ == "__main__":
    sys.exit(main())
