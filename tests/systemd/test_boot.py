"""The package on a booted systemd, of Debian 12 and 13: an evening with every kind of mishap."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = Path("/var/tmp/feltd-machines")  # noqa: S108 - images outlive one run
PACKAGES = (
    "systemd,systemd-sysv,dbus,polkitd,pcscd,libccid,udev,python3,procps,vsmartcard-vpcd,"
    "mosquitto,mosquitto-clients,man-db,bash-completion"
)
BUILD = "python3-venv,python3-dev,dpkg-dev,gcc,libpcsclite-dev,swig,ca-certificates"
BROKER = "listener 1883 127.0.0.1\nallow_anonymous true\npersistence true\nautosave_interval 1\n"
BROKER += "persistence_location /var/lib/mosquitto/\nautosave_on_changes true\n"

pytestmark = [pytest.mark.soak, pytest.mark.timeout(900)]


def image(suite, name, packages):
    """A minimal Debian as a tar file, made once."""
    missing = [tool for tool in ("mmdebstrap", "systemd-nspawn") if not shutil.which(tool)]
    if missing or os.geteuid() != 0:
        pytest.fail("needs root and the Debian packages mmdebstrap and systemd-container")
    IMAGES.mkdir(exist_ok=True)
    path = IMAGES / f"{name}.tar.gz"
    if not path.exists():
        command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}"]
        subprocess.run([*command, suite, path], check=True)
    return path


def unpack(archive, folder):
    folder.mkdir()
    subprocess.run(["tar", "-xzf", archive, "-C", folder, "--exclude=./dev/*"], check=True)
    return folder


def built(suite, folder):
    """The package for this Debian, built on it."""
    if f"VERSION_CODENAME={suite}" in Path("/etc/os-release").read_text():
        build = ROOT / "systemd" / "deb" / "build"
        subprocess.run([build, folder], check=True, env=os.environ | {"XZ": "0"})
    else:
        root = unpack(image(suite, f"{suite}-build", f"{PACKAGES},{BUILD}"), folder / "builder")
        source = root / "src"
        skip = shutil.ignore_patterns(".*", "dist", "__pycache__", "node_modules")
        shutil.copytree(ROOT, source, ignore=skip)
        command = ["systemd-nspawn", "-q", "-D", root, "--register=no", "--keep-unit"]
        command += ["--setenv=XZ=0", "--setenv=PIP_CERT=/etc/ssl/certs/ca-certificates.crt"]
        certificates = Path("/etc/ssl/certs/ca-certificates.crt")
        shutil.copy(certificates, root / "etc/ssl/certs/ca-certificates.crt")
        subprocess.run([*command, "/src/systemd/deb/build", "/src/dist"], check=True)
        shutil.copy(next((source / "dist").glob("*.deb")), folder)
    (path,) = folder.glob("feltd_*.deb")
    return path


class Machine:
    """A container that thinks it is a machine."""

    def __init__(self, root):
        self.root = root
        self.process = None
        self.pid = 0

    def boot(self):
        command = ["systemd-nspawn", "-q", "-D", self.root, "--machine=feltd", "--register=no"]
        command += ["--keep-unit", "--private-network", "--system-call-filter=bpf"]
        command += ["--capability=CAP_BPF,CAP_PERFMON,CAP_NET_ADMIN", "--console=passive"]
        command += ["--kill-signal=SIGRTMIN+3", "-b"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | {"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
        )
        limit = time.monotonic() + 60
        while self.state() not in {"running", "degraded"}:
            assert time.monotonic() < limit, self.state()
            time.sleep(0.2)

    def init(self):
        """The process in which systemd runs, below nspawn."""
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = path.read_text().split()
        for child in children:
            if "systemd" in Path(f"/proc/{child}/comm").read_text():
                return int(child)
        return 0

    def state(self):
        self.pid = self.init()
        if not self.pid:
            return "starting"
        return self.run("systemctl", "is-system-running", check=False).stdout.strip()

    def run(self, *command, check=True):
        enter = ["nsenter", "-t", str(self.pid), "-a", "env", "-i", "PATH=/usr/sbin:/usr/bin"]
        done = subprocess.run([*enter, *command], capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            pytest.fail(f"{command}: {done.stdout}{done.stderr}")
        return done

    def cut_power(self):
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(20)


@pytest.fixture(params=["bookworm", "trixie"])
def machine(request, tmp_path):
    suite = request.param
    root = unpack(image(suite, suite, PACKAGES), tmp_path / "root")
    shutil.copy(built(suite, tmp_path), root / "root")
    for file in (ROOT / "tests" / "live.py", Path(__file__).with_name("evening.py")):
        shutil.copy(file, root / "root")
    (root / "etc/mosquitto/conf.d/table.conf").write_text(BROKER)
    settings = root / "etc/mosquitto/mosquitto.conf"
    settings.write_text("include_dir /etc/mosquitto/conf.d\n")
    booted = Machine(root)
    booted.boot()
    yield booted
    booted.cut_power()


def test_an_evening(machine, capsys):
    machine.run("sh", "-c", "dpkg -i /root/feltd_*.deb")
    machine.run("ip", "link", "set", "lo", "up", check=False)
    assert "wins" in machine.run("feltd", "demo", "--once", "--seed", "7", "--hands", "1").stdout
    checked = machine.run("feltd", "check", "--config", "/etc/feltd/t1.toml", check=False)
    assert checked.returncode == 78
    machine.run("systemctl", "start", "mosquitto", "pcscd.socket")
    machine.run("systemctl", "enable", "mosquitto", "feltd@t1")
    python = "/opt/feltd/bin/python"
    played = json.loads(machine.run(python, "/root/evening.py", "play").stdout)
    level = machine.run("systemd-analyze", "security", "--no-pager", "feltd@t1").stdout
    exposure = float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", level)[1])
    assert exposure <= 1.5
    stranger = machine.run("runuser", "-u", "nobody", "--", "cat", "/etc/feltd/decks", check=False)
    assert stranger.returncode != 0
    time.sleep(2)
    machine.cut_power()
    machine.boot()
    left = json.loads(machine.run(python, "/root/evening.py", "after").stdout)
    assert left == {"hand": played["hand"], "phase": "turn"}
    assert played["memory"] < 80
    machine.run("dpkg", "-r", "feltd")
    assert machine.run("ls", "/etc/feltd/t1.toml", "/var/lib/feltd/t1").stdout
    machine.run("dpkg", "-P", "feltd")
    assert machine.run("ls", "/etc/feltd", check=False).returncode != 0
    with capsys.disabled():
        print(f"\n{machine.root.parent.name}: {played}, exposure {exposure}")
