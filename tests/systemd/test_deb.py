"""The Debian package: what `make deb` builds, and what is in it."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from daemon import config
from daemon.cli import COMMANDS

ROOT = Path(__file__).parents[2]
MANUAL = ROOT / "systemd" / "deb" / "manual.py"

pytestmark = pytest.mark.timeout(300)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package as built here, with the fastest compression."""
    if not shutil.which("dpkg-deb") or not Path("/usr/bin/python3").exists():
        pytest.fail("needs dpkg-deb and /usr/bin/python3 with python3-venv: this is no Debian")
    folder = tmp_path_factory.mktemp("deb")
    run(ROOT / "systemd" / "deb" / "build", folder, env={"XZ": "0", "PATH": "/usr/bin:/bin"})
    (path,) = folder.glob("feltd_*.deb")
    return path


@pytest.fixture(scope="module")
def unpacked(package):
    folder = package.parent / "unpacked"
    run("dpkg-deb", "--raw-extract", package, folder)
    return folder


def test_its_files(unpacked):
    for name in (
        "opt/feltd/bin/feltd",
        "usr/lib/systemd/system/feltd@.service",
        "usr/lib/systemd/system/feltd-web@.service",
        "usr/lib/systemd/system/pcscd.socket.d/10-feltd.conf",
        "usr/lib/sysusers.d/feltd.conf",
        "usr/lib/tmpfiles.d/feltd.conf",
        "usr/lib/udev/rules.d/60-feltd.rules",
        "usr/share/polkit-1/rules.d/50-feltd.rules",
        "usr/share/man/man1/feltd.1.gz",
        "usr/share/man/man5/feltd.toml.5.gz",
        "usr/share/bash-completion/completions/feltd",
        "usr/share/doc/feltd/examples/table.example.toml",
        "usr/share/doc/feltd/examples/variants/unix.conf",
        "usr/share/doc/feltd/copyright",
    ):
        assert (unpacked / name).is_file(), name
    assert (unpacked / "usr/bin/feltd").readlink() == Path("/opt/feltd/bin/feltd")


def test_it_owns_nothing_below_etc_or_var(unpacked):
    assert not (unpacked / "etc").exists()
    assert not (unpacked / "var").exists()
    assert not (unpacked / "DEBIAN" / "conffiles").exists()


def test_its_control_file(unpacked):
    text = (unpacked / "DEBIAN" / "control").read_text()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.search(rf"^Version: {re.escape(version)}-1~deb\d+$", text, re.MULTILINE)
    assert "@" not in text.replace("feltd@localhost", "")
    assert re.search(r"python3 \(>= 3\.\d+\), python3 \(<< 3\.\d+\)", text)


def test_nothing_names_the_place_it_was_built_in(unpacked):
    done = subprocess.run(
        ["grep", "-rlI", "/stage/", unpacked / "opt/feltd/bin", unpacked / "opt/feltd/pyvenv.cfg"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == ""
    assert (unpacked / "opt/feltd/bin/feltd").read_text().startswith("#!/opt/feltd/bin/python")


def test_its_modules_are_compiled(unpacked):
    (site,) = (unpacked / "opt/feltd/lib").glob("python3.*/site-packages")
    assert list((site / "daemon" / "__pycache__").glob("app.*.pyc"))
    assert not list(site.glob("numpy/**/tests"))


def test_its_scripts_are_shell(unpacked):
    for name in ("postinst", "prerm", "postrm"):
        run("sh", "-n", unpacked / "DEBIAN" / name)


def test_it_runs_from_where_it_lies(unpacked):
    (site,) = (unpacked / "opt/feltd/lib").glob("python3.*/site-packages")
    program = "import sys; from daemon.cli import main; sys.exit(main(['schema']))"
    out = run("/usr/bin/python3", "-c", program, env={"PYTHONPATH": str(site)}, cwd="/")
    assert '"asyncapi"' in out


def manual(*arguments):
    return run(sys.executable, MANUAL, *arguments)


def read(page, tmp_path):
    path = tmp_path / "page"
    path.write_text(page)
    done = subprocess.run(
        ["man", "--warnings=all", "-l", path],
        capture_output=True,
        text=True,
        check=True,
        env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
    )
    assert done.stderr == ""
    return done.stdout


def test_the_manual_page_has_every_command(tmp_path):
    text = read(manual("man"), tmp_path)
    for name in COMMANDS:
        assert f"feltd {name}" in text
        assert importlib.import_module(f"daemon.cli.{name}").HELP.split()[0] in text


def keys(struct):
    return [field.encode_name for field in msgspec.structs.fields(struct)]


def test_the_manual_page_has_every_key(tmp_path):
    text = read(manual("toml", ROOT / "docs" / "configuration.md"), tmp_path)
    for block in (
        config.TableKeys,
        config.MqttKeys,
        config.DeckKeys,
        config.SecrecyKeys,
        config.StateKeys,
        config.MetricsKeys,
    ):
        for key in keys(block):
            assert re.search(rf"\b{key}\b", text), key


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("sch",), {"schema"}),
        (("rule", "sho"), {"showdown"}),
        (("check", "--la"), {"--lang"}),
        (("check", "--lang", ""), {"en", "ru"}),
    ],
)
def test_the_completion_completes(words, wanted, tmp_path):
    script = tmp_path / "completion"
    script.write_text(manual("completion"))
    quoted = " ".join(f"'{word}'" for word in ("feltd", *words))
    program = (
        f". {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _feltd; "
        'echo "${COMPREPLY[@]}"'
    )
    assert set(run("bash", "-c", program).split()) == wanted
