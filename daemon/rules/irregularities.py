"""What to do when something went wrong: the rule that applies and the remedy, by kind.

Where authorities disagree the profile chooses the remedy. The floor decides; this is what the
book says, for an alert to bring along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from daemon.rules.errors import RuleError
from daemon.rules.labels import Label
from daemon.rules.profile import SPORT_POKER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.rules.profile import Profile


class Irregularity(msgspec.Struct, frozen=True):
    """A kind of irregularity, the rule that applies to it, and the remedy."""

    kind: str
    rule: str
    remedy: Label


class _Known(NamedTuple):
    rule: str
    en: str
    ru: str


class _Disputed(NamedTuple):
    """Remedies by the value of a key of the profile."""

    key: str
    by_value: dict[str, _Known]


_MISDEAL_EN: Final = "Misdeal: exact replay with the same button, blinds and players."
_MISDEAL_RU: Final = "Пересдача: точное повторение, те же баттон, блайнды и игроки."

_FLOP: Final[dict[str, _Known | _Disputed]] = {
    "four-card-flop": _Disputed(
        "four_card_flop",
        {
            "scramble": _Known(
                "TDA 39-A",
                "Call the floor. Scramble the four cards face down; one drawn at random is the "
                "next burn, the other three are the flop.",
                "Вызвать судью. Смешать четыре карты рубашкой вверх; одна наугад — следующий "
                "сброс, три остальные — флоп.",
            ),
            "reshuffle": _Known(
                "RRoP",
                "The whole flop goes back, the burn stays; reshuffle, deal a new flop without "
                "another burn.",
                "Весь флоп возвращается, сброс остаётся; перетасовать и сдать новый флоп, "
                "карту не сжигать.",
            ),
        },
    ),
    "five-card-flop": _Known(
        "WSOP live 163",
        "Five or more cards exposed: reshuffle them with the stub, deal a new flop.",
        "Открыто пять карт или больше: перетасовать их с остатком колоды, сдать новый флоп.",
    ),
    "flop-without-burn": _Known(
        "TDA 39-B",
        "No action yet: scramble the three face down; one becomes the burn, the flop is the "
        "other two and the next card of the stub.",
        "Действий ещё не было: смешать три карты рубашкой вверх; одна станет сбросом, флоп — две "
        "другие и следующая карта из остатка колоды.",
    ),
    "flop-without-burn-acted": _Known(
        "TDA 39-B",
        "There was action: the flop stands. One burn before the turn.",
        "Действие уже было: флоп остаётся. Перед тёрном сжигается одна карта.",
    ),
    "premature-flop": _Known(
        "TDA RP-5-A, 39-D",
        "The burn stays. The three cards go back to the stub, reshuffle face down; new flop "
        "without another burn.",
        "Сброс остаётся. Три карты вернуть в остаток колоды, перетасовать рубашкой вверх; новый "
        "флоп, карту не сжигать.",
    ),
    "premature-turn": _Disputed(
        "premature_turn",
        {
            "reshuffle-stub": _Known(
                "TDA RP-5-B",
                "The burn stays. The card goes back, reshuffle the stub; new turn without "
                "another burn.",
                "Сброс остаётся. Карту вернуть, перетасовать остаток колоды; новый тёрн, карту "
                "не сжигать.",
            ),
            "river-first": _Known(
                "RRoP",
                "The card is set aside: the would-be river is the turn. The river comes from "
                "the stub reshuffled with that card.",
                "Карта откладывается: тёрном становится будущий ривер. Ривер сдаётся из остатка "
                "колоды, перетасованного с этой картой.",
            ),
        },
    ),
    "premature-river": _Known(
        "TDA RP-5-C",
        "The burn stays. The card goes back, reshuffle the stub; new river without another burn.",
        "Сброс остаётся. Карту вернуть, перетасовать остаток колоды; новый ривер, карту не "
        "сжигать.",
    ),
}

_DEAL: Final[dict[str, _Known | _Disputed]] = {
    "boxed-card": _Known(
        "RRoP irregularities 7, WSOP live 21",
        "A boxed card is a scrap of paper: show it, muck it, replace it by the next card.",
        "Перевёрнутая карта — клочок бумаги: показать, убрать в отбой, заменить следующей.",
    ),
    "boxed-cards": _Known("TDA 35-A1", _MISDEAL_EN, _MISDEAL_RU),
    "first-card-wrong-seat": _Known("TDA 35-A2, 35-C", _MISDEAL_EN, _MISDEAL_RU),
    "seat-dealt-wrongly": _Known("TDA 35-A3, 35-A4", _MISDEAL_EN, _MISDEAL_RU),
    "wrong-card-count": _Known("TDA 35-A5", _MISDEAL_EN, _MISDEAL_RU),
    "wrong-card-count-acted": _Known(
        "TDA 35-D, 38",
        "After substantial action: that hand is dead, its cards are mucked; one burn per street.",
        "После существенного действия: эта рука мертва, её карты в отбой; на улицу один сброс.",
    ),
    "button-short": _Known(
        "TDA 37",
        "The button is dealt the missing card, unless he has acted with too few.",
        "Баттону сдают недостающую карту, если он ещё не действовал с неполной рукой.",
    ),
    "foreign-card": _Known(
        "TDA 35-A6",
        f"{_MISDEAL_EN} After substantial action the deck is foul: play stops, all bets return.",
        f"{_MISDEAL_RU} После существенного действия: игра останавливается, ставки возвращаются.",
    ),
    "fouled-deck": _Known(
        "TDA 35-E, 22",
        "First rule out a double read or a tag of the second deck. Then play stops whatever the "
        "action and all bets are returned; once the hand is over there is no dispute.",
        "Сначала исключить двойное чтение и метку второй колоды. Затем игра останавливается при "
        "любых действиях, все ставки возвращаются; после конца раздачи претензии не принимаются.",
    ),
    "early-card-exposed": _Known("TDA 35-A7", _MISDEAL_EN, _MISDEAL_RU),
    "down-cards-exposed": _Known("TDA 35-A7", _MISDEAL_EN, _MISDEAL_RU),
    "down-card-exposed": _Known(
        "RRoP hold'em 1, TDA 35-A7",
        "Finish the deal, then replace the exposed card by the top card; it becomes the first "
        "burn.",
        "Закончить сдачу, затем заменить открытую карту верхней; она станет первым сбросом.",
    ),
}

_STUD: Final[dict[str, _Known | _Disputed]] = {
    "exposed-down-card": _Disputed(
        "exposed_down_card",
        {
            "becomes-up": _Known(
                "TDA RP-10-A",
                "The exposed card becomes the up card, third street is dealt face down; the seat "
                "may be the bring-in.",
                "Открывшаяся карта становится открытой картой игрока, третья сдаётся закрытой; "
                "бринг-ин может достаться этому месту.",
            ),
            "misdeal": _Known("WSOP tournament 88.a.6", _MISDEAL_EN, _MISDEAL_RU),
            "third-down": _Known(
                "WSOP live 214",
                "The third card is dealt face down; misdeal only if all three show.",
                "Третья карта сдаётся закрытой; пересдача, только если открылись все три.",
            ),
        },
    ),
    "premature-stud-card": _Known(
        "TDA RP-5-D, WSOP live 227",
        "Back to the stub, reshuffle; the street is dealt again without another burn.",
        "Вернуть в остаток колоды, перетасовать; улица сдаётся заново, карту не сжигать.",
    ),
    "seventh-card-exposed": _Known(
        "TDA RP-10-B",
        "Betting still open: the card is replaced. (WSOP live 229-230: it stays, with options "
        "by which player it is and how many are left.)",
        "Торговля не закончена: карта заменяется. (WSOP live 229-230: карта остаётся, варианты "
        "зависят от того, чья она и сколько игроков осталось.)",
    ),
    "up-cards-lifted": _Known(
        "TDA 66",
        "Up cards lifted facing a bet: the hand is dead.",
        "Открытые карты подняты со стола при ставке соперника: рука мертва.",
    ),
    "short-bring-in": _Known(
        "WSOP live 217",
        "The low card posts what it has; others enter for the full bring-in or complete.",
        "Младшая карта ставит сколько есть; остальные входят на полный бринг-ин или комплит.",
    ),
    "absent-bring-in": _Known(
        "TDA 30, 71-C, RP-10-C",
        "The bring-in is posted from the absent player's stack, then the hand is killed; it is "
        "dealt no card on fourth street.",
        "Бринг-ин ставится из стека отсутствующего, затем рука мертва; карту на четвёртой улице "
        "ей не сдают.",
    ),
    "wrong-bring-in": _Known(
        "WSOP live 218",
        "Corrected until the next player acts; then it stands.",
        "Исправляется, пока не сделал заявку следующий игрок; потом остаётся в силе.",
    ),
    "long-stud-hand": _Known(
        "WSOP live 231",
        "More than seven cards: the hand is dead.",
        "Больше семи карт: рука мертва.",
    ),
    "short-stud-hand": _Known(
        "WSOP live 106, 231",
        "Fewer than six cards: the hand is dead. With six the floor may rule it live.",
        "Меньше шести карт: рука мертва. С шестью судья может признать её живой.",
    ),
}

_SHOWDOWN: Final[dict[str, _Known | _Disputed]] = {
    "miscalled-hand": _Known(
        "TDA 12",
        "Cards speak: the tabled cards win, whatever was said.",
        "Карты говорят сами: считаются вскрытые карты, а не объявленные слова.",
    ),
    "not-fully-tabled": _Known(
        "TDA 13, 19",
        "A hand counts only when all its cards are tabled, to play the board as well.",
        "Рука участвует, только если вскрыты все её карты, даже если играет борд.",
    ),
    "discarded-hand": _Known(
        "TDA 14",
        "The hand is live while it can be identified and retrieved, until the dealer kills it.",
        "Рука жива, пока её можно опознать и вернуть и пока дилер не убрал её в отбой.",
    ),
    "last-live-hand": _Known(
        "TDA 17-B",
        "Everyone else mucked: the last live hand wins and need not show.",
        "Все остальные сбросили: последняя живая рука выигрывает и может не вскрываться.",
    ),
    "showdown-order": _Known(
        "TDA 16, 17-A",
        "All-in: all hands up at once. Otherwise the last aggressor of the final street shows "
        "first, else the seat that was first to act there.",
        "Олл-ин: все руки вскрываются сразу. Иначе первым вскрывается последний агрессор "
        "последней улицы, без него — тот, кто делал там первую заявку.",
    ),
    "unknown-opener": _Known(
        "3.5.1, TDA RP-10-D, RP-10-E",
        "Third street: lowest up card, then lowest suit. Later: highest board, then suit.",
        "Третья улица: младшая открытая карта, затем младшая масть. Далее: старший борд, затем "
        "масть.",
    ),
}

_KNOWN: Final = {**_FLOP, **_DEAL, **_STUD, **_SHOWDOWN}

KINDS: Final = tuple(_KNOWN)
"""Every kind that has a rule."""

OF_ALERT: Final = {
    "duplicate-card": "fouled-deck",
    "foreign-deck": "foreign-card",
    "mixed-decks": "foreign-card",
    "wrong-card-count": "wrong-card-count",
    "wrong-seat": "first-card-wrong-seat",
    "premature-card": "premature-stud-card",
    "extra-board-card": "four-card-flop",
    "missing-card": "not-fully-tabled",
    "unsure-opener": "unknown-opener",
    "showdown-wanted": "showdown-order",
    "ruling-mismatch": "miscalled-hand",
    "no-burn": "flop-without-burn",
}
"""Kinds of alert that have a rule, with the irregularity that they usually are."""

_PREMATURE: Final = {
    "flop": "premature-flop",
    "turn": "premature-turn",
    "river": "premature-river",
}


def irregularity(kind: str, profile: Profile = SPORT_POKER) -> Irregularity:
    """The rule and remedy for one of `KINDS`; RuleError for any other."""
    known = _KNOWN.get(kind)
    if known is None:
        raise RuleError(f"{kind} is no irregularity with a rule")
    if isinstance(known, _Disputed):
        known = known.by_value[getattr(profile, known.key)]
    return Irregularity(kind, known.rule, Label(known.en, known.ru))


def of_alert(
    alert: str, street: str | None = None, profile: Profile = SPORT_POKER
) -> Irregularity | None:
    """What applies to an alert of this kind, or None; `street` tells which card was premature."""
    kind = OF_ALERT.get(alert)
    if kind is None:
        return None
    if alert == "premature-card":
        kind = _PREMATURE.get(street or "", kind)
    return irregularity(kind, profile)


_WITH_CHIPS: Final = frozenset({"bet", "call", "raise", "complete", "all-in"})
_ACTIONS: Final = _WITH_CHIPS | {"check", "fold"}


def substantial_action(actions: Sequence[str]) -> bool:
    """Whether these actions in turn are substantial (TDA 36); posted blinds are not among them.

    Any three are, or two of which one puts chips in. An action is bet, call, raise, complete,
    all-in, check or fold; RuleError for another.
    """
    for action in actions:
        if action not in _ACTIONS:
            raise RuleError(f"{action} is no action ({', '.join(sorted(_ACTIONS))})")
    return len(actions) >= 3 or (len(actions) == 2 and not _WITH_CHIPS.isdisjoint(actions))
