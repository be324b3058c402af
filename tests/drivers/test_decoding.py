"""What the frames of each family mean, beyond the vectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers import _uid, feig, lines, metratec, pn532, rdm6300, twn4
from drivers._crc import mcrf4xx

A, B = "E0040150954F02B1", "E0040150954F02B2"


def chip(code: int, data: bytes) -> pn532.Message:
    body = bytes((0xD5, code)) + data
    raw = b"\x00\x00\xff" + bytes((len(body), -len(body) & 0xFF)) + body
    (frame,) = pn532.Decoder().feed(raw + bytes((-sum(body) & 0xFF, 0)))
    assert isinstance(frame, pn532.Message)
    return frame


@pytest.mark.parametrize("uid", ["66CF4DC2", "0416C6C2D73881", "01020304050607080910"])
@pytest.mark.parametrize("ats", ["", "067577810280", "01"])
def test_pn532_targets_with_and_without_ats(uid: str, ats: str) -> None:
    raw = bytes.fromhex(uid)
    first = bytes((1, 0, 4, 0x20 if ats else 0, len(raw))) + raw + bytes.fromhex(ats)
    second = bytes.fromhex("020044000704A1B2C3D4E580")
    assert chip(0x4B, b"\x02" + first + second).tags == (uid, "04A1B2C3D4E580")
    assert chip(0x4B, b"\x01" + first).tags == (uid,)


def test_pn532_targets_that_break_off_or_have_no_known_length() -> None:
    assert chip(0x4B, bytes.fromhex("02010044000704")).tags == ()
    assert chip(0x4B, bytes.fromhex("0101004400050102030405")).tags == ()
    assert chip(0x4B, b"\x02").targets == 2


def reader(status: int, data: bytes, *, advanced: bool = False) -> feig.Answer:
    body = bytes((0, 0xB0, status)) + data
    size = len(body) + (5 if advanced else 3)
    raw = (bytes((2, size >> 8, size & 0xFF)) if advanced else bytes((size,))) + body
    (frame,) = feig.Decoder().feed(raw + mcrf4xx(raw).to_bytes(2, "little"))
    assert isinstance(frame, feig.Answer)
    return frame


def sets(*uids: str) -> bytes:
    return bytes((len(uids),)) + b"".join(b"\x03\x00" + bytes.fromhex(uid) for uid in uids)


def test_feig_standard_and_advanced_answers_mean_the_same() -> None:
    standard, advanced = reader(0, sets(A, B)), reader(0, sets(A, B), advanced=True)
    assert standard.tags == advanced.tags == (A, B)
    assert (standard.advanced, advanced.advanced) == (False, True)


def test_feig_answer_beyond_255_bytes() -> None:
    uids = [f"E00401509500{number:04X}" for number in range(40)]
    assert reader(0, sets(*uids), advanced=True).tags == tuple(uids)


@pytest.mark.parametrize("status", [0x02, 0x03, 0x83, 0x84, 0x90, 0x93, 0x95])
def test_feig_disturbed_inventory_keeps_what_it_heard(status: int) -> None:
    answer = reader(status, sets(A, B))
    assert (answer.tags, answer.partial, answer.more) == ((A, B), True, False)
    cut = reader(status, sets(A, B)[:-3])
    assert (cut.tags, cut.partial) == ((A,), True)


def test_feig_more_is_not_partial_by_itself() -> None:
    answer = reader(0x94, sets(A, A, B))
    assert (answer.tags, answer.partial, answer.more) == ((A, B), False, True)


def test_feig_sets_that_do_not_add_up_are_no_tags() -> None:
    answer = reader(0x00, sets(A, B)[:-1])
    assert (answer.tags, answer.partial) == ((), True)
    unknown = reader(0x00, b"\x01\x81\x00" + bytes(8))
    assert (unknown.tags, unknown.partial) == ((), True)


def test_feig_iso14443a_sets() -> None:
    seven = b"\x04\x00\x01" + bytes.fromhex("0416C6C2D73881")[::-1]
    ten = b"\x04\x04\x02" + bytes.fromhex("01020304050607080910")[::-1]
    assert reader(0x00, b"\x02" + seven + ten).tags == ("0416C6C2D73881", "01020304050607080910")


def answer(text: str) -> twn4.Answer:
    (found,) = twn4.Decoder().feed(text.encode() + b"\r")
    return found


def test_twn4_iso15693_is_turned_round() -> None:
    assert answer("0001824008B1024F95500104E0").tags == (A,)
    assert answer("0001824008E0040150954F02B1").tags == (A,)


def test_twn4_em4102_goes_by_its_low_four_bytes() -> None:
    assert answer("00014028056700 3B51C6".replace(" ", "")).tags == ("003B51C6",)


THREE = ("04D7A79A973780", "042DA79A973780", "0450A79A973780")


@pytest.mark.parametrize("head", ["0318", "18", "03"])
def test_twn4_lists(head: str) -> None:
    found = answer("0001" + head + "".join("07" + uid for uid in THREE))
    assert found.tags == THREE
    assert answer("0000").tags == ()
    assert not answer("0000").found


def test_twn4_list_that_does_not_add_up_is_no_tags() -> None:
    found = answer("00010418" + "".join("07" + uid for uid in THREE))
    assert (found.tags, found.found) == ((), True)


@pytest.mark.parametrize("mode", ["ascii", "binary"])
@pytest.mark.parametrize("crc", [False, True])
def test_twn4_modes(mode: twn4.Mode, *, crc: bool) -> None:
    raw = twn4.encode(bytes.fromhex("000180200466CF4DC2"), mode, crc=crc)
    decoder = twn4.Decoder(mode, crc=crc)
    assert [frame.tags for frame in decoder.feed(raw + raw)] == [("66CF4DC2",)] * 2
    if crc:
        spoiled = raw.replace(b"66CF", b"66CE").replace(b"\x66\xcf", b"\x66\xce")
        assert decoder.feed(spoiled + raw)[-1].tags == ("66CF4DC2",)
        assert decoder.errors == 1


def test_twn4_binary_with_crc_finds_its_beginning_again() -> None:
    raw = twn4.encode(b"\x00\x01", "binary", crc=True)
    decoder = twn4.Decoder("binary", crc=True)
    assert decoder.feed(b"\x55\x00\x02" + raw[:3] + raw) == [twn4.Answer(0, b"\x01")]


def test_twn4_version() -> None:
    raw = "001D54574E342F42312E30332F434346312E35372F505253312E30332F5049"
    assert answer(raw).text == "TWN4/B1.03/CCF1.57/PRS1.03/PI"


def heard(raw: bytes) -> list[metratec.Frame]:
    return metratec.Decoder().feed(raw)


def test_metratec_count_decides_whether_the_look_is_whole() -> None:
    whole = metratec.Inventory((A, B), 2)
    assert heard(f"{A}\r{B}\rIVF 02\r\n".encode()) == [whole]
    decoder = metratec.Decoder()
    (lost,) = decoder.feed(f"{A}\rE00401\xff0954F02B2\rIVF 02\r\n".encode("latin-1"))
    assert lost == metratec.Inventory((A,), 2, partial=True)
    assert decoder.errors == 2


def test_metratec_tags_of_a_lost_count_do_not_reach_the_next_inventory() -> None:
    decoder = metratec.Decoder()
    stream = f"{A}\rIV\xff 01\r\n{B}\rIVF 01\r\n".encode("latin-1")
    assert decoder.feed(stream) == [metratec.Inventory((B,), 1)]
    assert decoder.errors == 2


def test_metratec_lengths_of_iso14443() -> None:
    raw = b"66CF4DC2\r0416C6C2D73881\r01020304050607080910\rIVF 03\r"
    assert heard(raw) == [
        metratec.Inventory(("66CF4DC2", "0416C6C2D73881", "01020304050607080910"), 3)
    ]


def test_metratec_line_of_another_size_is_damage() -> None:
    decoder = metratec.Decoder(frozenset((8,)))
    assert decoder.feed(f"{A}\r{B[:14]}\rIVF 02\r\n".encode()) == [
        metratec.Inventory((A,), 2, partial=True)
    ]
    assert decoder.errors == 1


def test_rdm_second_start_begins_anew() -> None:
    decoder = rdm6300.Decoder()
    assert decoder.feed(b"\x02670\x0267003B51C6CB\x03") == [rdm6300.Card(0x67, 3887558, "003B51C6")]
    assert decoder.errors == 1


def test_lines_gap_in_the_sequence_is_counted() -> None:
    decoder = lines.Decoder()
    raw = '{"v":1,"ant":%d,"uids":[],"seq":%d}\n'
    stream = "".join(raw % pair for pair in [(3, 17), (4, 18), (3, 21), (3, 1), (3, 2)])
    frames = decoder.feed(stream.encode())
    assert [frame.missed for frame in frames if isinstance(frame, lines.Snapshot)] == [
        0,
        0,
        2,
        0,
        0,
    ]
    assert decoder.errors == 2


def test_lines_bound() -> None:
    decoder = lines.Decoder()
    longest = " " * (lines.LIMIT - 16) + A
    assert decoder.feed(longest.encode() + b"\n") == [lines.Told(A)]
    assert decoder.feed(b" " + longest.encode() + b"\n" + A.encode() + b"\n") == [lines.Told(A)]
    assert decoder.errors == 1
    assert decoder.feed(b"x" * 5000) == decoder.feed(b"y" * 5000) == []
    assert decoder.feed(b"z\n" + A.encode() + b"\n") == [lines.Told(A)]
    assert decoder.errors == 2


def test_lines_of_another_size_are_damage() -> None:
    decoder = lines.Decoder(sizes=(8,))
    assert decoder.feed(f"{A}\n{A[:14]}\n".encode()) == [lines.Told(A)]
    assert decoder.errors == 1


def test_lines_prefix_and_pattern() -> None:
    decoder = lines.Decoder(prefix="UID:")
    assert decoder.feed(b"UID: 66 CF 4D C2\n66CF4DC2\n") == [lines.Told("66CF4DC2")]
    assert decoder.errors == 1
    pattern = r"ant(?P<antenna>\S+) (?P<uid>[0-9A-F]+) (?P<rssi>\S+)dB(?P<leave> gone)?"
    decoder = lines.Decoder(pattern=pattern)
    told = decoder.feed(f"ant2 {A} -41.5dB\nant2 {A} -60dB gone\nantX {A} -1dB\n".encode())
    assert told == [lines.Told(A, 2, -41.5), lines.Told(A, 2, -60.0, left=True)]
    assert decoder.errors == 1


@given(st.binary(min_size=1, max_size=12))
def test_uid_order(raw: bytes) -> None:
    uid = _uid.normal(raw)
    if len(raw) not in {4, 7, 8, 10}:
        assert uid is None
    elif len(raw) == 8 and raw[-1] == 0xE0 != raw[0]:
        assert uid == raw[::-1].hex().upper() == _uid.normal(raw, lsb_first=True)
    elif len(raw) == 8 and raw[0] == 0xE0 != raw[-1]:
        assert uid == raw.hex().upper() == _uid.normal(raw, lsb_first=True)
    else:
        assert uid == raw.hex().upper()
        assert _uid.normal(raw, lsb_first=True) == raw[::-1].hex().upper()


def test_metratec_block_that_is_no_hex_is_damage() -> None:
    decoder = metratec.Decoder()
    assert decoder.feed(b"TDT\r00xx\rCOK\rNCL\r\n") == [metratec.Word("COK"), metratec.Word("NCL")]
    assert decoder.errors == 1


def test_feig_set_that_breaks_off() -> None:
    assert reader(0x93, b"\x02\x04").tags == ()
    assert reader(0x93, b"\x01\x04\x00").tags == ()
    four = b"\x04\x00\x00" + bytes(3) + bytes.fromhex("66CF4DC2")[::-1]
    assert reader(0x00, b"\x01" + four).tags == ("66CF4DC2",)


@pytest.mark.parametrize("cut", range(1, 10))
def test_feig_set_that_lost_bytes_is_no_shorter_tag(cut: int) -> None:
    assert reader(0x83, sets(A, B)[:-cut]).tags == (A,)
    for info in (b"\x04\x00\x00", b"\x04\x00\x01", b"\x04\x04\x02"):
        size = 10 if info[1] else 7
        short = b"\x02\x03\x00" + bytes.fromhex(A) + info + bytes(range(size))[: max(0, size - cut)]
        assert reader(0x83, short).tags == (A,)


def test_rdm_flood_of_starts_takes_time_in_proportion() -> None:
    decoder = rdm6300.Decoder()
    card = [rdm6300.Card(0x67, 3887558, "003B51C6")]
    assert decoder.feed(b"\x02" * 500_000 + b"\x0267003B51C6CB\x03") == card
    assert decoder.errors == 1


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("at", range(14))
def test_rdm_flipped_bit_is_counted_at_once_or_by_the_next_frame(at: int, bit: int) -> None:
    raw = bytearray(b"\x0267003B51C6CB\x03")
    raw[at] ^= 1 << bit
    decoder = rdm6300.Decoder()
    found = decoder.feed(bytes(raw))
    if found:
        assert (found[0].uid, bytes(raw).upper()) == ("003B51C6", b"\x0267003B51C6CB\x03")
    else:
        assert decoder.errors + bool(decoder.feed(b"\x0267003B51C6CB\x03")) >= 1
        assert decoder.errors == 1


def test_lines_damaged_sequence_number_counts_as_one_line() -> None:
    decoder = lines.Decoder()
    for seq in (17, 10**60, 19):
        decoder.feed(b'{"v":1,"ant":3,"uids":[],"seq":%d}\n' % seq)
    assert decoder.errors == 1


@pytest.mark.parametrize("code", [0x41, 0x43, 0x45, 0x4F, 0x51, 0x53, 0x55, 0x57])
def test_pn532_answers_that_begin_with_an_error_code(code: int) -> None:
    assert chip(code, b"\x41").status == 1
    assert chip(0x15, b"").status is None


@pytest.mark.parametrize("crc", [False, True])
def test_twn4_ascii_with_or_without_crc_is_understood_unasked(*, crc: bool) -> None:
    raw = twn4.encode(bytes.fromhex("000180200466CF4DC2"), crc=crc)
    assert [frame.tags for frame in twn4.Decoder().feed(raw + raw)] == [("66CF4DC2",)] * 2


def test_twn4_binary_with_crc_is_understood_unasked() -> None:
    one = twn4.encode(bytes.fromhex("000180200466CF4DC2"), "binary", crc=True)
    two = twn4.encode(bytes.fromhex("00010D"), "binary", crc=True)
    for pieces in ([one + two], [bytes((byte,)) for byte in one + two]):
        decoder = twn4.Decoder()
        frames = [frame for piece in pieces for frame in decoder.feed(piece)]
        assert [frame.tags for frame in frames] == [("66CF4DC2",), ()]
        assert decoder.errors == 0
    decoder = twn4.Decoder()
    decoder.feed(one[:5])
    decoder.reset()
    assert decoder.feed(twn4.encode(b"\x00\x01"))[-1:] == [twn4.Answer(0, b"\x01")]


def test_twn4_line_with_no_known_error_byte_is_damage() -> None:
    decoder = twn4.Decoder("ascii")
    assert decoder.feed(b"DEADBEEF\r0004FF\r") == [twn4.Answer(0, b"\x04\xff")]
    assert decoder.errors == 1


@given(st.lists(st.sampled_from(["binary", "ascii", "noise"]), max_size=4), st.integers(0, 60))
def test_twn4_choice_of_the_mode_does_not_depend_on_the_pieces(kinds: list[str], cut: int) -> None:
    said = bytes.fromhex("000180200466CF4DC20D")
    raws = {
        "binary": twn4.encode(said, "binary", crc=True),
        "ascii": twn4.encode(said, crc=True),
        "noise": b"\x0d\x04\x00zz\n\x06",
    }
    stream = b"".join(raws[kind] for kind in kinds)
    whole, cuts = twn4.Decoder(), twn4.Decoder()
    assert whole.feed(stream) == cuts.feed(stream[:cut]) + cuts.feed(stream[cut:])
    assert whole.errors == cuts.errors
