from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.pcsc import (
    BUZZER_OFF,
    GET_UID,
    LEDS_OFF,
    Atr,
    Decoder,
    Firmware,
    Settings,
    Status,
    Uid,
)
from drivers.sim.vcard import ICODE, VirtualCard, storage_atr

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "pcsc.json").read_text())
ATRS = [vector for vector in VECTORS if vector["name"] == "atr"]
ANSWERS = [vector for vector in VECTORS if vector["name"] == "apdu.rsp"]
COMMANDS = {vector["hex"] for vector in VECTORS if vector["name"] == "apdu"}
ICODE_UID = bytes.fromhex("E0040150954F02B1")


def uid(data, order="auto"):
    (frame,) = Decoder(order).feed(data + b"\x90\x00")
    assert isinstance(frame, Uid)
    return frame.uid


@pytest.mark.parametrize("vector", ATRS, ids=lambda vector: vector["meaning"])
def test_atr_vectors(vector):
    raw = bytes.fromhex(vector["hex"])
    (atr,) = Decoder().feed(raw)
    assert isinstance(atr, Atr)
    assert atr.raw == raw
    assert atr.card == int.from_bytes(raw[13:15], "big")
    assert (atr.standard or "?").replace(" ", "").replace("-3", "") in {
        "ISO14443A",
        "ISO15693",
        "FeliCa",
    }
    assert storage_atr(raw[12], atr.card) == raw


@pytest.mark.parametrize("vector", ATRS, ids=lambda vector: vector["meaning"])
def test_an_atr_with_any_byte_damaged_or_missing_is_none(vector):
    raw = bytes.fromhex(vector["hex"])
    for at in range(1, len(raw)):
        damaged = raw[:at] + bytes([raw[at] ^ 0x01]) + raw[at + 1 :]
        for message in (damaged, raw[:at], raw + raw[:at]):
            assert not any(isinstance(frame, Atr) for frame in Decoder().feed(message))


@pytest.mark.parametrize("vector", ANSWERS, ids=lambda vector: vector["meaning"])
def test_answer_vectors(vector):
    raw = bytes.fromhex(vector["hex"])
    assert Decoder().feed(raw) == [Status(int.from_bytes(raw[-2:], "big"), raw[:-2])]


def test_the_commands_sent_are_those_of_the_manuals():
    assert {GET_UID.hex(" "), LEDS_OFF.hex(" ")} <= COMMANDS
    assert BUZZER_OFF.hex() == "ff00520000"


@pytest.mark.parametrize("data", ["01020304", "04A1B2C3D4E5F6", "04A1B2C3D4E5F6070809"])
def test_iso14443_uids_come_as_they_are(data):
    assert uid(bytes.fromhex(data)) == data
    assert uid(bytes.fromhex(data), "lsb") == data


@pytest.mark.parametrize("raw", [ICODE_UID, ICODE_UID[::-1]])
def test_iso15693_uids_come_out_e0_first(raw):
    assert uid(raw) == ICODE_UID.hex().upper()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("E0040150954FAAE0", "E0040150954FAAE0"),
        ("E0AA4F95500104E0", "E0040150954FAAE0"),
        ("E0040150954F07E0", "E0040150954F07E0"),
    ],
)
def test_an_iso15693_uid_with_e0_at_both_ends_is_told_by_its_maker(raw, expected):
    assert uid(bytes.fromhex(raw)) == expected


@pytest.mark.parametrize(
    ("raw", "order", "expected"),
    [
        ("E0040150954F07E0", "msb", "E0040150954F07E0"),
        ("E0040150954F07E0", "lsb", "E0074F95500104E0"),
        ("E0AA4F95500104E0", "msb", "E0AA4F95500104E0"),
        ("012E4CE6D1A4B05F", "lsb", "5FB0A4D1E64C2E01"),
        ("E0040150954F02B1", "lsb", "E0040150954F02B1"),
    ],
)
def test_the_configured_byte_order_holds_where_a_uid_does_not_show_it(raw, order, expected):
    assert uid(bytes.fromhex(raw), order) == expected


def test_an_eight_byte_uid_that_is_no_iso15693_stays():
    assert uid(bytes.fromhex("012E4CE6D1A4B05F")) == "012E4CE6D1A4B05F"


@pytest.mark.parametrize("data", ["00000000", "", "E0", "E0E0", "010203", "0102030405", "00" * 8])
def test_zeros_and_odd_lengths_are_no_uid(data):
    raw = bytes.fromhex(data)
    assert Decoder().feed(raw + b"\x90\x00") == [Status(0x9000, raw)]


@pytest.mark.parametrize("sw", ["6300", "6281", "6400", "6A81", "6700"])
def test_a_uid_with_a_bad_status_is_none(sw):
    assert Decoder().feed(bytes.fromhex("04A1B2C3D4E5F6" + sw)) == [
        Status(int(sw, 16), bytes.fromhex("04A1B2C3D4E5F6"))
    ]


def test_a_uid_answer_that_could_be_an_atr():
    message = bytes.fromhex("3B04A1B29000")
    assert Decoder().answer(message) == [Uid("3B04A1B2")]


@pytest.mark.parametrize("message", [b"", b"\x90", bytes(65539)])
def test_what_is_no_message_is_counted(message):
    decoder = Decoder()
    assert decoder.feed(message) == []
    assert decoder.errors == 1


@given(st.lists(st.one_of(st.binary(max_size=300), st.sampled_from([b"\x3b\xff", b"\x3b"]))))
def test_any_bytes_are_frames_or_counted_errors(messages):
    decoder = Decoder()
    for message in messages:
        before = decoder.errors
        frames = decoder.feed(message)
        assert len(frames) + decoder.errors - before == 1
        assert all(isinstance(frame, Uid | Status | Atr) for frame in frames)


@given(st.binary(min_size=4, max_size=10))
def test_the_virtual_card_and_the_decoder_agree(raw):
    card = VirtualCard(raw, ICODE)
    (frame,) = Decoder("msb").answer(card.answer(GET_UID))
    if len(raw) in {4, 7, 8, 10} and any(raw):
        assert frame in {Uid(raw.hex().upper()), Uid(raw[::-1].hex().upper())}
    else:
        assert frame == Status(0x9000, raw)


def convert(**keys):
    block = {"name": "shoe", "driver": "pcsc", "port": "uTrust", "antennas": {"1": "shoe"}}
    return msgspec.convert(block | keys, Settings, str_keys=True)


def test_settings_from_a_configuration():
    assert convert(quiet=False) == Settings(
        name="shoe", port="uTrust", antennas={1: "shoe"}, quiet=False
    )


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"antennas": {}}, "antennas"),
        ({"antennas": {"1": "shoe", "2": "muck"}}, "exactly one"),
        ({"interval": 0.6}, "interval"),
        ({"interval": 0}, "interval"),
        ({"port": ""}, "port"),
        ({"uid_order": "middle"}, "uid_order"),
        ({"baud": 9600}, "baud"),
    ],
)
def test_settings_that_cannot_be_meant(keys, text):
    with pytest.raises(msgspec.ValidationError, match=text):
        convert(**keys)


@pytest.mark.parametrize("end", ["", "9000"])
def test_firmware_of_the_acr122u_is_no_uid(end: str) -> None:
    raw = b"ACR122U215" + bytes.fromhex(end)
    assert Decoder().feed(raw) == [Firmware("ACR122U215")]
