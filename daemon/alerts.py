"""The closed list of alerts: how severe, by which rule, and what they say to people.

A message may name a zone, a deck or a number of cards; never a card or its tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import UNSET

from daemon.events import Alert
from daemon.rules.irregularities import of_alert
from daemon.rules.labels import Label

if TYPE_CHECKING:
    from daemon.rules.profile import Profile


class Kind(NamedTuple):
    """One kind of alert; `en` and `ru` are templates over `zone`, `n` and `deck`."""

    severity: str
    rule: str
    en: str
    ru: str


KINDS: dict[str, Kind] = {
    "duplicate-card": Kind(
        "stop",
        "TDA 35-E",
        "The same card twice ({zone}). Stop play and check the deck.",
        "Одна и та же карта дважды ({zone}). Остановите игру, проверьте колоду.",
    ),
    "two-claims": Kind(
        "warning",
        "",
        "A card is heard at two places equally well ({zone}). Please look.",
        "Карта одинаково слышна в двух местах ({zone}). Посмотрите, где она.",
    ),
    "overheard": Kind(
        "notice",
        "",
        "{zone} overhears a card of a neighbour; it stays where it is.",
        "{zone} слышит карту соседа; она остаётся на месте.",
    ),
    "unknown-tag": Kind(
        "notice",
        "",
        "A tag of no enrolled deck lies at {zone}.",
        "На {zone} лежит метка не из колоды.",
    ),
    "foreign-deck": Kind(
        "notice",
        "",
        "Another deck rests at {zone}.",
        "На {zone} лежит другая колода.",
    ),
    "mixed-decks": Kind(
        "stop",
        "TDA 35-A6",
        "A card of another deck came to {zone}. Stop play: the deck is foul.",
        "На {zone} пришла карта другой колоды. Остановите игру: колода смешана.",
    ),
    "wrong-card-count": Kind(
        "warning",
        "TDA 35-A5, 38",
        "Wrong number of cards at {zone}.",
        "Неверное число карт: {zone}.",
    ),
    "wrong-seat": Kind(
        "warning",
        "TDA 35-A2",
        "A card of another seat lies at {zone}.",
        "На {zone} лежит карта другого места.",
    ),
    "premature-card": Kind(
        "warning",
        "TDA RP-5",
        "A board card was taken back or came too early.",
        "Карта борда убрана или открыта слишком рано.",
    ),
    "extra-board-card": Kind(
        "warning",
        "TDA 39-A",
        "More cards on the board than the street deals.",
        "На борде больше карт, чем сдаётся на этой улице.",
    ),
    "missing-card": Kind(
        "warning",
        "",
        "A card of {zone} is not known. Type it in or let it be read.",
        "Карта не известна: {zone}. Введите её или дайте прочитать.",
    ),
    "wrong-discipline": Kind(
        "warning",
        "",
        "The cards at the seats look like {game}.",
        "Карты на местах похожи на {game}.",
    ),
    "unsure-face": Kind(
        "warning",
        "",
        "Which card of {zone} lies face up is not certain. Please look.",
        "Не ясно, какая карта открыта: {zone}. Посмотрите.",
    ),
    "unsure-opener": Kind(
        "warning",
        "",
        "Who opens cannot be told: an up card is not known.",
        "Кто начинает торговлю, не известно: не прочитана открытая карта.",
    ),
    "showdown-wanted": Kind(
        "warning",
        "TDA 12-13",
        "The hand looks finished. Name who showed.",
        "Раздача, похоже, окончена. Укажите, кто вскрылся.",
    ),
    "ruling-mismatch": Kind(
        "stop",
        "TDA 12",
        "What was done with the pot does not fit the tabled hands ({zone}).",
        "Банк отдан не так, как следует из вскрытых карт ({zone}).",
    ),
    "reader-down": Kind(
        "warning",
        "",
        "Reader {zone} is lost; its zones are frozen.",
        "Считыватель {zone} потерян; его зоны заморожены.",
    ),
    "reader-silent": Kind(
        "warning",
        "",
        "Reader {zone} answers but has heard nothing for long.",
        "Считыватель {zone} отвечает, но давно ничего не слышит.",
    ),
    "antenna-deaf": Kind(
        "warning",
        "",
        "The antenna of {zone} does not hear the cards that are dealt there.",
        "Антенна {zone} не слышит карт, которые туда сдают.",
    ),
    "worn-tag": Kind(
        "notice",
        "",
        "Deck {deck} has a card that is heard badly.",
        "В колоде {deck} есть карта, которую плохо слышно.",
    ),
    "bypassed-shoe": Kind(
        "warning",
        "",
        "A card came to {zone} without passing the shoe. Please look.",
        "Карта пришла на {zone} мимо шуза. Проверьте.",
    ),
    "no-burn": Kind(
        "warning",
        "TDA 39-B",
        "No card was burnt before this street of the board.",
        "Перед этой улицей борда не сожжена карта.",
    ),
    "refused-message": Kind(
        "warning",
        "",
        "The broker refused a message on {zone}; check rights and limits of size.",
        "Брокер не принял сообщение {zone}; проверьте права и пределы размера.",
    ),
    "memory-lost": Kind(
        "stop",
        "",
        "The table's memory was damaged; it starts anew and does not know a hand in progress.",
        "Память стола повреждена; он начинает заново и не знает начатой раздачи.",
    ),
    "second-daemon": Kind(
        "stop",
        "",
        "A second daemon runs for this table.",
        "Для этого стола работает второй демон.",
    ),
    "late-card": Kind(
        "notice",
        "",
        "A card came to the board out of turn and stands.",
        "Карта легла на борд не в свой черёд и остаётся.",
    ),
    "fold-taken-back": Kind(
        "warning",
        "TDA 14",
        "Cards of {zone} passed the muck and are in play again.",
        "Карты {zone} побывали в отбое и снова в игре.",
    ),
}


_GAMES = {
    "omaha": ("Omaha", "омаху"),
    "stud": ("seven-card stud", "семикарточный стад"),
}


def alert(kind: str, zone: str = "", *, n: int = 0, deck: str = "") -> Alert:
    """An alert of one of the KINDS; `zone` is where to look, or what is dealt."""
    entry = KINDS[kind]
    words = {"zone": zone, "n": n, "deck": deck}
    en, ru = _GAMES.get(zone, ("", ""))
    return Alert(
        kind=kind,
        severity=entry.severity,
        rule=entry.rule,
        message=Label(entry.en.format(**words, game=en), entry.ru.format(**words, game=ru)),
        zone=UNSET if zone in _GAMES else zone or UNSET,
    )


def with_remedy(alert: Alert, street: str | None, profile: Profile) -> Alert:
    """The alert with the rule that applies on this street, and what it says to do."""
    if alert.kind == "extra-board-card" and street not in {"preflop", "flop"}:
        return alert
    known = of_alert(alert.kind, street, profile)
    if known is None:
        return alert
    return msgspec.structs.replace(alert, rule=known.rule, remedy=known.remedy)
