from __future__ import annotations

import hashlib
import hmac

from daemon.commitments import commitment
from daemon.events import Committed, Opened
from daemon.hand import Hand, Held, Scene, Seat, commit, reveal
from daemon.presence import Presence
from daemon.rules.profile import Profile
from daemon.setup import Setup

KEY = "0f" * 32


def scene(**fields):
    hand = Hand(17, "stud", None, "red", KEY, 0, named=False, **fields)
    setup = Setup("t1", "stud", 8, {}, {}, Profile())
    return Scene(0, setup, Presence(), hand, [], [], {}, "e1")


def facts(scene):
    told = [fact for fact, _ in scene.out]
    scene.out.clear()
    return told


def test_hash_and_salt_are_made_as_the_contract_says():
    made = commitment(KEY, epoch="e1", hand=17, seat=3, index=1, n=2, card="As")
    salt = hmac.new(bytes.fromhex(KEY), b"feltd1|e1|17|3|1|2", hashlib.sha256).digest()[:16]
    assert made.salt == salt.hex()
    assert made.hash == hashlib.sha256(salt + b"feltd1|e1|17|3|1|As").hexdigest()


def test_a_corrected_card_is_committed_to_anew_and_only_that_is_opened():
    at = scene()
    seat = Seat(3, held=[Held("T1", "As", "read", 0)])
    commit(at, seat)
    commit(at, seat)
    (first,) = facts(at)
    seat.held[0].face = "Kd"
    commit(at, seat)
    (second,) = facts(at)
    assert (first.n, second.n) == (0, 1)
    assert isinstance(second, Committed)
    assert second.replaces == first.hash
    reveal(at, seat)
    (opened,) = facts(at)
    assert isinstance(opened, Opened)
    assert (opened.n, opened.card) == (1, "Kd")


def test_an_up_card_is_committed_to_only_in_the_place_of_a_hidden_one():
    at = scene()
    seat = Seat(3, held=[Held("T1", "As", "read", 0), Held("T2", "Kd", "read", 0, up=True)])
    commit(at, seat)
    assert [fact.index for fact in facts(at)] == [0]
    del seat.held[0]
    commit(at, seat)
    (moved,) = facts(at)
    assert (moved.index, moved.n) == (0, 1)
    reveal(at, seat)
    assert [(fact.index, fact.card) for fact in facts(at)] == [(0, "Kd")]


def test_without_a_key_nothing_is_committed():
    at = scene()
    at.hand.key = None
    seat = Seat(3, held=[Held("T1", "As", "read", 0)])
    commit(at, seat)
    reveal(at, seat)
    assert facts(at) == []
