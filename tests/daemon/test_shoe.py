"""The shoe: alone it follows a hand by the order of dealing, beside antennas it is a witness."""

from __future__ import annotations

import json

import pytest

from daemon import replay
from daemon.engine import AnswersInMemory, Engine
from daemon.recording import read_line
from daemon.rules.cards import DECK
from daemon.setup import Setup
from daemon.state import TableState
from daemon.table import restore, save
from daemon.wire import Wire
from drivers.sim.layout import Layout
from drivers.sim.table import simulate

UIDS = {
    f"{deck}-{card}": f"E004016{number}{place:08X}"
    for number, deck in enumerate(("red", "blue"))
    for place, card in enumerate(DECK)
}
CARDS = {uid: tuple(name.split("-")) for name, uid in UIDS.items()}
HOLDEM = {1: "As Ah", 2: "Kd Kc", 3: "7h 2c"}
BOARD = ("3s", "Qs Jd 9h", "4d", "5h", "6s", "8c")
"""Burn, flop, burn, turn, burn, river."""


class Dealer:
    """Deals from a shoe; `antennas` at seats and board hear what lies there, each 0.25 s."""

    def __init__(self, discipline="holdem", seats=(1, 2, 3), *, antennas=True, board=True):
        self.seats, self.discipline, self.t = list(seats), discipline, 1.0
        names = [f"seat:{n}" for n in range(1, 9)] * antennas + ["board"] * board + ["muck"]
        self.zones = {f"rail/{number}": zone for number, zone in enumerate(names, 1)}
        self.lying = {zone: [] for zone in names}
        self.heard_too = {zone: [] for zone in names}
        self.deaf, self.unpassed, self.lines, self.count = set(), set(), [], 0
        self.setup = Setup("t1", discipline, 8, {**self.zones, "shoe/1": "shoe"}, CARDS)
        self.wait(1.0)

    def wait(self, seconds):
        for _ in range(round(seconds * 4)):
            self.t += 0.25
            felt = {tag for tags in self.lying.values() for tag in tags}
            for antenna, zone in self.zones.items():
                tags = self.lying[zone] + [tag for tag in self.heard_too[zone] if tag in felt]
                heard = [tag for tag in tags if tag not in self.deaf]
                self.line(reader="rail", antenna=int(antenna.partition("/")[2]), tags=heard)

    def line(self, **fields):
        self.lines.append(json.dumps({"t": self.t, **fields}).encode())

    def say(self, kind, **fields):
        self.count += 1
        self.line(command={"id": str(self.count), "by": "floor", "type": kind, **fields})

    def start(self):
        button = {} if self.discipline == "stud" else {"button": self.seats[-1]}
        self.say("start-hand", seats=self.seats, **button)

    def hear_no(self, *cards):
        self.deaf |= {UIDS[f"red-{card}"] for card in cards}

    def deal(self, zone, card, *, deck="red", gap=0.5, shoe=True):
        """One card leaves the shoe and comes to rest."""
        uid = UIDS[f"{deck}-{card}"]
        if shoe and card not in self.unpassed:
            self.line(reader="shoe", antenna=1, tags=[uid], partial=True)
        if zone in self.lying:
            self.lying[zone].append(uid)
        self.wait(gap)

    def hands(self, hands, *, rest=6.0):
        for place in range(max(len(cards.split()) for cards in hands.values())):
            for seat, cards in hands.items():
                self.deal(f"seat:{seat}", cards.split()[place])
        self.wait(rest)

    def street(self, burn, cards, *, rest=8.0):
        if burn:
            self.deal("burn", burn, gap=0.75)
        for card in cards.split():
            self.deal("board", card)
        self.wait(rest)

    def run_out(self, board=BOARD):
        for burn, cards in zip(board[::2], board[1::2], strict=True):
            self.street(burn, cards)

    def told(self):
        return [
            (message.topic.split("/", 2)[2], json.loads(message.payload))
            for _, message in replay.messages(self.setup, "felt", self.lines, "looks")
        ]

    def alerts(self):
        return [(b["kind"], b.get("zone")) for topic, b in self.told() if topic == "alert"]

    def events(self, kind):
        return [b for topic, b in self.told() if topic == "event" and b["type"] == kind]

    def results(self):
        return [body for topic, body in self.told() if topic == "showdown"]

    def state(self):
        """What the table remembers at the end, restored from a snapshot after every line."""
        state = TableState("x", self.discipline)
        for text in self.lines:
            wire = Wire("t1", "felt", "x", replay.FIRST_DAY)
            engine = Engine(self.setup, state, wire, AnswersInMemory())
            engine.feed(*read_line(text))
            state = restore(save(engine.state))
        return state


