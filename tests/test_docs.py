"""The commands in docs/: those that need nothing are run, all others are commands that exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.cli import parser
from daemon.errors import UsageError

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = ("install.md", "operating.md", "wiring.md", "security.md")
FOREIGN = {
    *("apt", "systemctl", "journalctl", "install", "cp", "mosquitto_passwd", "mosquitto_pub"),
    *("mosquitto_sub", "systemd-creds", "sed", "grep"),
}


def blocks():
    for page in PAGES:
        for kind, text in BLOCK.findall((DOCS / page).read_text()):
            yield page, kind, text


RUN = [(page, text) for page, kind, text in blocks() if kind == "sh test"]
SHOWN = [
    (page, line)
    for page, kind, text in blocks()
    if kind == "" and not text.startswith(("[", "listener"))
    for line in text.splitlines()
    if line.strip()
]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("page", "text"), RUN, ids=[f"{page}-{n}" for n, (page, _) in enumerate(RUN)]
)
def test_a_block_that_is_marked_runs(page, text, tmp_path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=tmp_path,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def ours(line):
    """The arguments of `feltd` in a line, if it is in it."""
    words = shlex.split(line.partition("|")[0])
    if words[:3] == ["sudo", "-u", "feltd"]:
        words = words[3:]
    return words


@pytest.mark.parametrize(("page", "line"), SHOWN, ids=[line for _, line in SHOWN])
def test_a_command_that_is_shown_is_one(page, line):
    words = ours(line)
    if words[0] == "feltd":
        try:
            parser().parse_args(words[1:])
        except UsageError as error:
            pytest.fail(f"{page}: {error}")
    else:
        assert words[0] in FOREIGN, f"{page}: {line}"


def test_the_units_and_metrics_that_are_named_exist():
    text = "".join((DOCS / page).read_text() for page in PAGES)
    units = DOCS.parent / "systemd"
    for name in set(re.findall(r"feltd(?:-web)?@\.service", text)):
        assert (units / name).is_file()
    assert "unix.conf" in text
    assert (units / "variants" / "unix.conf").is_file()


def test_every_metric_is_explained():
    from daemon import metrics  # noqa: PLC0415
    from daemon.wire import AntennaCounts, Metrics  # noqa: PLC0415

    gauge = metrics.Gauge()
    body = Metrics(
        seq_told=1,
        noise=0,
        readers_down=0,
        counters=gauge.counters(0, 0),
        antennas={"rail/1": AntennaCounts(looks=1, misses=0)},
        outages={"rail": 0},
        timings=gauge.timings(0.0),
    )
    names = set(re.findall(r"^(feltd_[a-z_]+)", metrics.text("t1", body), re.MULTILINE))
    page = (DOCS / "operating.md").read_text()
    for name in names - {"feltd_seq", "feltd_inputs_total"}:
        stem = re.sub(r"_(count|sum|max)$", "_*", name)
        assert name in page or stem in page, name


def test_the_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", (DOCS / page).read_text()):
            assert (DOCS / target).exists(), f"{page}: {target}"
    assert shutil.which("bash")
