"""One test over all serial families: vectors whole, cut, amid rubbish, and fuzzed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers import feig, lines, metratec, pn532, rdm6300, twn4
from drivers.feig import Answer, BareStatus
from drivers.metratec import Block, Inventory, Word
from drivers.pn532 import Message, Signal

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "vectors.json").read_text())

B1, B2 = "E0040150954F02B1", "E200600311753E33"
BC, B24 = "E01680FF08004FBC", "E01680FF08005024"


def _rx(proto: str) -> dict[str, bytes]:
    """The vectors that come from a reader, by name."""
    found = {}
    for vector in VECTORS:
        if vector["proto"] == proto and (vector["dir"] != "host" or proto == "pn532-hsu"):
            raw = (
                vector["ascii"].encode() if vector["hex"] is None else bytes.fromhex(vector["hex"])
            )
            if raw:
                found[vector["name"]] = raw
    return found


def _bare() -> feig.Decoder:
    decoder = feig.Decoder()
    decoder.expect()
    return decoder


@dataclass(frozen=True)
class Family:
    decoder: Any
    rubbish: bytes
    meaning: dict[str, list[Any]]
    proto: str


PN532 = {
    "ack": [Signal.ACK],
    "nack": [Signal.NACK],
    "error": [Signal.SYNTAX_ERROR],
    "get_firmware_version.rsp": [Message(0x03, bytes.fromhex("32010607"))],
    "sam_configuration": [Message(0x14, b"\x01\x00\x00", from_chip=False)],
    "sam_configuration.rsp": [Message(0x15, b"")],
    "wakeup+sam_short": [Message(0x14, b"\x01", from_chip=False)],
    "in_list_passive_target_2": [Message(0x4A, b"\x02\x00", from_chip=False)],
    "in_list_passive_target_1": [Message(0x4A, b"\x01\x00", from_chip=False)],
    "in_list.rsp.none": [Message(0x4B, b"\x00")],
    "in_list.rsp.ultralight": [
        Message(
            0x4B,
            bytes.fromhex("0101004400070416C6C2D73881"),
            targets=1,
            tags=("0416C6C2D73881",),
        )
    ],
    "in_list.rsp.two_ultralight": [
        Message(
            0x4B,
            bytes.fromhex("0201004400070416C6C2D73881020044000704A1B2C3D4E580"),
            targets=2,
            tags=("0416C6C2D73881", "04A1B2C3D4E580"),
        )
    ],
    "rf_field_off": [Message(0x32, b"\x01\x00", from_chip=False)],
    "rf_field_on": [Message(0x32, b"\x01\x01", from_chip=False)],
    "rf_max_retries": [Message(0x32, bytes.fromhex("05FF0102"), from_chip=False)],
    "in_data_exchange_read4": [Message(0x40, bytes.fromhex("013004"), from_chip=False)],
    "in_data_exchange.rsp": [Message(0x41, bytes(range(17)), status=0)],
    "in_data_exchange.rsp.timeout": [Message(0x41, b"\x01", status=1)],
    "in_release_all": [Message(0x52, b"\x00", from_chip=False)],
    "set_baud_460800": [Message(0x10, b"\x06", from_chip=False)],
    "extended_frame.rsp": [Message(0x01, b"456" + bytes(256))],
}


def _one(uid: str) -> bytes:
    return b"\x01\x03\x00" + bytes.fromhex(uid)


TWO = b"\x02\x03\x00" + bytes.fromhex(B24) + b"\x03\x00" + bytes.fromhex(BC)
BLOCKS = bytes.fromhex("020400010203040005060708")
FEIG = {
    "inventory.rsp.none": [Answer(0, 0xB0, 0x01, b"")],
    "inventory.rsp.one_b": [Answer(0, 0xB0, 0x00, _one(BC), tags=(BC,))],
    "inventory.rsp.two": [Answer(0, 0xB0, 0x00, TWO, tags=(B24, BC))],
    "inventory.rsp.more": [Answer(0, 0xB0, 0x94, _one(B24), tags=(B24,), more=True)],
    "rsp.rf_error": [Answer(0, 0xB0, 0x83, b"\x00", partial=True)],
    "write_cfg.rsp": [Answer(0, 0x81, 0x00, b"")],
    "baud_detect.rsp": [Answer(0, 0x52, 0x00, b"")],
    "software_version.rsp": [Answer(0, 0x65, 0x00, bytes.fromhex("021000004D0008"))],
    "read_blocks.rsp": [Answer(0, 0xB0, 0x00, BLOCKS, partial=True)],
    "rsp.iso_error": [Answer(0, 0xB0, 0x95, b"\x10", partial=True)],
}
TWN4 = {
    "GetVersionString.rsp": [twn4.Answer(0, b"\x1dTWN4/B1.03/CCF1.57/PRS1.03/PI")],
    "SearchTag.rsp": [twn4.Answer(0, bytes.fromhex("0180200466CF4DC2"), ("66CF4DC2",))],
    "SetRFOff.rsp": [twn4.Answer(0, b"")],
    "SetTagTypes.rsp": [twn4.Answer(0, b"")],
    "Beep.rsp": [twn4.Answer(0, b"")],
    "ISO14443A_SelectTag.rsp": [twn4.Answer(0, b"\x01")],
    "ISO15693_ReadSingleBlock.rsp": [twn4.Answer(0, bytes.fromhex("010400000000"))],
    "ISO15693_GetSystemInformation.rsp": [
        twn4.Answer(0, bytes.fromhex("01EF50781B06013C16E002000442000F"))
    ],
    "crc_ascii.rsp": [twn4.Answer(0, b"\x01")],
}
METRATEC = {
    "INV.rsp": [Inventory((B1, B2), 2, 12)],
    "SRI SS 100.rsp": [Word("OK!")],
    "SRI OFF.rsp": [Word("OK!")],
    "SAP MAN 3.rsp": [Word("OK!")],
    "SAP AUT 8 0.rsp": [Word("OK!")],
    "BRK.rsp": [Word("BRA")],
    "REQ 022000 CRC.rsp": [Word("TNR")],
    "REV.rsp": [Word("DESKID_ISO     01000218")],
}
RDM = {
    "67003B51C6CB": [rdm6300.Card(0x67, 3887558, "003B51C6")],
    "67003BA86C98": [rdm6300.Card(0x67, 3909740, "003BA86C")],
    "67003BA86793": [rdm6300.Card(0x67, 3909735, "003BA867")],
    "bad_checksum": [],
    "too_long": [],
    "id12la_style": [rdm6300.Card(0x67, 3887558, "003B51C6")],
}
LINES = {
    f"{B1}\r\n": [lines.Told(B1)],
    "04:16:c6:c2:d7:38:81\n": [lines.Told("0416C6C2D73881")],
    "66-CF-4D-C2\r": [lines.Told("66CF4DC2")],
    "B1 02 4F 95 50 01 04 E0\n": [lines.Told(B1)],
    "01020304050607080910\n": [lines.Told("01020304050607080910")],
    "0102030405\n": [],
    "hello\n": [],
    f'{{"v":1,"ant":3,"uids":["{B1}"],"seq":17}}\n': [lines.Snapshot(3, (B1,), 17)],
    '{"v":1,"ant":3,"uids":[]}\n': [lines.Snapshot(3, ())],
    '{"v":2,"ant":3,"uids":[]}\n': [],
    '{"v":1,"ant":0,"uids":[]}\n': [],
    '{"v":1,"ant":3,"uids":["E004"]}\n': [],
}

TEXT = b"\x00\xff\x80rubb\xfeish\r"
FAMILIES = {
    "pn532": Family(pn532.Decoder, b"\x13\x00\xff\x55\x00\x00\xff\x05\x37", PN532, "pn532-hsu"),
    "feig": Family(feig.Decoder, b"\xff\x07\x02\x00\x11\x00\xb0", FEIG, "feig-iso-host"),
    "twn4": Family(twn4.Decoder, TEXT, TWN4, "twn4-simple"),
    "metratec": Family(metratec.Decoder, TEXT, METRATEC, "metratec-ascii"),
    "rdm6300": Family(rdm6300.Decoder, b"\x0267003B\xff51\x03\x0212", RDM, "rdm6300"),
    "lines": Family(lines.Decoder, TEXT, LINES, ""),
}


def cases() -> list[Any]:
    found = []
    for name, family in FAMILIES.items():
        raws = _rx(family.proto) or {text: text.encode() for text in family.meaning}
        for vector, frames in family.meaning.items():
            found.append(pytest.param(family, raws[vector], frames, id=f"{name}-{vector.strip()}"))
    return found


def test_every_vector_of_a_reader_is_checked() -> None:
    elsewhere = {"mux_select.rsp"}
    for family in FAMILIES.values():
        assert set(_rx(family.proto)) - elsewhere <= set(family.meaning)


def bytewise(decoder: Any, data: bytes) -> list[Any]:
    return [frame for byte in data for frame in decoder.feed(bytes((byte,)))]


@pytest.mark.parametrize(("family", "raw", "frames"), cases())
def test_whole_and_byte_by_byte(family: Family, raw: bytes, frames: list[Any]) -> None:
    whole, single = family.decoder(), family.decoder()
    assert whole.feed(raw) == frames
    assert bytewise(single, raw) == frames
    assert single.errors == whole.errors == (0 if frames else 1)


@pytest.mark.parametrize(("family", "raw", "frames"), cases())
def test_rubbish_before_between_and_behind(family: Family, raw: bytes, frames: list[Any]) -> None:
    mixed = family.rubbish + raw + family.rubbish + raw + family.rubbish
    whole, single = family.decoder(), family.decoder()
    found = [frame for frame in whole.feed(mixed) if frame not in noise(family)]
    assert found == frames * 2
    assert [frame for frame in bytewise(single, mixed) if frame not in noise(family)] == found
    assert single.errors == whole.errors > 0


def noise(family: Family) -> list[Any]:
    """Words that a line of rubbish makes in a protocol whose words are open-ended."""
    return family.decoder().feed(family.rubbish)


@pytest.mark.parametrize(("family", "raw", "frames"), cases())
def test_every_truncation_gives_nothing_and_hides_nothing(
    family: Family, raw: bytes, frames: list[Any]
) -> None:
    end = len(raw.rstrip(b"\r\n\x00")) if family.decoder is not feig.Decoder else len(raw)
    for cut in range(end):
        decoder = family.decoder()
        assert [f for f in decoder.feed(raw[:cut]) if f in frames and len(frames) == 1] == []
        again = raw if family.rubbish is not TEXT else b"\r\n" + raw
        assert not frames or decoder.feed(again)[-1:] == frames[-1:]


def test_a_cut_frame_does_not_hide_a_shorter_one_behind_it() -> None:
    raws = _rx("feig-iso-host")
    decoder = feig.Decoder()
    stream = raws["inventory.rsp.two"][:9] + raws["inventory.rsp.none"]
    assert decoder.feed(stream) == FEIG["inventory.rsp.none"]
    raws = _rx("pn532-hsu")
    chip = pn532.Decoder()
    stream = raws["in_list.rsp.two_ultralight"][:9] + raws["in_list.rsp.none"]
    assert chip.feed(stream) == PN532["in_list.rsp.none"]


def test_a_bare_mux_answer_counts_only_when_expected() -> None:
    raw = _rx("feig-iso-host")["mux_select.rsp"]
    assert feig.Decoder().feed(raw) == []
    assert _bare().feed(raw) == bytewise(_bare(), raw) == [BareStatus(0)]
    assert _bare().feed(b"\x05" + raw + raw) == [BareStatus(0)]
    assert _bare().feed(_rx("feig-iso-host")["inventory.rsp.one_b"][:5]) == []
    framed = _rx("feig-iso-host")["baud_detect.rsp"]
    assert _bare().feed(framed + raw) == FEIG["baud_detect.rsp"]


def test_block_of_a_tag() -> None:
    raw = b"TDT\r0011112222B7DD\rCOK\rNCL\r"
    good = Block(0, bytes.fromhex("11112222"), intact=True)
    assert metratec.Decoder().feed(raw) == bytewise(metratec.Decoder(), raw) == [good]
    spoiled = raw.replace(b"1111", b"1110")
    assert metratec.Decoder().feed(spoiled) == [Block(0, bytes.fromhex("11102222"), intact=False)]
    collided = raw.replace(b"NCL", b"CDT")
    assert metratec.Decoder().feed(collided) == [Block(0, good.data, intact=False)]


DECODERS = {
    **{name: family.decoder for name, family in FAMILIES.items()},
    "feig-bare": _bare,
    "twn4-crc": lambda: twn4.Decoder(crc=True),
    "twn4-binary": lambda: twn4.Decoder("binary"),
    "twn4-binary-crc": lambda: twn4.Decoder("binary", crc=True),
    "lines-pattern": lambda: lines.Decoder(pattern=r"(?P<antenna>\d+) (?P<uid>\w+)"),
}
SEEDS = {
    name: list(_rx(FAMILIES[name.split("-", maxsplit=1)[0]].proto).values())
    or [text.encode() for text in LINES]
    for name in DECODERS
}


@pytest.mark.parametrize("name", DECODERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_bytes_in_any_pieces_give_the_same(name: str, data: st.DataObject) -> None:
    piece = st.binary(max_size=40) | st.sampled_from(SEEDS[name]) | st.sampled_from(SEEDS[name])
    pieces = data.draw(st.lists(piece, max_size=8))
    stream = b"".join(pieces)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    whole, cut = DECODERS[name](), DECODERS[name]()
    expected = whole.feed(stream)
    edges = zip([0, *cuts], [*cuts, len(stream)], strict=True)
    found = [frame for start, end in edges for frame in cut.feed(stream[start:end])]
    assert found == expected
    assert cut.errors == whole.errors
    for frame in expected:
        for uid in getattr(frame, "tags", ()):
            assert len(uid) in {8, 14, 16, 20}
            assert uid == bytes.fromhex(uid).hex().upper()


@pytest.mark.parametrize("name", DECODERS)
def test_endless_noise_is_not_kept(name: str) -> None:
    decoder = DECODERS[name]()
    noise = bytes(range(256)) * 16
    for shift in range(8):
        decoder.feed(noise[shift:] + b"{" * 3000)
    assert decoder.errors > 0
    assert _held(decoder) < 4096


def _held(thing: Any) -> int:
    parts = getattr(thing, "__dict__", {}).values()
    buffers = [part for part in parts if isinstance(part, bytes | bytearray)]
    inner = [part for part in parts if type(part).__module__.startswith("drivers")]
    return sum(map(len, buffers)) + sum(map(_held, inner))


def test_a_frame_that_began_inside_noise_outlives_the_frame_before_it() -> None:
    raws = _rx("feig-iso-host")
    one, two = raws["inventory.rsp.one_b"], raws["inventory.rsp.two"]
    for cut in range(1, len(two)):
        decoder = feig.Decoder()
        found = decoder.feed(b"\x40" + one[:7]) + decoder.feed(one[7:] + two[:cut])
        assert found + decoder.feed(two[cut:]) == [
            *FEIG["inventory.rsp.one_b"],
            *FEIG["inventory.rsp.two"],
        ]
