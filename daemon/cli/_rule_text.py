"""The rulings as a tournament director reads them, in English and Russian."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from daemon.rules.cards import SUITS
from daemon.rules.results import (
    ButtonDrawResult,
    ChipRaceResult,
    FirstToActResult,
    ShowdownResult,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SYMBOLS: Final = str.maketrans(SUITS, "♣♦♥♠")
_RUSSIAN: Final = {
    "holdem": "Холдем",
    "omaha": "Омаха",
    "stud": "Стад",
    "board": "борд",
    "common card": "общая карта",
    "seat": "место",
    "cards": "карты",
    "card": "карта",
    "best five": "комбинация",
    "hand": "расклад",
    "wins": "выигрывает",
    "split": "делёж",
    "mucked": "не вскрылись",
    "pot": "банк",
    "shares": "доли",
    "has the button": "получает баттон",
    "third": "третья улица",
    "fourth": "четвёртая улица",
    "fifth": "пятая улица",
    "sixth": "шестая улица",
    "seventh": "седьмая улица",
    "brings it in": "ставит бринг-ин",
    "opens": "открывает торговлю",
    "decided by rank": "решило достоинство карт",
    "decided by suit": "решила масть",
    "decided by position": "решила позиция",
    "equal boards": "равные борды",
    "all-in, its cards decided": "олл-ин, решили его карты",
    "chips": "чипы",
    "exchanged": "обмен",
    "odd": "лишние",
    "before": "было",
    "after": "стало",
    "award": "выиграно",
    "rescued": "спасено",
    "deal a card for each odd chip": "раздать по карте за каждый лишний чип",
    "cards to deal": "раздать карт",
    "no race is needed": "чип-рэйз не нужен",
    "odd chips": "лишних чипов",
    "new chips": "новых чипов",
    "remainder": "остаток",
    "ranking": "порядок",
    "table": "стол",
}
_ENGLISH: Final = {
    "holdem": "Hold'em",
    "omaha": "Omaha",
    "stud": "Stud",
    "third": "third street",
    "fourth": "fourth street",
    "fifth": "fifth street",
    "sixth": "sixth street",
    "seventh": "seventh street",
}


class Words:
    """The words of one language; Russian ones are looked up by the English."""

    def __init__(self, lang: str) -> None:
        self.lang = lang

    def __call__(self, english: str) -> str:
        """The word in the language."""
        return _RUSSIAN[english] if self.lang == "ru" else _ENGLISH.get(english, english)

    def seats(self, seats: Iterable[int]) -> str:
        """`seats 1, 3`."""
        numbers = list(map(str, seats))
        plural = {"en": "seats", "ru": "места"}[self.lang]
        return f"{self('seat') if len(numbers) == 1 else plural} {', '.join(numbers)}"


def text(result: object, lang: str) -> str:
    """A ruling laid out in `en` or `ru`."""
    return "\n".join(_lines(result, Words(lang)))


@singledispatch
def _lines(result: object, words: Words) -> list[str]:
    raise TypeError(f"no layout for {type(result).__name__} ({words.lang})")


@_lines.register
def _(result: ShowdownResult, words: Words) -> list[str]:
    rows = [["", words("seat"), words("cards"), words("best five"), words("hand")]]
    for hand in result.hands:
        mark = "*" if hand.seat in result.winners else ""
        label = hand.label.ru if words.lang == "ru" else hand.label.en
        rows.append([mark, str(hand.seat), _cards(hand.cards), _cards(hand.best), label])
    head = words(result.discipline)
    if result.board:
        lies = "common card" if result.discipline == "stud" else "board"
        head += f", {words(lies)} {_cards(result.board)}"
    outcome = "wins" if len(result.winners) == 1 else "split"
    lines = [head, "", *_table(rows), "", f"{words(outcome)}: {words.seats(result.winners)}"]
    if result.mucked:
        lines.append(f"{words('mucked')}: {words.seats(result.mucked)}")
    if result.pots is not UNSET:
        lines += ["", *_table(_pot_rows(result, words))]
    return lines


def _pot_rows(result: ShowdownResult, words: Words) -> list[list[str]]:
    rows = [[words("pot"), words("shares")]]
    for pot in result.pots or ():
        each = (f"{words('seat')} {seat}: {share}" for seat, share in pot.shares.items())
        rows.append([str(pot.amount), "   ".join(each)])
    return rows


@_lines.register
def _(result: ButtonDrawResult, words: Words) -> list[str]:
    rows = [[words("seat"), words("card")]]
    rows += [[str(drawn.seat), _cards([drawn.card])] for drawn in result.order]
    who = words.seats([result.winner])
    return [
        f"{_capital(who)} {words('has the button')} ({_cards([result.card])})",
        "",
        *_table(rows),
    ]


@_lines.register
def _(result: FirstToActResult, words: Words) -> list[str]:
    does = words("brings it in" if result.kind == "bring-in" else "opens")
    lines = [f"{_capital(words.seats([result.seat]))} {does}, {words(result.street)}"]
    reason = words(f"decided by {result.decided_by}")
    if result.tied:
        reason += f" ({words('equal boards')}: {words.seats(result.tied)})"
    lines.append(reason)
    if result.by_seat is not UNSET:
        lines.append(f"{words.seats([result.by_seat])}: {words('all-in, its cards decided')}")
    rows = [["", words("seat"), words("board")]]
    for seat, cards in result.boards.items():
        rows.append(["*" if seat == result.seat else "", str(seat), _cards(cards)])
    return [*lines, "", *_table(rows)]


@_lines.register
def _(result: ChipRaceResult, words: Words) -> list[str]:
    total = sum(result.odd.values())
    head = (
        f"{result.from_} -> {result.to}: {words('odd chips')} {total}, "
        f"{words('new chips')} {result.new_chips}, {words('remainder')} {result.remainder}"
    )
    if result.change is UNSET:
        return [head, words("deal a card for each odd chip"), "", *_table(_to_deal(result, words))]
    lines = [head]
    if not result.ranking:
        lines.append(words("no race is needed"))
    lines += ["", *_table(_raced(result, words))]
    before, change = sum(result.before.values()), result.change or 0
    words_of_sum = f"{words('before')} {before}, {words('after')} {before + change} ({change:+})"
    return [*lines, "", f"{words('table')}: {words_of_sum}"]


def _to_deal(result: ChipRaceResult, words: Words) -> list[list[str]]:
    rows = [[words("seat"), f"{words('exchanged')} x{result.to}", words("cards to deal")]]
    rows += [[str(seat), str(got), str(result.odd[seat])] for seat, got in result.exchanged.items()]
    return rows


def _raced(result: ChipRaceResult, words: Words) -> list[list[str]]:
    titles = ("exchanged", "odd", "card", "award", "rescued", "before", "after")
    rows = [[words("seat"), *map(words, titles)]]
    best = {entry.seat: entry.card for entry in result.ranking}
    rest = [seat for seat in result.exchanged if seat not in best]
    return rows + [
        [
            str(seat),
            str(result.exchanged[seat]),
            str(result.odd[seat]),
            _cards([best[seat]] if seat in best else []),
            str(result.awards.get(seat, "")),
            "1" if seat in result.rescued else "",
            str(result.before[seat]),
            str((result.after or {}).get(seat, "")),
        ]
        for seat in [*best, *rest]
    ]


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cards(cards: Iterable[str]) -> str:
    return " ".join(card.translate(_SYMBOLS) for card in cards)


def _capital(line: str) -> str:
    return line[0].upper() + line[1:]
