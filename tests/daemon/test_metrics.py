from __future__ import annotations

import re
from random import Random
from types import SimpleNamespace

import pytest

from daemon import metrics
from daemon.antennas import WINDOW, Antennas
from daemon.evidence import Claim
from daemon.wire import AntennaCounts, Metrics
from drivers import Look, ReaderDown, ReaderUp

BODY = Metrics(
    seq_told=41,
    noise=3,
    readers_down=1,
    counters={"inputs": 100, "inbox": 2},
    antennas={"rail/1": AntennaCounts(looks=90, misses=2)},
    outages={"rail": 1},
    timings={"commit_count": 4, "commit_sum": 0.02, "commit_max": 0.009, "outbox_age": 1.5},
)
LINE = re.compile(r'feltd_[a-z_]+\{table="t1"(,[a-z]+="[^"]*")*\} [0-9.e+-]+')


def test_every_line_is_in_the_text_format():
    for line in metrics.text("t1", BODY).splitlines():
        assert line.startswith("# ") or LINE.fullmatch(line), line


def test_the_file_says_what_the_topic_says():
    lines = metrics.text("t1", BODY).splitlines()
    for wanted in (
        'feltd_seq{table="t1"} 41',
        'feltd_inputs_total{table="t1"} 100',
        'feltd_inbox{table="t1"} 2',
        'feltd_looks_total{table="t1",reader="rail",antenna="1"} 90',
        'feltd_misses_total{table="t1",reader="rail",antenna="1"} 2',
        'feltd_reader_outages_total{table="t1",reader="rail"} 1',
        'feltd_commit_seconds_sum{table="t1"} 0.02',
        'feltd_commit_seconds_max{table="t1"} 0.009',
        'feltd_outbox_age_seconds{table="t1"} 1.5',
        "# TYPE feltd_inbox gauge",
        "# TYPE feltd_inputs_total counter",
    ):
        assert wanted in lines
    assert sum(not line.startswith("#") for line in lines) == 12


def test_each_family_is_declared_once():
    heads = [line for line in metrics.text("t1", BODY).splitlines() if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads))


def test_a_write_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "metrics.prom"
    path.write_text("old")
    metrics.write(path, "new\n")
    assert path.read_text() == "new\n"
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_nothing(tmp_path):
    path = tmp_path / "metrics.prom"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        metrics.write(path, "new\n")
    assert list(tmp_path.iterdir()) == [path]


def test_where_the_file_goes(monkeypatch, tmp_path):
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    assert metrics.target(None) is None
    assert metrics.target(tmp_path / "x.prom") == tmp_path / "x.prom"
    monkeypatch.setenv("RUNTIME_DIRECTORY", f"{tmp_path}:/run/other")
    assert metrics.target(None) == tmp_path / "metrics.prom"


def test_timings_and_outages_add_up():
    gauge = metrics.Gauge()
    for seconds in (0.25, 0.5):
        gauge.took(Look("rail", 1), seconds)
    gauge.took(ReaderDown("rail", "unplugged"), 0.0)
    gauge.took(ReaderUp("rail"), 0.0)
    told = gauge.timings(2.0)
    assert (told["wait_count"], told["wait_sum"], told["wait_max"]) == (4, 0.75, 0.5)
    assert told["outbox_age"] == 2.0
    assert gauge.timings(0.0)["wait_max"] == 0.0
    assert gauge.outages == {"rail": 1}
    assert gauge.counters(5, 6) == {
        "inputs": 4,
        "lost_looks": 0,
        "inbox": 5,
        "outbox": 6,
        "refused": 0,
    }


def heard(missed):
    return {"E004": SimpleNamespace(missed=missed)}


def test_a_miss_is_counted_once_the_card_is_heard_again():
    antennas = Antennas(hands=1)
    antennas.take(Look("rail", 1), heard(0))
    antennas.take(Look("rail", 1, ("E004",)), heard(1))
    antennas.take(Look("rail", 2, ("E005",)), {})
    antennas.settle(1 + WINDOW, 7, idle=True)
    assert antennas.counts() == {
        "rail/1": AntennaCounts(looks=2, misses=1),
        "rail/2": AntennaCounts(looks=1, misses=0),
    }
    assert antennas.noise == 7
    assert antennas.looks("rail") == {1: 2, 2: 1}
    assert antennas.looks("shoe") == {}


def test_claims_have_the_count_that_misses_are_taken_from():
    assert Claim("seat:1", 0, 0).missed == 0


def evening(weak, seed=3, hands=60):
    """What is told after every look of an evening in which one seat may hold a worn card."""
    random = Random(seed)
    antennas = Antennas(hands=1)
    told = []
    for hand in range(1, hands + 1):
        seat = random.randrange(1, 10)
        for _ in range(20):
            missed = int(random.random() < 0.3) * weak
            antennas.take(Look("rail", seat, ("E004",)), heard(missed))
            antennas.settle(hand, 0, idle=False)
            told.append((hand, antennas.counts()))
        antennas.settle(hand, 0, idle=True)
        told.append((hand, antennas.counts()))
    return told


def test_nothing_that_is_told_within_a_window_depends_on_a_worn_card():
    worn, good = evening(weak=True), evening(weak=False)
    first = [pair for pair in zip(worn, good, strict=True) if pair[0][0] <= WINDOW]
    assert len(first) == WINDOW * 21
    assert all(one == other for one, other in first)


def test_misses_move_only_between_hands_and_only_after_a_whole_window():
    moved = []
    last = 0
    for hand, counts in evening(weak=True):
        total = sum(each.misses for each in counts.values())
        if total != last:
            moved.append(hand)
            last = total
    assert moved == [1 + WINDOW, 1 + 2 * WINDOW]
