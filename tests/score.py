"""How well a stream of messages tells what really happened at the simulated table.

Judged with evaluators of its own: phevaluator for hands, the lines below for stud boards, draws
and races. Messages are those of `feltd replay`: `{"t", "topic", "retain", "payload"}`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from phevaluator import evaluate_cards, evaluate_omaha_cards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from drivers.sim.script import HandTruth

Message = dict[str, Any]

RANKS = "23456789TJQKA"
SUITS = "cdhs"
MARGIN = 1.0
"""A hand's messages begin this long before its first command or card, in seconds."""

UNDER_WAY = 10.0
"""A hand number that appears this long before the end of a real hand means it, in seconds."""

VERDICTS = ("right", "flagged", "silent", "wrong")

_FACE = re.compile(r"(?<![A-Za-z0-9])(?:(?:[2-9TJQKA]|10)[cdhs♣♦♥♠])+(?![A-Za-z0-9])")
_ONE = re.compile(r"([2-9TJQKA]|10)([cdhs♣♦♥♠])")
_SYMBOLS = dict(zip("♣♦♥♠", SUITS, strict=True))


@dataclass
class HandScore:
    """Verdicts of one hand by aspect, and why they are what they are.

    Aspects: `showdown` or `winner`, `folds`, `opener-STREET`, `button-draw`, `chip-race`.
    """

    truth: HandTruth
    verdicts: dict[str, str] = field(default_factory=dict)
    why: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The worst of all aspects."""
        return max(self.verdicts.values(), key=VERDICTS.index, default="right")


def score(truths: Sequence[HandTruth], messages: Iterable[Message]) -> list[HandScore]:
    """The verdicts of every hand; messages belong to the hand during which they were told.

    What is told late, of a hand that was under way before, belongs to that one; calls for help
    count for both.
    """
    told: dict[int, list[Message]] = {0: []}
    results: list[HandScore] = []
    for now, home, line in _placed(truths, messages):
        while len(results) < now - 1:
            results.append(_score_hand(truths[len(results)], told.pop(len(results), [])))
        told.setdefault(max(home, len(results)), []).append(line)
        if home < now and line["topic"].split("/")[2] in {"alert", "reply"}:
            told.setdefault(now, []).append(line)
    rest = range(len(results), len(truths))
    return results + [_score_hand(truths[at], told.get(at, [])) for at in rest]


def tally(scores: Iterable[HandScore]) -> dict[str, Counter[str]]:
    """How often each verdict was reached, by aspect; all openers together."""
    counts: dict[str, Counter[str]] = {}
    for each in scores:
        for aspect, verdict in each.verdicts.items():
            kind = aspect.partition("-")[0] if aspect.startswith("opener") else aspect
            counts.setdefault(kind, Counter())[verdict] += 1
    return counts


def leaks(truths: Sequence[HandTruth], lines: Iterable[Message]) -> list[str]:
    """Every public message that names a card or a tag which was hidden when it was told.

    The picture of a hand may repeat what was told of that hand before, while the next is dealt.
    """
    found: list[str] = []
    told: dict[int, set[str]] = {}
    for now, home, line in _placed(truths, lines):
        if line["topic"].startswith("felt-private"):
            continue
        known = truths[home].public if home < now else {}
        before = told.setdefault(line["payload"].get("hand", 0), set())
        repeated = before if line["topic"].endswith("/state") else set()
        secrets = [x for x in _secrets(truths[now], line) if x not in known and x not in repeated]
        where = f"hand {truths[now].number}, {line['t']} s: {line['topic']}"
        found += [f"{where} has {x}" for x in secrets]
        before.update(_faces(line["payload"]))
    return found


def _secrets(truth: HandTruth, line: Message) -> list[str]:
    """What a public message tells too early."""
    hidden = {
        each.uid: each.card
        for each in truth.dealt
        if line["t"] < truth.public.get(each.card, float("inf")) - 0.001
    }
    named = set(_faces(line["payload"])) & set(hidden.values())
    named |= set(_tags(line["payload"], hidden))
    equity = line["payload"].get("type") == "equity" and not truth.tabled
    return sorted(named) + ["the equity of hidden hands"] * equity


def _placed(
    truths: Sequence[HandTruth], messages: Iterable[Message]
) -> Iterator[tuple[int, int, Message]]:
    """Each message with the hand during which it was told, and the one it speaks of.

    A hand's time begins just before its first card or command. A number that was in use well
    before the end of a hand goes on to mean that hand.
    """
    now = 0
    homes: dict[int, int] = {}
    for line in messages:
        while now + 1 < len(truths) and line["t"] >= truths[now + 1].begins - MARGIN:
            now += 1
        number = line["payload"].get("hand", 0)
        if number and line["t"] < truths[now].ends - UNDER_WAY:
            homes.setdefault(number, now)
        yield now, homes.get(number, now), line


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _strings(key)
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


def _faces(payload: Any) -> Iterator[str]:
    for text in _strings(payload):
        for run in _FACE.findall(text):
            for rank, suit in _ONE.findall(run):
                yield rank.replace("10", "T") + _SYMBOLS.get(suit, suit)


def _tags(payload: Any, hidden: dict[str, str]) -> list[str]:
    texts = [text.upper() for text in _strings(payload) if len(text) >= 8]
    return [card for uid, card in hidden.items() if any(uid in text for text in texts)]


def _score_hand(truth: HandTruth, told: list[Message]) -> HandScore:
    result = HandScore(truth)
    asked = _asked(truth, told)
    if truth.kind == "hand":
        _judge_end(result, told, asked=asked)
        _judge_folds(result, told, asked=asked)
        for street, seat in openers(truth).items():
            _judge_opener(result, told, street, seat, asked=asked)
    else:
        check = _draw_faults if truth.kind == "button-draw" else _race_faults
        _settle(result, truth.kind, _bodies(told, f"ruling/{truth.kind}"), check, asked=asked)
        _no_showdown(result, told, truth.kind)
    return result


def _settle(
    result: HandScore,
    aspect: str,
    bodies: list[Message],
    check: Callable[[HandTruth, Message], list[str]],
    *,
    asked: bool,
) -> None:
    """Wrong if any message is, right if there was one, else flagged or silent."""
    faults = [fault for body in bodies for fault in check(result.truth, body)]
    absent = "flagged" if asked else "silent"
    result.verdicts[aspect] = "wrong" if faults else "right" if bodies else absent
    result.why += [f"{aspect}: {fault}" for fault in faults]
    if not bodies:
        result.why.append(f"{aspect}: nothing told")


def _asked(truth: HandTruth, told: list[Message]) -> bool:
    """Somebody knows that help is needed: an alert above a notice, `waiting`, a refusal."""
    alerts = any(body["severity"] != "notice" for body in _bodies(told, "alert"))
    at = truth.showdown_at or float("-inf")
    answers = _bodies([line for line in told if abs(line["t"] - at) < 0.01], "reply")
    waiting = any(body.get("waiting") for body in _bodies(told, "reply"))
    return alerts or waiting or any(body.get("ok") is False for body in answers)


def _bodies(told: list[Message], topic: str) -> list[Message]:
    """Payloads on `felt/<table>/topic`, and replies on either root."""
    return [line["payload"] for line in told if line["topic"].split("/", 2)[2] == topic]


def _events(told: list[Message], kind: str) -> list[Message]:
    return [body for body in _bodies(told, "event") if body["type"] == kind]


def _judge_end(result: HandScore, told: list[Message], *, asked: bool) -> None:
    """The showdown, or the winner where one seat was left."""
    truth = result.truth
    showdowns = [body for body in _bodies(told, "showdown") if not body.get("void")]
    ends = [body for body in _events(told, "hand-ended") if body.get("winner") is not None]
    lone = truth.winner
    if truth.showdown_at is not None and not truth.commands and len(truth.shown) == 1:
        lone = truth.shown[0]
    if lone is None:
        _settle(result, "showdown", showdowns, _showdown_faults, asked=asked)
        if ends:
            result.verdicts["showdown"] = "wrong"
            result.why.append(f"showdown: told that seat {ends[0]['winner']} was left alone")
        return
    _settle(
        result, "winner", ends, lambda _, body: _differs("seat", lone, body["winner"]), asked=asked
    )
    _no_showdown(result, told, "winner")


def _no_showdown(result: HandScore, told: list[Message], aspect: str) -> None:
    if _bodies(told, "showdown"):
        result.verdicts[aspect] = "wrong"
        result.why.append(f"{aspect}: a showdown that never was")


def _differs(what: str, right: object, told: object) -> list[str]:
    return [] if right == told else [f"{what} is {right}, told {told}"]


def _showdown_faults(truth: HandTruth, body: Message) -> list[str]:
    told = {hand["seat"]: sorted(hand["cards"]) for hand in body["hands"]}
    # two cards of a flop are often first heard in one look, so their order proves nothing
    real, board = ([*sorted(b[:3]), *b[3:]] for b in (truth.board, body["board"]))
    faults = _differs("board", real, board)
    faults += _differs("hands", {s: sorted(truth.own(s)) for s in truth.shown}, told)
    faults += _differs("winners", winners(truth), sorted(body["winners"]))
    if truth.commands:
        faults += _differs("mucked", sorted(truth.mucked), sorted(body["mucked"]))
    return faults


def winners(truth: HandTruth) -> list[int]:
    """The seats with the best of the shown hands (hi-lo is not played)."""
    strengths = {
        seat: _strength(truth.discipline, truth.own(seat), truth.board) for seat in truth.shown
    }
    best = min(strengths.values())
    return sorted(seat for seat, strength in strengths.items() if strength == best)


def _strength(discipline: str, own: Sequence[str], board: Sequence[str]) -> int:
    if discipline == "omaha":
        return int(evaluate_omaha_cards(*board, *own))
    return int(evaluate_cards(*own, *board))


def _judge_folds(result: HandScore, told: list[Message], *, asked: bool) -> None:
    """Every fold that antennas or operator could know of, and none that never was."""
    truth = result.truth
    published = {body["seat"] for body in _events(told, "folded")}
    happened = {fold.seat for fold in truth.folds}
    knowable = {f.seat for f in truth.folds if truth.commands or (f.read and f.muck)}
    made_up, missing = published - happened, knowable - published
    absent = ("flagged" if asked else "silent") if missing else "right"
    result.verdicts["folds"] = "wrong" if made_up else absent
    result.why += [f"folds: seat {seat} never folded" for seat in sorted(made_up)]
    result.why += [f"folds: seat {seat} not told" for seat in sorted(missing)]


def openers(truth: HandTruth) -> dict[str, int]:
    """Who opens each street of stud: the bring-in, then the high board among live hands.

    Streets after all live hands were tabled have none. On seventh the boards of sixth rule.
    """
    if truth.discipline != "stud":
        return {}
    found: dict[str, int] = {}
    for street, at in truth.streets.items():
        if any(tabled.at < at for tabled in truth.tabled):
            break
        folded = {fold.seat for fold in truth.folds if fold.at < at}
        boards = {
            seat: [c.card for c in truth.dealt if c.seat == seat and c.up and c.at <= at]
            for seat in truth.seats
            if seat not in folded
        }
        if street == "third":
            found[street] = min(boards, key=lambda seat: _number(boards[seat][0]))
        else:
            found[street] = max(boards, key=lambda seat: _board_strength(boards[seat]))
    return found


def _number(card: str) -> tuple[int, int]:
    return RANKS.index(card[0]), SUITS.index(card[1])


def _board_strength(board: list[str]) -> tuple[object, ...]:
    """Quads, trips, two pair, pair, high card; then ranks; then the suit of the highest card."""
    counts = Counter(RANKS.index(card[0]) for card in board)
    groups = sorted(((count, rank) for rank, count in counts.items()), reverse=True)
    return [c for c, _ in groups], [r for _, r in groups], max(map(_number, board))


def _judge_opener(
    result: HandScore, told: list[Message], street: str, seat: int, *, asked: bool
) -> None:
    bodies = [b for b in _bodies(told, "ruling/first-to-act") if b["street"] == street]

    def faults(truth: HandTruth, body: Message) -> list[str]:
        shown = {int(s): sorted(cards) for s, cards in body["boards"].items()}
        real = {s: sorted(truth.up(s)[: len(cards)]) for s, cards in shown.items()}
        return _differs("seat", seat, body["seat"]) + _differs("boards", real, shown)

    _settle(result, f"opener-{street}", bodies, faults, asked=asked)


def _best_cards(truth: HandTruth) -> list[tuple[int, str]]:
    best = {s: max(truth.own(s), key=_number) for s in truth.seats if truth.own(s)}
    return sorted(best.items(), key=lambda item: _number(item[1]), reverse=True)


def _pairs(entries: Iterable[Message]) -> list[tuple[int, str]]:
    return [(entry["seat"], entry["card"]) for entry in entries]


def _draw_faults(truth: HandTruth, body: Message) -> list[str]:
    ranking = _best_cards(truth)
    return _differs("winner", ranking[0][0], body["winner"]) + _differs(
        "order", ranking, _pairs(body["order"])
    )


def _race_faults(truth: HandTruth, body: Message) -> list[str]:
    old, new = truth.chips or (1, 1)
    ratio = new // old
    odd = {seat: count % ratio for seat, count in truth.counts.items()}
    drawn_for, remainder = divmod(sum(odd.values()), ratio)
    chips = min(drawn_for + (2 * remainder >= ratio), sum(n > 0 for n in odd.values()))
    ranking = _best_cards(truth)
    told = {int(seat): n for seat, n in body["odd"].items() if n}
    return [
        *_differs("odd chips", {seat: n for seat, n in odd.items() if n}, told),
        *_differs("new chips", chips, body["new_chips"]),
        *_differs("ranking", ranking, _pairs(body["ranking"])),
        *_differs(
            "awards", sorted(s for s, _ in ranking[:chips]), sorted(map(int, body["awards"]))
        ),
    ]
