"""A pcscd of our own with virtual readers and cards, in namespaces of its own.

Run by the `pcscd` fixture through `unshare`: `python pcscd_rack.py FOLDER`. vpcd listens on
all interfaces, hence the network namespace; pcscd's socket path is fixed, hence the mounts.
Orders arrive on standard input as JSON lines and are answered with one line each.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

from drivers.sim.vcard import VirtualCard, storage_atr

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wire:
        flags = fcntl.ioctl(wire, SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        up = struct.unpack("16sh14x", flags)[1] | IFF_UP
        fcntl.ioctl(wire, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", up))


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


class Rack:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ports = json.loads((folder / "ports.json").read_text())
        self.cards: dict[int, VirtualCard] = {}
        self.pcscd: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        log = (self.folder / "pcscd.log").open("ab")
        self.pcscd = await asyncio.create_subprocess_exec(
            "pcscd", "--foreground", "-c", str(self.folder / "conf"), stdout=log, stderr=log
        )
        while not self.answers():
            if self.pcscd.returncode is not None:
                raise RuntimeError((self.folder / "pcscd.log").read_text())
            await asyncio.sleep(0.01)

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as wire:
            return wire.connect_ex("/run/pcscd/pcscd.comm") == 0

    async def kill(self) -> None:
        for slot in list(self.cards):
            await self.remove(slot)
        if self.pcscd is not None:
            self.pcscd.send_signal(signal.SIGKILL)
            await self.pcscd.wait()

    async def freeze(self) -> None:
        assert self.pcscd
        self.pcscd.send_signal(signal.SIGSTOP)

    async def thaw(self) -> None:
        assert self.pcscd
        self.pcscd.send_signal(signal.SIGCONT)

    async def insert(
        self, slot: int, uid: str, atr: str = "", delay: float = 0, faults: tuple[str, ...] = ()
    ) -> None:
        card = VirtualCard(
            bytes.fromhex(uid),
            bytes.fromhex(atr) or storage_atr(),
            delay,
            [bytes.fromhex(fault) for fault in faults],
        )
        self.cards[slot] = card
        for _ in range(500):
            try:
                return await card.insert(self.ports[slot])
            except ConnectionRefusedError:
                await asyncio.sleep(0.01)
        raise RuntimeError(f"nothing listens for slot {slot}")

    async def remove(self, slot: int) -> None:
        if card := self.cards.pop(slot, None):
            await card.remove()

    async def swap(self, slot: int, uid: str) -> None:
        await self.remove(slot)
        await self.insert(slot, uid)

    async def change(self, slot: int, uid: str) -> None:
        self.cards[slot].uid = bytes.fromhex(uid)

    async def heard(self, slot: int) -> list[str]:
        return [command.hex() for command in self.cards[slot].heard]


async def serve(rack: Rack) -> None:
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(orders), sys.stdin
    )
    while line := await orders.readline():
        order = json.loads(line)
        answer = await getattr(rack, order.pop("do"))(**order)
        print(json.dumps({"answer": answer}), flush=True)
    await rack.kill()


def main() -> None:
    folder = Path(sys.argv[1])
    loopback_up()
    mount("-t", "tmpfs", "none", "/run")
    Path("/run/pcscd").mkdir()
    mount("--bind", str(folder / "run"), "/run/pcscd")
    asyncio.run(serve(Rack(folder)))


if __name__ == "__main__":
    main()
