"""What the pages draw: one document a table, folded from the steps of a follower.

The whole document goes to a browser at every change, so a browser that slept, or missed some, has
the same picture as all others with the next one. Nothing here comes from the private root but
through `HoleView`, which the public process never makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from daemon.rules.irregularities import of_alert
from daemon.rules.profile import SPORT_POKER

if TYPE_CHECKING:
    from daemon.rules.profile import Profile
    from daemon.web.follow import Payload, Step

ALERTS = 60
LOG = 40
RESULTS = {
    "showdown": "showdown",
    "ruling/button-draw": "button-draw",
    "ruling/chip-race": "chip-race",
}
OPENER = "ruling/first-to-act"
ODDS = {"equity", "street", "hand-started", "hand-ended", "hand-voided"}
_STREETS = {0: "flop", 3: "turn", 4: "river"}


class TableView:
    """The public picture of one table.

    `hand` is the newest hand number known: a result is shown while it is that hand's.
    """

    def __init__(self, table: str, profile: Profile = SPORT_POKER) -> None:
        self.table = table
        self.link = False
        self.status: Payload = {}
        self.readers: dict[str, Payload] = {}
        self._profile = profile
        self._forget()

    def _forget(self) -> None:
        self.state: Payload = {}
        self.hand: int | None = None
        self._results: dict[str, Payload] = {}
        self._deal: Payload | None = None
        self._equity: Payload | None = None
        self._odds_at = 0
        self._alerts: dict[int, Payload] = {}
        self._log: dict[int, Payload] = {}

    def take(self, step: Step) -> None:
        """Fold one step in."""
        if step.kind == "fresh":
            self._forget()
        if step.topic == "state":
            self.state = step.payload
            self._count_hand(step.payload)
            return
        kept_by_broker = step.topic in {*RESULTS, OPENER} and not step.payload.get("late")
        if step.kind == "told" or not kept_by_broker:
            self._count_hand(step.payload)
        self._told(step.topic, step.payload)

    def aside(self, topic: str, payload: Payload) -> None:
        """An uncounted message: the table's status, the health of a reader."""
        if topic == "status":
            self.status = payload
        elif topic.startswith("reader/"):
            self.readers[topic.removeprefix("reader/")] = payload

    def _count_hand(self, payload: Payload) -> None:
        hand = payload.get("hand")
        if isinstance(hand, int) and (self.hand is None or hand > self.hand):
            self.hand = hand

    def _told(self, topic: str, payload: Payload) -> None:
        if topic in RESULTS or topic == OPENER:
            known = self._results.get(topic)
            if known is None or payload["seq"] > known["seq"]:
                self._results[topic] = payload
        elif topic == "alert":
            self._alert(payload)
        elif topic == "event":
            self._event(payload, payload["seq"])

    def _alert(self, payload: Payload) -> None:
        street = _STREETS.get(len(self.state.get("board", [])))
        grave = payload.get("severity") != "notice"
        known = of_alert(str(payload.get("kind")), street, self._profile) if grave else None
        remedy = None if known is None else {"en": known.remedy.en, "ru": known.remedy.ru}
        rule = payload.get("rule") or (known.rule if known else "")
        _keep(self._alerts, payload | {"remedy": remedy, "rule": rule}, ALERTS)

    def _event(self, payload: Payload, seq: int) -> None:
        kind = payload.get("type")
        if kind == "deal-started" and (self._deal is None or seq > self._deal["seq"]):
            self._deal = payload
        elif kind in ODDS and seq > self._odds_at:
            self._odds_at = seq
            self._equity = payload if kind == "equity" else None
        elif kind == "command":
            _keep(self._log, payload, LOG)

    def overlay(self) -> Payload:
        """What everybody may see."""
        state = self.state
        opener = self._current(OPENER)
        if opener is not None and opener.get("street") != state.get("phase"):
            opener = None
        return {
            "table": self.table,
            "link": self.link,
            "online": bool(self.status.get("online")),
            "epoch": state.get("epoch"),
            "seq": state.get("seq"),
            "hand": self.hand,
            "open": "hand" in state,
            "phase": state.get("phase", "idle"),
            "discipline": state.get("discipline"),
            "button": state.get("button"),
            "board": state.get("board", []),
            "seats": state.get("seats", {}),
            "opener": opener,
            "result": self._result(),
            "deal": self._of_this_hand(self._deal) if "hand" in state else None,
            "equity": self._of_this_hand(self._equity),
        }

    def floor(self) -> Payload:
        """What the floor sees beyond that."""
        return self.overlay() | {
            "alerts": [self._alerts[seq] for seq in sorted(self._alerts, reverse=True)],
            "readers": dict(sorted(self.readers.items())),
            "log": [self._log[seq] for seq in sorted(self._log)],
            "status": self.status,
        }

    def next_hand(self) -> int | None:
        """The number that a command has to carry; None while it is not known."""
        if self.hand is None and self.state.get("seq") == 0:
            return 1
        return self.hand

    def _result(self) -> Payload | None:
        """The newest ruling of this hand, unless it was declared void."""
        current = [(self._current(topic), kind) for topic, kind in RESULTS.items()]
        told = [each | {"kind": kind} for each, kind in current if each is not None]
        return max(told, key=_seq) if told else None

    def _current(self, topic: str) -> Payload | None:
        found = self._of_this_hand(self._results.get(topic))
        return None if found is not None and found.get("void") else found

    def _of_this_hand(self, payload: Payload | None) -> Payload | None:
        return payload if payload is not None and payload.get("hand") == self.hand else None


class HoleView:
    """Hole cards and equity of the hand that is played; for the private process alone."""

    def __init__(self) -> None:
        self._cards: dict[int, Payload] = {}
        self._equity: Payload | None = None

    def take(self, topic: str, payload: Payload) -> None:
        """A message of the private root, opened where it was sealed."""
        if topic == "hole-cards" and isinstance(payload.get("seat"), int):
            newest = max((each["hand"] for each in self._cards.values()), default=0)
            hand = payload.get("hand")
            if not isinstance(hand, int) or hand < newest:
                return
            self._cards = {n: each for n, each in self._cards.items() if each["hand"] == hand}
            self._cards[payload["seat"]] = payload
        elif topic == "equity":
            self._equity = payload

    def forget(self) -> None:
        """The table's memory is new."""
        self._cards, self._equity = {}, None

    def new_street(self) -> None:
        """The odds are others now."""
        self._equity = None

    def on(self, public: Payload) -> Payload:
        """The public picture with the hole cards of the same hand."""
        hand = public["hand"] if public["open"] else None
        hole = {
            str(seat): each["cards"] for seat, each in self._cards.items() if each["hand"] == hand
        }
        equity = self._equity if self._equity and self._equity.get("hand") == hand else None
        return public | {"hole": hole, "equity": equity or public["equity"]}


def _keep(known: dict[int, Payload], payload: Payload, most: int) -> None:
    """Add a message to those by `seq`, of which the newest stay."""
    known[payload["seq"]] = payload
    for seq in sorted(known)[:-most]:
        del known[seq]


def _seq(payload: dict[str, Any]) -> int:
    return int(payload["seq"])
