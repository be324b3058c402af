from __future__ import annotations

import json
from pathlib import Path

import pytest
from crccheck.crc import Crc16Mcrf4Xx, Crc16X25
from hypothesis import given
from hypothesis import strategies as st

from drivers import _crc, feig, metratec, pn532, twn4

VECTORS = json.loads((Path(__file__).parent.parent / "vectors" / "vectors.json").read_text())
B24 = bytes.fromhex("E01680FF08005024")
CFG = bytes.fromhex("8100000801000500040000000000 00")

REQUESTS = {
    "pn532-hsu": {
        "nack": pn532.NACK,
        "sam_configuration": pn532.SAM_CONFIGURATION,
        "wakeup+sam_short": pn532.WAKE_UP[:14] + pn532.encode(pn532.SAM, b"\x01"),
        "in_list_passive_target_2": pn532.LIST_TWO,
        "in_list_passive_target_1": pn532.encode(pn532.LIST, b"\x01\x00"),
        "rf_field_off": pn532.FIELD_OFF,
        "rf_field_on": pn532.FIELD_ON,
        "rf_max_retries": pn532.MAX_RETRIES,
        "in_data_exchange_read4": pn532.encode(pn532.EXCHANGE, b"\x01\x30\x04"),
        "in_release_all": pn532.RELEASE_ALL,
        "set_baud_460800": pn532.encode(pn532.BAUD_RATE, b"\x06"),
    },
    "feig-iso-host": {
        "inventory": feig.encode(feig.INVENTORY, b"\x01\x00"),
        "inventory.adv": feig.encode(feig.INVENTORY, b"\x01\x00", advanced=True),
        "inventory_more": feig.encode(feig.INVENTORY, b"\x01\x80"),
        "write_cfg1": feig.encode(0x81, CFG),
        "cpu_reset": feig.encode(0x63),
        "baud_detect": feig.encode(feig.BAUD_DETECT, b"\x00"),
        "rf_reset": feig.encode(feig.RF_RESET),
        "rf_off": feig.encode(feig.RF_SWITCH, b"\x00"),
        "rf_on": feig.encode(feig.RF_SWITCH, b"\x01"),
        "antenna_1_on": feig.encode(feig.RF_SWITCH, b"\x81", advanced=True),
        "software_version": feig.encode(0x65),
        "read_blocks": feig.encode(feig.INVENTORY, b"\x23\x01" + B24 + b"\x00\x02"),
        "mux_select_ch3": feig.encode(feig.TRANSPARENT, feig.mux_select(1, 3)),
    },
    "twn4-simple": {
        "GetVersionString": twn4.encode(twn4.VERSION),
        "GetUSBType": twn4.encode(b"\x00\x05"),
        "SearchTag": twn4.encode(twn4.SEARCH_ONE),
        "SetRFOff": twn4.encode(twn4.FIELD_OFF),
        "Beep": twn4.encode(bytes.fromhex("0407646009F401F401")),
        "ISO14443A_SearchMultiTag": twn4.encode(twn4.SEARCH_MULTI),
        "ISO14443A_SelectTag": twn4.encode(bytes.fromhex("12090704D7A79A973780")),
        "ISO15693_ReadSingleBlock": twn4.encode(bytes.fromhex("0D050500FF")),
        "crc_ascii": twn4.encode(b"\x00\x05", crc=True),
        "crc_binary": twn4.encode(b"\x00\x05", "binary", crc=True),
    },
    "metratec-ascii": {
        name: metratec.encode(name)
        for name in (
            "INV",
            "SRI SS 100",
            "SRI OFF",
            "SAP MAN 3",
            "SAP AUT 8 0",
            "CNR INV",
            "BRK",
            "REQ 022000 CRC",
        )
    },
}


@pytest.mark.parametrize("proto", REQUESTS)
def test_every_request_of_the_host_is_built_as_the_vectors_have_it(proto: str) -> None:
    wanted = {}
    for vector in VECTORS:
        if vector["proto"] == proto and vector["dir"] == "host":
            raw = (
                vector["ascii"].encode() if vector["hex"] is None else bytes.fromhex(vector["hex"])
            )
            wanted[vector["name"]] = raw
    assert REQUESTS[proto] == wanted


@given(st.binary(max_size=80))
def test_both_crcs_agree_with_an_independent_catalogue(data: bytes) -> None:
    assert _crc.mcrf4xx(data) == Crc16Mcrf4Xx.calc(data)
    assert _crc.x25(data) == Crc16X25.calc(data)


def test_crc_check_values() -> None:
    assert _crc.mcrf4xx(b"123456789") == 0x6F91
    assert _crc.x25(b"123456789") == 0x906E


def test_frames_that_would_not_fit_are_refused() -> None:
    assert pn532.Decoder().feed(pn532.encode(0x40, bytes(263)))
    with pytest.raises(ValueError, match="266 bytes"):
        pn532.encode(0x40, bytes(264))
    with pytest.raises(ValueError, match="256 bytes"):
        feig.encode(0xB0, bytes(251))


def test_tag_type_masks() -> None:
    assert twn4.set_tag_types(twn4.ISO14443A).hex() == "05020000000001000000"
    assert twn4.set_tag_types(twn4.ISO15693).hex() == "05020000000004000000"
    assert twn4.set_tag_types(twn4.EM4102).hex() == "05020100000000000000"
