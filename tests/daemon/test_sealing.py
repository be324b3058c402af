from __future__ import annotations

import base64
import json
import re
import stat

import pytest
from nacl.public import PrivateKey, SealedBox

from daemon import config
from daemon.cli import main
from daemon.errors import ConfigError, FeltdError
from daemon.journal import Journal
from daemon.memory import Memory
from daemon.recording import read_line, read_opening
from daemon.sealing import Opener, Sealer
from drivers.sim.table import simulate, write

HAND_KEY = "0f" * 32
MESSAGE = b'{"seat":2,"cards":["As","Kd"]}'


def base64_of(key):
    return base64.b64encode(bytes(key)).decode()


@pytest.fixture
def pairs():
    return {name: PrivateKey.generate() for name in ("overlay", "vault")}


@pytest.fixture
def receivers(pairs):
    return {name: base64_of(pair.public_key) for name, pair in pairs.items()}


def secrecy(receivers):
    keys = (f'receivers.{name} = "{key}"' for name, key in receivers.items())
    return ('hole_cards = "sealed"', *keys)


@pytest.mark.parametrize("key", [HAND_KEY, None])
def test_libsodium_opens_a_box_with_the_right_key_alone(pairs, receivers, key):
    box = base64.b64decode(Sealer(receivers).seal("overlay", MESSAGE, key))
    assert SealedBox(pairs["overlay"]).decrypt(box) == MESSAGE
    assert len(box) == len(MESSAGE) + 48
    with pytest.raises(Exception, match="decrypt"):
        SealedBox(pairs["vault"]).decrypt(box)


def test_one_time_keys_differ_by_message_receiver_and_hand(receivers):
    seal = Sealer(receivers).seal
    other = Sealer({**receivers, "vault": receivers["overlay"]}).seal
    boxes = [
        seal("overlay", MESSAGE, HAND_KEY),
        seal("overlay", MESSAGE.replace(b"As", b"Ad"), HAND_KEY),
        seal("overlay", MESSAGE, "0e" * 32),
        seal("overlay", MESSAGE, None),
        seal("overlay", MESSAGE, None),
        other("vault", MESSAGE, HAND_KEY),
    ]
    assert len({base64.b64decode(box)[:32] for box in boxes}) == len(boxes)
    assert seal("overlay", MESSAGE, HAND_KEY) == boxes[0]


@pytest.mark.parametrize("discipline", ["holdem", "stud"])
def test_each_receiver_reads_what_mode_clear_would_tell(play, pairs, receivers, discipline):
    session = lambda: simulate(discipline, "field", 6, 3, commands=True, keys=True)  # noqa: E731
    _, sealed = play(session(), *secrecy(receivers))
    _, again = play(session(), *secrecy(receivers))
    _, clear = play(session(), 'hole_cards = "clear"')
    assert sealed == again
    private = [m["payload"] for m in sealed if m["topic"] == "felt-private/sim/hole-cards"]
    assert [each["seq"] for each in private] == list(range(1, len(private) + 1))
    expected = [m["payload"] for m in clear if m["topic"] == "felt-private/sim/hole-cards"]
    assert len(expected) > 10
    for name, pair in pairs.items():
        boxes = [each for each in private if each["to"] == name]
        opened = [json.loads(SealedBox(pair).decrypt(base64.b64decode(b["box"]))) for b in boxes]
        assert [each["seq"] for each in opened] == [each["seq"] for each in boxes]
        assert [(o["hand"], o["seat"], o["cards"]) for o in opened] == [
            (e["hand"], e["seat"], e["cards"]) for e in expected
        ]
    public = [m for m in sealed if not m["topic"].startswith("felt-private")]
    assert public == [m for m in clear if not m["topic"].startswith("felt-private")]


def test_nothing_readable_waits_in_the_outbox(tmp_path, receivers):
    truths = write(simulate("holdem", "field", 6, 1, commands=True, keys=True), tmp_path)
    table = tmp_path / "table.toml"
    text = table.read_text().replace("[secrecy]", "\n".join(("[secrecy]", *secrecy(receivers))))
    table.write_text(text)
    journal = Journal.open(tmp_path / "state", 0.0)
    memory = Memory(config.load(table), journal)
    for line in (tmp_path / "recording.jsonl").read_bytes().splitlines():
        if read_opening(line) is None:
            memory.take(*read_line(line))
    memory.commit()
    outbox = [m for m in journal.unsent(10_000) if m.root == "private"]
    journal.close()
    assert len(outbox) > 8
    hidden = {each.card for each in truths[0].dealt} | {each.uid for each in truths[0].dealt}
    for message in outbox:
        payload = json.loads(message.payload)
        assert set(payload) == {"v", "table", "epoch", "seq", "at", "hand", "to", "box"}
        rest = {key: value for key, value in payload.items() if key not in {"epoch", "box"}}
        assert not any(secret in json.dumps(rest) for secret in hidden)


@pytest.mark.parametrize(
    ("keys", "error"),
    [
        (('hole_cards = "sealed"',), "at least one receiver - at secrecy.receivers"),
        (secrecy({"overlay": "!"}), "not base64 - at secrecy.receivers.overlay"),
        (secrecy({"overlay": "AAEC"}), "3 bytes instead of 32 - at secrecy.receivers.overlay"),
        (
            secrecy({"overlay": base64_of(bytes(32))}),
            "not a public key - at secrecy.receivers.overlay",
        ),
        (
            secrecy({"overlay": base64_of(b"\1" + bytes(31))}),
            "not a public key - at secrecy.receivers.overlay",
        ),
        (('receivers.vault = "AAEC"',), "at secrecy.receivers.vault"),
        (('receivers."a b" = "AAEC"',), "at key in secrecy.receivers"),
    ],
)
def test_a_receiver_that_is_no_good_is_named(play, keys, error):
    with pytest.raises(ConfigError, match=re.escape(error)):
        play(simulate("holdem", "clean", 1, 1), *keys)


def test_keys_new_makes_a_pair(tmp_path, capsys):
    private = tmp_path / "overlay.key"
    assert main(["keys", "new", str(private)]) == 0
    out = capsys.readouterr().out
    public = out.rpartition(" ")[2].strip()
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert private.read_text().strip() not in out
    box = Sealer({"overlay": public}).seal("overlay", MESSAGE, HAND_KEY)
    assert Opener(private).open(box) == MESSAGE
    before = private.read_bytes()
    assert main(["keys", "new", str(private)]) == 1
    assert "File exists" in capsys.readouterr().err
    assert private.read_bytes() == before
    assert main(["keys", "new", "--json", str(tmp_path / "other.key")]) == 0
    other = json.loads(capsys.readouterr().out)["public"]
    assert Opener(private).open(Sealer({"x": other}).seal("x", MESSAGE, None)) is None
    assert Opener(private).open("no box") is None


@pytest.mark.parametrize("text", ["", "AAEC", "no key at all", "ключ"])
def test_a_file_without_a_key_is_named(tmp_path, text):
    (tmp_path / "key").write_text(text, encoding="utf-8")
    with pytest.raises(FeltdError, match="key: no private key"):
        Opener(tmp_path / "key")
    with pytest.raises(FeltdError, match="none: No such file"):
        Opener(tmp_path / "none")
