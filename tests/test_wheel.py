"""What people install: the wheel, in an empty environment, started from the root directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PIN = ROOT / "config" / "demo-broker.txt"


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT)
    (path,) = folder.glob("feltd-*.whl")
    return path


def test_it_carries_the_packages_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    packages = {top for top in tops if not top.endswith(".dist-info")}
    assert packages == {"daemon", "drivers"}
    assert len(tops) == 3
    assert {"daemon/py.typed", "drivers/py.typed", "drivers/sim/stage.py"} <= set(names)
    modules = [path for top in packages for path in (ROOT / top).rglob("*.py")]
    assert {str(path.relative_to(ROOT)) for path in modules} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.timeout(300)
def test_it_plays_a_hand_in_an_empty_environment(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(*pip, "--require-hashes", "--only-binary", ":all:", "-r", PIN)
    run(*pip, f"{wheel}[demo]")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COVERAGE"))}
    feltd = tmp_path / "env" / "bin" / "feltd"
    done = run(
        *(feltd, "demo", "--once", "--json", "--seed", "7", "--hands", "1"),
        cwd="/",
        env=environment,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    (result,) = [
        line["payload"]
        for line in lines
        if line["topic"] == "felt/demo/showdown" and line["payload"]["discipline"] == "holdem"
    ]
    assert result["winners"]
    assert done.stderr == ""
