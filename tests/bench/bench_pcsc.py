"""What PC/SC answers cost to decode: looks of one tag a second on one core, all a slot can hear."""

from __future__ import annotations

from time import perf_counter

from drivers.pcsc import Decoder, Uid

COUNT = 200_000
ANSWERS = {
    "7-byte UID": bytes.fromhex("04A1B2C3D4E5F69000"),
    "8-byte UID, E0 last": bytes.fromhex("B1024F95500104E09000"),
}


def main() -> None:
    for name, answer in ANSWERS.items():
        decoder = Decoder()
        begun = perf_counter()
        heard = sum(isinstance(decoder.answer(answer)[0], Uid) for _ in range(COUNT))
        rate = heard / (perf_counter() - begun)
        print(f"pcsc  {name:<20}  {rate:>9,.0f} looks/s")


if __name__ == "__main__":
    main()
