"""What the table counts and times, as the `metrics` topic and as a Prometheus text file.

The file says what the topic says and not a number more, so it is no way around the rules for hidden
cards (see daemon/antennas.py). Format: https://prometheus.io/docs/instrumenting/exposition_formats.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from daemon.events import Key, Odds
from drivers import ReaderDown, ReaderUp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from daemon.wire import Metrics

Labels: TypeAlias = tuple[tuple[str, str], ...]
Sample: TypeAlias = tuple[Labels, float]

_GAUGES = {"inbox", "outbox"}
_HELP = {
    "seq": "Last public sequence number.",
    "noise_total": "Damaged frames and garbled tags; moves every 20 hands.",
    "readers_down": "Readers that do not answer.",
    "inputs_total": "Looks, commands and reader changes taken in.",
    "lost_looks_total": "Looks dropped because the table could not keep up.",
    "refused_total": "Messages that the broker refused; of private ones one a connection.",
    "inbox": "Inputs waiting for the table.",
    "outbox": "Public messages waiting for the broker.",
    "looks_total": "Looks of an antenna.",
    "misses_total": "Looks that missed a resting card; moves every 20 hands.",
    "reader_outages_total": "How often a reader was lost.",
}


@dataclass
class Timing:
    """How often something was timed, all together and the longest since it was told, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """One more."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)

    def told(self, name: str) -> dict[str, float]:
        """The figures under `name`; the longest begins anew."""
        longest, self.longest = self.longest, 0.0
        return {
            f"{name}_count": self.count,
            f"{name}_sum": round(self.total, 6),
            f"{name}_max": round(longest, 6),
        }


@dataclass
class Gauge:
    """What the loop counts as it goes: waits of inputs, commits, outages of readers.

    Nothing here may tell that a secret was told or worked out, for there is none without a reason:
    odds, the hand's key and commits of private messages alone are not counted.
    """

    inputs: int = 0
    lost_looks: int = 0
    refused: int = 0
    wait: Timing = field(default_factory=Timing)
    commit: Timing = field(default_factory=Timing)
    outages: Counter[str] = field(default_factory=Counter)

    def took(self, entry: object, seconds: float) -> None:
        """An input was taken, so long after it came in."""
        if isinstance(entry, Odds | Key):
            return
        self.inputs += 1
        self.wait.add(seconds)
        if isinstance(entry, ReaderUp | ReaderDown):
            self.outages[entry.reader] += isinstance(entry, ReaderDown)

    def committed(self, seconds: float, *, public: bool) -> None:
        """A commit took so long; `public` where everybody will hear something of it."""
        if public:
            self.commit.add(seconds)

    def counters(self, inbox: int, outbox: int) -> dict[str, int]:
        """The counters of the `metrics` topic."""
        return {
            "inputs": self.inputs,
            "lost_looks": self.lost_looks,
            "inbox": inbox,
            "outbox": outbox,
            "refused": self.refused,
        }

    def timings(self, outbox_age: float) -> dict[str, float]:
        """The timings of the `metrics` topic, in seconds."""
        age = {"outbox_age": round(outbox_age, 3)}
        return self.wait.told("wait") | self.commit.told("commit") | age


def target(configured: Path | None) -> Path | None:
    """Where the text file goes: as configured, else into the service's runtime directory."""
    if configured is not None:
        return configured
    directory = os.environ.get("RUNTIME_DIRECTORY", "").partition(":")[0]
    return Path(directory) / "metrics.prom" if directory else None


def text(table: str, metrics: Metrics) -> str:
    """The metrics in Prometheus's text format."""
    return "".join(_family(table, *family) for family in _families(metrics))


def write(path: Path, content: str) -> None:
    """Put the file there whole, so that nobody ever reads half of it. Raises OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def _families(metrics: Metrics) -> Iterator[tuple[str, str, list[Sample]]]:
    yield "seq", "gauge", [((), metrics.seq_told)]
    yield "noise_total", "counter", [((), metrics.noise)]
    yield "readers_down", "gauge", [((), metrics.readers_down)]
    for name, count in metrics.counters.items():
        gauge = name in _GAUGES
        yield (name if gauge else f"{name}_total"), "gauge" if gauge else "counter", [((), count)]
    antennas = [(_place(name), counts) for name, counts in metrics.antennas.items()]
    yield "looks_total", "counter", [(place, counts.looks) for place, counts in antennas]
    yield "misses_total", "counter", [(place, counts.misses) for place, counts in antennas]
    outages: list[Sample] = [((("reader", name),), n) for name, n in metrics.outages.items()]
    yield "reader_outages_total", "counter", outages
    for name, seconds in metrics.timings.items():
        yield (
            _timing(name),
            "counter" if name.endswith(("_count", "_sum")) else "gauge",
            [((), seconds)],
        )


def _timing(name: str) -> str:
    """`commit_max` is commit_seconds_max: Prometheus wants the unit in the name."""
    for end in ("_count", "_sum", "_max"):
        if name.endswith(end):
            return f"{name.removesuffix(end)}_seconds{end}"
    return f"{name}_seconds"


def _place(antenna: str) -> Labels:
    reader, _, number = antenna.rpartition("/")
    return (("reader", reader), ("antenna", number))


def _family(table: str, name: str, kind: str, samples: Iterable[Sample]) -> str:
    lines = [
        f"feltd_{name}{{{_labels((('table', table), *labels))}}} {value:.15g}\n"
        for labels, value in samples
    ]
    if not lines:
        return ""
    about = f"# HELP feltd_{name} {_HELP[name]}\n" if name in _HELP else ""
    return f"{about}# TYPE feltd_{name} {kind}\n" + "".join(lines)


def _labels(labels: Labels) -> str:
    return ",".join(f'{name}="{value}"' for name, value in labels)