def alone(discipline="holdem", seats=(1, 2, 3), *, board=False):
    return Dealer(discipline, seats, antennas=False, board=board)


def hand_of(result):
    return {str(hand["seat"]): " ".join(hand["cards"]) for hand in result["hands"]}


@pytest.mark.parametrize("board", [False, True])
def test_the_order_of_dealing_is_enough(board):
    dealer = alone(board=board)
    dealer.start()
    dealer.hands(HOLDEM)
    dealer.run_out()
    dealer.say("fold", seat=3)
    dealer.say("showdown")
    [result] = dealer.results()
    assert hand_of(result) == {"1": "As Ah", "2": "Kd Kc"}
    assert result["board"] == ["Qs", "Jd", "9h", "5h", "8c"]
    assert result["winners"] == [1]
    assert [event["street"] for event in dealer.events("street")] == [
        *("preflop", "flop", "turn", "river")
    ]
    assert dealer.alerts() == []
    assert {held.source for seat in dealer.state().hand.seats.values() for held in seat.held} == {
        "shoe"
    }


@pytest.mark.parametrize("missed", ["As", "Kd", "7h", "Ah", "Kc", "2c"])
def test_a_card_of_the_deal_that_was_not_heard_shifts_nobody(missed):
    dealer = alone()
    dealer.unpassed.add(missed)
    dealer.start()
    dealer.hands(HOLDEM)
    dealer.run_out()
    dealer.say("showdown")
    assert dealer.alerts() == [("missing-card", "shoe")]
    assert dealer.results() == []
    assert dealer.events("card-dealt") == []
    assert [b for topic, b in dealer.told() if topic == "reply"][-1]["ok"] is False


@pytest.mark.parametrize("missed", ["3s", "Qs", "Jd", "9h", "4d", "5h", "6s", "8c"])
def test_a_card_of_the_board_that_was_not_heard_is_asked_for(missed):
    dealer = alone()
    dealer.unpassed.add(missed)
    dealer.start()
    dealer.hands(HOLDEM)
    dealer.run_out()
    dealer.say("showdown")
    dealer.wait(3.0)
    assert dealer.alerts() == [("missing-card", "shoe")]
    assert dealer.results() == []
    told = [card for event in dealer.events("street") for card in event["cards"]]
    assert told == ["Qs", "Jd", "9h", "5h", "8c"][: len(told)]
    assert missed not in told


def test_without_a_burn_or_with_a_card_too_many_nothing_is_told():
    for flop in (("", "Qs Jd 9h"), ("3s", "Qs Jd 9h 2s")):
        dealer = alone()
        dealer.start()
        dealer.hands(HOLDEM)
        dealer.street(*flop)
        assert ("missing-card", "shoe") in dealer.alerts()
        assert dealer.events("street")[1:] == []


def test_a_reader_that_was_lost_is_not_believed():
    dealer = alone()
    dealer.start()
    dealer.line(reader="shoe", up=False)
    dealer.line(reader="shoe", up=True)
    dealer.hands(HOLDEM)
    assert dealer.alerts() == [("reader-down", "shoe"), ("missing-card", "shoe")]
    assert dealer.events("card-dealt") == []


@pytest.mark.parametrize("antennas", [False, True])
def test_cards_that_pass_the_shoe_begin_a_hand_that_the_floor_adopts(antennas):
    dealer = Dealer(antennas=antennas, board=False)
    dealer.deal("seat:1", "As")
    assert dealer.events("hand-started") == []
    dealer.deal("seat:2", "Kd")
    dealer.start()
    for seat, card in ((3, "7h"), (1, "Ah"), (2, "Kc"), (3, "2c")):
        dealer.deal(f"seat:{seat}", card)
    dealer.wait(6.0)
    [started] = dealer.events("hand-started")
    assert started["deck"] == "red"
    assert len(dealer.events("card-dealt")) == 6
    assert dealer.alerts() == []


def test_the_next_deck_begins_the_next_hand_once_the_last_is_told():
    dealer = alone()
    dealer.start()
    dealer.hands(HOLDEM)
    dealer.run_out()
    dealer.say("showdown")
    dealer.wait(5.0)
    dealer.deal("", "As", deck="blue")
    dealer.deal("", "Ks", deck="blue")
    assert [event["deck"] for event in dealer.events("hand-started")] == [None, "blue"]


STUD = {1: "2c 3d Kh", 4: "As Ad 2d", 6: "7c 7h 9s"}


