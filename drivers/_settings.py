"""The keys that the `[[readers]]` blocks of all serial readers share."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Antenna = Annotated[int, msgspec.Meta(ge=1, le=255)]
Baud = Annotated[int, msgspec.Meta(ge=300, le=4_000_000)]
Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=60.0)]
Parity = Literal["none", "even", "odd"]


class SerialSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every reader on a serial line or a TCP port is told.

    `port` is a path (`/dev/serial/by-id/...` by choice), a match rule such as
    `vid=0403,pid=6001,serial=A10K1ABC,location=1-1.2`, or `socket://host:port`.
    `antennas` maps the antenna's number, 1 to 255, to the zone it lies under.
    """

    name: str
    driver: str
    port: Annotated[str, msgspec.Meta(min_length=1)]
    antennas: Annotated[dict[Antenna, str], msgspec.Meta(min_length=1)]

    def sole_antenna(self) -> int:
        """The number of the one antenna; `ValueError` when there are more."""
        if len(self.antennas) != 1:
            raise ValueError(f"a {self.driver} reader has one antenna, not {len(self.antennas)}")
        return next(iter(self.antennas))
