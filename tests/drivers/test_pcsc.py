"""The driver against a real pcscd with virtual cards."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import aclosing
from pathlib import Path

import pytest
from smartcard import scard

from drivers import ReaderError, pcsc
from drivers.pcsc import BUZZER_OFF, GET_UID, LEDS_OFF, Settings, read
from drivers.sim.vcard import ICODE

SHOE, TWIN, ACR122U = "Feltd Shoe (S001) 00 00", "Feltd Twin", "ACS ACR122U"
RED, BLUE = "04A1B2C3D4E5F6", "0411223344AABB"
ICODE_UID = "E0040150954F02B1"


def settings(port=SHOE, **keys):
    return Settings(name="shoe", port=port, antennas={1: "shoe"}, **keys)


async def until(looks, *wanted):
    """The looks up to the first with these tags, or up to an empty slot."""
    seen = []
    async with asyncio.timeout(20):
        async for look in looks:
            seen.append(look)
            if look.tags == wanted and look.partial == bool(wanted):
                return seen
    raise AssertionError("the reader ended")


def run(test, reader=None):
    async def body():
        async with aclosing(read(reader or settings())) as looks:
            return await test(looks)

    return asyncio.run(body())


@pytest.mark.parametrize("uid", ["01020304", RED, ICODE_UID, "04A1B2C3D4E5F6070809"])
def test_a_card_is_heard_and_leaves(pcscd, uid):
    async def test(looks):
        empty = await anext(looks)
        pcscd.order("insert", slot=0, uid=uid)
        present = await until(looks, uid)
        pcscd.order("remove", slot=0)
        return empty, present[-1], (await until(looks))[-1]

    empty, present, gone = run(test)
    assert (empty.reader, empty.antenna, empty.tags, empty.partial) == ("shoe", 1, (), False)
    assert present.partial
    assert not gone.partial
    assert not any(look.errors for look in (empty, present, gone))


def test_an_iso15693_card_sent_least_significant_byte_first(pcscd):
    raw = bytes.fromhex(ICODE_UID)[::-1].hex()

    async def test(looks):
        pcscd.order("insert", slot=0, uid=raw, atr=ICODE.hex())
        return await until(looks, ICODE_UID)

    assert {look.tags for look in run(test)} <= {(), (ICODE_UID,)}


@pytest.mark.parametrize("how", ["swap", "change"])
def test_a_swap_that_raises_no_event_is_heard(pcscd, how):
    """`change` is a swap with no trace at all, `swap` one within pcscd's poll."""

    async def test(looks):
        pcscd.order("insert", slot=0, uid=RED)
        await until(looks, RED)
        pcscd.order(how, slot=0, uid=BLUE)
        await until(looks, BLUE)
        return [await anext(looks) for _ in range(3)]

    assert {look.tags for look in run(test)} == {(BLUE,)}


def test_a_resting_card_is_looked_at_again_and_again(pcscd):
    async def test(looks):
        pcscd.order("insert", slot=0, uid=RED)
        await until(looks, RED)
        looks_at_rest = [await anext(looks) for _ in range(5)]
        return looks_at_rest, pcscd.order("heard", slot=0)

    looks_at_rest, heard = run(test)
    assert {look.tags for look in looks_at_rest} == {(RED,)}
    assert set(heard) == {GET_UID.hex()}
    assert len(heard) >= 6


def test_several_readers_at_once(pcscd):
    ports = {0: SHOE, 1: "Feltd Shoe (S001) 00 01", 6: f"{ACR122U} PICC Interface 00 00"}
    uids = {slot: f"0400000000000{slot}" for slot in ports}

    async def one(slot):
        async with aclosing(read(settings(ports[slot]))) as looks:
            return (await until(looks, uids[slot]))[-1].tags

    async def test():
        return await asyncio.gather(*map(one, ports))

    for slot, uid in uids.items():
        pcscd.order("insert", slot=slot, uid=uid)
    assert asyncio.run(test()) == [(uid,) for uid in uids.values()]


def test_a_slow_card_does_not_delay_another_reader(pcscd):
    order = []

    async def one(port, uid):
        async with aclosing(read(settings(port))) as looks:
            await until(looks, uid)
            order.append(uid)

    async def test():
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(one(SHOE, RED))
            tasks.create_task(one(ACR122U + ".*00 00", BLUE))

    pcscd.order("insert", slot=0, uid=RED, delay=2)
    pcscd.order("insert", slot=6, uid=BLUE)
    asyncio.run(test())
    assert order == [BLUE, RED]


def test_the_acr122u_is_silenced_at_each_connection(pcscd):
    async def test(looks):
        for uid in (RED, BLUE):
            pcscd.order("insert", slot=6, uid=uid)
            await until(looks, uid)
            await anext(looks)
            yield_heard.append(pcscd.order("heard", slot=6))
            pcscd.order("remove", slot=6)
            await until(looks)

    yield_heard = []
    run(test, settings(f"{ACR122U} PICC Interface 03 00"))
    silence = [BUZZER_OFF.hex(), LEDS_OFF.hex()]
    assert [heard[:4] for heard in yield_heard] == [[*silence, GET_UID.hex(), GET_UID.hex()]] * 2