def test_stud_is_followed_without_an_antenna():
    dealer = alone("stud", (1, 4, 6))
    dealer.start()
    dealer.hands(STUD)
    for burn, cards in (("Js", {1: "Qs", 4: "Jd", 6: "9d"}), ("Jc", {1: "4s", 6: "8h"})):
        dealer.deal("burn", burn)
        dealer.hands(cards)
        dealer.say("fold", seat=4) if 4 in cards else None
        dealer.wait(4.0)
    rulings = [b for topic, b in dealer.told() if topic == "ruling/first-to-act"]
    assert [(r["street"], r["seat"]) for r in rulings] == [
        *(("third", 4), ("fourth", 6), ("fifth", 6))
    ]
    assert rulings[-1]["boards"] == {"1": ["Kh", "Qs", "4s"], "6": ["9s", "9d", "8h"]}
    up = {event["card"] for event in dealer.events("card-dealt") if "card" in event}
    assert up == {"Kh", "2d", "9s", "Qs", "Jd", "9d", "4s", "8h"}
    assert dealer.alerts() == []


@pytest.mark.parametrize("missed", ["2c", "7h", "Kh", "9s"])
def test_no_face_is_told_where_a_card_of_third_street_was_not_heard(missed):
    dealer = alone("stud", (1, 4, 6))
    dealer.unpassed.add(missed)
    dealer.start()
    dealer.hands(STUD)
    dealer.deal("burn", "Js")
    dealer.hands({1: "Qs", 4: "Jd", 6: "9d"})
    assert not any("card" in event for event in dealer.events("card-dealt"))
    assert dealer.alerts() == [("missing-card", "shoe")]


def beside_antennas(**options):
    dealer = Dealer("holdem", **options)
    dealer.start()
    dealer.wait(0.5)
    return dealer


FOUR = {1: "As Ah", 2: "Kd Kc", 3: "7h 2c", 4: "Td Tc"}


@pytest.mark.parametrize("deaf", ["Ah", "Kd", "7h", "Kc", "2c"])
def test_a_card_that_no_seat_hears_is_taken_from_the_shoe(deaf):
    dealer = beside_antennas(seats=(1, 2, 3, 4))
    dealer.hear_no(deaf)
    dealer.hands(FOUR, rest=16.0)
    dealer.run_out()
    dealer.say("showdown")
    [result] = dealer.results()
    assert {seat: set(cards.split()) for seat, cards in hand_of(result).items()} == {
        str(seat): set(cards.split()) for seat, cards in FOUR.items()
    }
    assert result["typed"] == []
    assert dealer.alerts() == []
    found = [h for seat in dealer.state().hand.seats.values() for h in seat.held if h.face == deaf]
    assert [(held.source, held.fixed) for held in found] == [("shoe", True)]


def test_nothing_is_guessed_where_two_neighbours_are_not_heard():
    dealer = beside_antennas(seats=(1, 2, 3, 4))
    dealer.hear_no("Kd", "7h")
    dealer.hands(FOUR, rest=16.0)
    seats = dealer.state().hand.seats
    assert [len(seats[n].held) for n in (1, 2, 3, 4)] == [2, 1, 1, 2]


def test_nothing_is_guessed_where_the_shoe_missed_a_card_beside_it():
    dealer = beside_antennas(seats=(1, 2, 3, 4))
    dealer.hear_no("Kd", "7h")
    dealer.unpassed.add("Kd")
    dealer.hands(FOUR, rest=16.0)
    seats = dealer.state().hand.seats
    assert [len(seats[n].held) for n in (1, 2, 3, 4)] == [2, 1, 1, 2]


def test_a_card_that_two_seats_hear_lies_where_the_order_says():
    dealer = beside_antennas(seats=(1, 2, 3, 4))
    dealer.heard_too["seat:2"].append(UIDS["red-7h"])
    dealer.hands(FOUR, rest=10.0)
    dealer.run_out()
    dealer.say("showdown")
    [result] = dealer.results()
    assert {seat: set(cards.split()) for seat, cards in hand_of(result).items()} == {
        str(seat): set(cards.split()) for seat, cards in FOUR.items()
    }


def test_a_burn_beside_the_board_is_no_board_card():
    dealer = beside_antennas()
    dealer.hands(HOLDEM)
    dealer.deal("board", "3s", gap=0.75)
    dealer.street("", "Qs Jd 9h")
    assert [event["cards"] for event in dealer.events("street")] == [[], ["Qs", "Jd", "9h"]]
    assert dealer.alerts() == []


def test_a_street_that_passed_whole_settles_sooner():
    times = []
    for unpassed in (set(), {"3s"}):
        dealer = beside_antennas()
        dealer.unpassed |= unpassed
        dealer.hands(HOLDEM)
        dealer.street("3s", "Qs Jd 9h")
        times += [event["at"] for event in dealer.events("street")[1:]]
    assert len(times) == 2
    assert times[0] < times[1]


