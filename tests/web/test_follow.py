from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from daemon.web.follow import MOST_WAITING, Follower

E = "e1"


def event(seq, epoch=E, **more):
    return ("event", {"epoch": epoch, "seq": seq, **more})


def state(seq, epoch=E):
    return ("state", {"epoch": epoch, "seq": seq})


def seqs(steps, kind):
    return [step.payload["seq"] for step in steps if step.kind == kind]


groups = st.lists(st.integers(1, 4), min_size=1, max_size=12)


def told(sizes):
    """What a table tells: a few counted messages for an input, then the state."""
    stream, seq = [], 0
    for size in sizes:
        for _ in range(size):
            seq += 1
            stream.append(event(seq))
        stream.append(state(seq))
    return stream, seq


@st.composite
def journeys(draw):
    """A stream, where a subscriber joins it, and what happens to each message on the way."""
    stream, last = told(draw(groups))
    joins = draw(st.integers(0, len(stream) - 1))
    fate = st.sampled_from(["once", "once", "once", "lost", "twice"])
    fates = draw(st.lists(fate, min_size=len(stream), max_size=len(stream)))
    return stream, last, joins, fates


@given(journeys())
def test_each_message_is_told_once_in_order_whatever_is_lost_or_doubled(journey):
    stream, last, joins, fates = journey
    follower, steps = Follower(), []
    retained = next((each for each in reversed(stream[: joins + 1]) if each[0] == "state"), None)
    arriving = [retained] if retained else []
    for each, fate in zip(stream[joins + 1 :], fates[joins + 1 :], strict=False):
        arriving += [each] * {"once": 1, "lost": 0, "twice": 2}[fate]
    arriving.append(stream[-1])
    for each in arriving:
        steps += follower.take(*each)
    asked = 0
    while (missing := follower.missing()) is not None:
        asked += 1
        assert asked < 3
        for topic, payload in stream:
            if topic == "event" and payload["seq"] >= missing:
                steps += follower.take(topic, payload | {"late": True})
    assert steps[0].kind == "fresh"
    joined = steps[0].payload["seq"]
    assert seqs(steps, "told") == list(range(joined + 1, last + 1))
    assert seqs(steps, "fresh") == [joined]
    reached = joined
    for step in steps[1:]:
        if step.kind == "told":
            reached = step.payload["seq"]
        elif step.kind == "state":
            assert step.payload["seq"] == reached
    pictures = [s for s in steps if s.kind in {"fresh", "state"}]
    assert pictures[-1].payload["seq"] == last == follower.seq


@given(journeys(), journeys())
def test_a_new_epoch_starts_over_and_the_old_one_is_forgotten(before, after):
    follower, steps = Follower(), []
    for topic, payload in before[0]:
        steps += follower.take(topic, payload)
    late = event(1, late=True)
    for number, (topic, payload) in enumerate(after[0]):
        steps += follower.take(topic, payload | {"epoch": "e2"})
        if number % 3 == 0 and follower.epoch == "e2":
            assert follower.take(*late) == []
    second = [step for step in steps if step.payload["epoch"] == "e2"]
    assert [step.payload["epoch"] for step in steps] == [E] * (len(steps) - len(second)) + [
        "e2"
    ] * len(second)
    first_state = next(payload["seq"] for topic, payload in after[0] if topic == "state")
    assert second[0].kind == "fresh"
    assert seqs(second, "old") == list(range(1, first_state + 1))
    assert seqs(second, "told") == list(range(first_state + 1, after[1] + 1))
    assert follower.missing() is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=3,
)
names = st.sampled_from(["epoch", "seq", "type", "from", "to", "late", "hand"])
junk = st.dictionaries(names, values | st.sampled_from([E, "resend-gone", 1, 2, 3]), max_size=6)


@given(st.lists(st.tuples(st.sampled_from(["state", "event", "alert"]), junk), max_size=20))
def test_no_message_breaks_it(messages):
    for anchored in (True, False):
        follower = Follower(anchored=anchored)
        reached = (None, 0)
        for each in messages:
            follower.take(*each)
            if follower.epoch == reached[0]:
                assert follower.seq >= reached[1]
            reached = (follower.epoch, follower.seq)
            follower.missing()
        follower.give_up()
        assert follower.missing() is None or not messages


def test_what_is_no_longer_kept_is_passed_over():
    follower = Follower()
    follower.take(*state(3))
    assert follower.take(*event(9)) == []
    assert follower.take(*state(9)) == []
    assert follower.missing() == 4
    gone = {"epoch": E, "type": "resend-gone", "from": 4, "to": 7}
    assert follower.take("event", gone | {"from": 5}) == []
    assert follower.take("event", gone | {"epoch": "e0"}) == []
    assert follower.take("event", gone) == []
    assert follower.missing() == 8
    steps = follower.take(*event(8))
    assert [(s.kind, s.payload["seq"]) for s in steps] == [("told", 8), ("told", 9), ("state", 9)]


def test_without_an_answer_it_goes_on_with_the_newest_picture():
    follower = Follower()
    follower.take(*state(3))
    for each in (event(6), event(8), state(7)):
        assert follower.take(*each) == []
    steps = follower.give_up()
    assert [(s.kind, s.payload["seq"]) for s in steps] == [
        ("old", 6),
        ("state", 7),
        ("told", 8),
    ]
    assert follower.missing() is None


def test_without_a_picture_it_goes_on_behind_the_gap():
    follower = Follower(anchored=False)
    assert [s.kind for s in follower.take(*event(5))] == ["fresh"]
    assert follower.take(*event(9)) == []
    assert follower.missing() == 6
    assert seqs(follower.give_up(), "told") == [9]


def test_a_late_message_of_an_old_epoch_does_not_lead_the_private_root_back():
    follower = Follower(anchored=False)
    follower.take(*event(5, epoch="e2"))
    assert follower.take(*event(4, late=True)) == []
    assert follower.epoch == "e2"


def test_what_waits_is_bounded():
    follower = Follower()
    for seq in range(MOST_WAITING + 50):
        follower.take(*event(seq + 1))
    assert len(follower._waiting) == MOST_WAITING