def test_quiet_off_leaves_buzzer_and_leds_alone(pcscd):
    async def test(looks):
        pcscd.order("insert", slot=6, uid=RED)
        await until(looks, RED)
        return pcscd.order("heard", slot=6)

    heard = run(test, settings(f"{ACR122U} PICC Interface 03 00", quiet=False))
    assert set(heard) == {GET_UID.hex()}


@pytest.mark.parametrize("fault", ["6300", "6C07", "6C", "6400"])
def test_a_command_that_fails_once_is_asked_again_within_the_look(pcscd, fault):
    async def test(looks):
        pcscd.order("insert", slot=0, uid=RED, faults=[fault])
        return await until(looks, RED)

    assert all(not look.errors for look in run(test))


def test_a_card_that_never_tells_its_uid_is_no_evidence_of_an_empty_slot(pcscd):
    async def test(looks):
        pcscd.order("insert", slot=0, uid=RED, faults=["6300"] * 1000)
        async with asyncio.timeout(20):
            async for look in looks:
                if look.errors:
                    return look
        return None

    look = run(test)
    assert (look.tags, look.partial, look.errors) == ((), True, 1)


def test_pcscd_killed_and_started_again(pcscd):
    async def lost(looks):
        pcscd.order("insert", slot=0, uid=RED)
        await until(looks, RED)
        pcscd.order("kill")
        with pytest.raises(ReaderError, match=r"^Feltd.*: pcscd is not running"):
            await until(looks, BLUE)

    async def nothing_there(looks):
        with pytest.raises(ReaderError, match="pcscd is not running"):
            await anext(looks)

    async def back(looks):
        pcscd.order("insert", slot=0, uid=BLUE)
        return await until(looks, BLUE)

    try:
        run(lost)
        run(nothing_there)
    finally:
        pcscd.order("start")
    assert {look.tags for look in run(back)} <= {(), (BLUE,)}


def test_a_pcscd_that_hangs_is_told_once_and_left_alone_until_it_answers(pcscd, monkeypatch):
    def threads():
        return sum(t.name.startswith("pcsc shoe") for t in threading.enumerate())

    async def hangs(looks):
        await anext(looks)
        pcscd.order("freeze")
        monkeypatch.setattr(pcsc, "_PATIENCE", 1.0)
        with pytest.raises(ReaderError, match="pcscd does not answer"):
            await until(looks, RED)

    async def still(looks):
        with pytest.raises(ReaderError, match="pcscd does not answer"):
            await anext(looks)

    async def back(looks):
        return await until(looks, RED)

    try:
        run(hangs)
        stuck = threads()
        for _ in range(3):
            run(still)
        while threads() > stuck + 1:  # those that have nothing to do take a while to end
            time.sleep(0.01)
    finally:
        pcscd.order("thaw")
        pcsc._stuck["shoe"].exception(30)
        monkeypatch.undo()
    pcscd.order("insert", slot=0, uid=RED)
    assert run(back)[-1].tags == (RED,)


def test_a_reader_that_is_not_there(pcscd):
    async def test(looks):
        with pytest.raises(ReaderError, match=r"^Omnikey: no PC/SC reader .*Feltd Shoe"):
            await anext(looks)

    run(test, settings("Omnikey"))


def test_twins_are_refused_since_their_numbers_may_swap(pcscd):
    async def test(looks):
        with pytest.raises(ReaderError, match=r"2 PC/SC readers match .*serial number or usb:"):
            await anext(looks)

    run(test, settings(f"{TWIN} 01 00"))


def test_a_reader_that_another_program_holds(pcscd):
    context = scard.SCardEstablishContext(scard.SCARD_SCOPE_USER)[1]
    pcscd.order("insert", slot=0, uid=RED)

    async def test(looks):
        await until(looks, RED)
        return True

    run(test)
    result = scard.SCARD_E_SHARING_VIOLATION
    while result == scard.SCARD_E_SHARING_VIOLATION:  # until the reader before has let go
        result, handle, _ = scard.SCardConnect(context, SHOE, scard.SCARD_SHARE_EXCLUSIVE, 3)
    assert result == 0

    async def refused(looks):
        with pytest.raises(ReaderError, match="busy, another program holds the reader"):
            await until(looks, RED)

    run(refused)
    scard.SCardDisconnect(handle, scard.SCARD_LEAVE_CARD)
    scard.SCardReleaseContext(context)


def test_a_cancelled_reader_leaves_no_thread_and_no_descriptor(pcscd):
    def threads():
        return [t for t in threading.enumerate() if t.name.startswith("pcsc shoe")]

    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    async def cancelled():
        async def listen():
            async with aclosing(read(settings())) as looks:
                async for _ in looks:
                    started.set()

        started = asyncio.Event()
        task = asyncio.create_task(listen())
        await started.wait()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(cancelled())
    for thread in threads():
        thread.join(5)
    before = descriptors()
    for _ in range(5):
        asyncio.run(cancelled())
        for thread in threads():
            thread.join(5)
    assert threads() == []
    assert descriptors() == before