@pytest.mark.parametrize(
    ("deals", "alert"),
    [
        ("1As 2Kd 3Qd 4Jd 1Ah 3Kc 4Tc", ("wrong-card-count", "seat:2")),
        ("1As 2Kd 2Qd 3Jd 4Td 1Ah 3Kc 4Tc", ("wrong-seat", "seat:2")),
        ("1As 4Kd 2Qd 3Jd 1Td 2Ah 3Kc 4Tc", ("wrong-seat", "seat:4")),
    ],
)
def test_a_seat_passed_over_or_dealt_to_out_of_turn_is_told(deals, alert):
    dealer = beside_antennas(seats=(1, 2, 3, 4))
    for each in deals.split():
        dealer.deal(f"seat:{each[0]}", each[1:])
    dealer.wait(6.0)
    dealer.street("3s", "Qs 9d 9h")
    dealer.wait(6.0)
    assert alert in dealer.alerts()
    assert dealer.alerts().count(alert) == 1


def test_a_card_that_did_not_pass_the_shoe_is_told():
    dealer = beside_antennas()
    dealer.unpassed |= {"Kd", "5h"}
    dealer.hands(HOLDEM)
    assert dealer.alerts() == [("bypassed-shoe", "seat:2")]
    dealer.run_out()
    assert dealer.alerts() == [("bypassed-shoe", "seat:2"), ("bypassed-shoe", "board")]
    assert not {"Kd"} & set(json.dumps(dealer.told()).replace('"', " ").split())


def test_a_street_without_a_burn_is_told_with_its_rule():
    dealer = beside_antennas()
    dealer.hands(HOLDEM)
    dealer.street("", "Qs Jd 9h")
    dealer.street("4d", "5h")
    dealer.street("", "8c")
    assert dealer.alerts() == [("no-burn", "board"), ("no-burn", "board")]
    [first, _] = [body for topic, body in dealer.told() if topic == "alert"]
    assert first["rule"] == "TDA 39-B"


def test_a_board_card_that_never_arrives_is_asked_for():
    dealer = beside_antennas()
    dealer.hear_no("5h")
    dealer.hands(HOLDEM)
    dealer.street("3s", "Qs Jd 9h")
    dealer.street("4d", "5h", rest=12.0)
    assert dealer.alerts() == [("missing-card", "board")]
    assert len(dealer.events("street")) == 2


def test_a_card_of_the_other_deck_in_the_shoe_is_told_at_once():
    dealer = beside_antennas()
    dealer.deal("seat:1", "As")
    dealer.deal("seat:2", "Kd", deck="blue")
    dealer.deal("seat:3", "7h")
    assert dealer.alerts() == [("mixed-decks", "shoe")]


def judge(play, scorer, discipline, level, hands, **options):
    layout = Layout(shoe=True, seats=8, **options.pop("layout", {}))
    commands = options.pop("commands")
    session = simulate(discipline, level, 5, hands, commands=commands, layout=layout, speed=4.0)
    truths, messages = play(session)
    assert scorer.leaks(truths, messages) == []
    return scorer.tally(scorer.score(truths, messages))


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize(
    ("level", "commands"), [("clean", False), ("field", True), ("harsh", True)]
)
def test_with_antennas_nothing_is_told_wrong(play, scorer, discipline, level, commands):
    tally = judge(play, scorer, discipline, level, 4, commands=commands)
    assert sum(counts["wrong"] for counts in tally.values()) == 0
    assert sum(counts["right"] for counts in tally.values()) >= 6


@pytest.mark.parametrize("discipline", ["holdem", "omaha", "stud"])
@pytest.mark.parametrize("level", ["clean", "harsh"])
@pytest.mark.parametrize("board", [0, 1])
def test_alone_it_is_right_or_says_so(play, scorer, discipline, level, board):
    layout = {"antennas": False, "board": board}
    tally = judge(play, scorer, discipline, level, 5, commands=True, layout=layout)
    verdicts = {verdict for counts in tally.values() for verdict, n in counts.items() if n}
    assert verdicts == {"right"} if level == "clean" else verdicts <= {"right", "flagged"}


SOAKED = [
    (discipline, level, antennas)
    for discipline in ("holdem", "omaha", "stud")
    for level, antennas in (
        *(("field", True), ("harsh", True), ("field", False), ("harsh", False)),
        *((("brutal", False),) if discipline != "stud" else ()),
    )
]
"""Without stud at brutal: a shoe that is deaf for whole streets takes seventh for fourth."""


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("discipline", "level", "antennas"), SOAKED)
def test_never_wrong_for_long(play, scorer, discipline, level, antennas):
    layout = {"antennas": antennas}
    tally = judge(play, scorer, discipline, level, 300, commands=True, layout=layout)
    assert sum(counts["wrong"] for counts in tally.values()) == 0
