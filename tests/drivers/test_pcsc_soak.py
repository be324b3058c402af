"""A shoe reader's long evening: cards come, go and are swapped, pcscd dies and returns."""

from __future__ import annotations

import asyncio
import random
import threading
from pathlib import Path

import pytest

from daemon.readers import Backoff, supervise
from drivers import Look, pcsc

SHOE = pcsc.Settings(name="shoe", port="(S001) 00 00", antennas={1: "shoe"}, interval=0.05)
ROUNDS = 60


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_every_look_after_a_recovery_is_right(pcscd):
    chance = random.Random(7)
    counts = []

    async def settled(inbox, tags):
        """Wait until the looks agree with what lies there, then see that they go on agreeing."""
        async with asyncio.timeout(30):
            agreed = 0
            while agreed < 3:
                item = await inbox.get()
                whole = isinstance(item, Look) and item.partial == bool(tags)
                agreed = agreed + 1 if whole and item.tags == tags else 0

    def disturb(what, uid):
        if what == "kill":
            pcscd.order("kill")
            pcscd.order("start")
        elif what == "remove":
            pcscd.order("remove", slot=0)
        else:
            pcscd.order("swap", slot=0, uid=uid)
            for _ in range(chance.randrange(3)):
                pcscd.order("swap", slot=0, uid=f"04{chance.randrange(2**48):012X}")
            pcscd.order("swap", slot=0, uid=uid)

    async def test():
        inbox = asyncio.Queue()
        keeping = asyncio.create_task(
            supervise([(pcsc, SHOE)], inbox.put_nowait, backoff=Backoff(0.05, 0.2))
        )
        for number in range(ROUNDS):
            what = chance.choices(["kill", "remove", "swap"], [1, 3, 6])[0]
            uid = f"04{chance.randrange(2**48):012X}"
            disturb(what, uid)
            await settled(inbox, (uid,) if what == "swap" else ())
            if number % 10 == 9:
                pcscd.order("remove", slot=0)
                await settled(inbox, ())
                counts.append((descriptors(), threading.active_count()))
        keeping.cancel()
        await asyncio.wait([keeping])

    asyncio.run(test())
    assert max(counts) <= (counts[0][0] + 2, counts[0][1] + 2)
