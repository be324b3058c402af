"""What `feltd watch` says, in English and Russian: one line for each thing that happened."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

Payload: TypeAlias = dict[str, Any]

WORDS: Final[dict[str, tuple[str, str]]] = {
    "holdem": ("hold'em", "холдем"),
    "omaha": ("Omaha", "омаха"),
    "stud": ("stud", "стад"),
    "idle": ("no hand", "нет раздачи"),
    "dealing": ("dealing", "сдача"),
    "preflop": ("preflop", "префлоп"),
    "flop": ("flop", "флоп"),
    "turn": ("turn", "тёрн"),
    "river": ("river", "ривер"),
    "third": ("third street", "третья улица"),
    "fourth": ("fourth street", "четвёртая улица"),
    "fifth": ("fifth street", "пятая улица"),
    "sixth": ("sixth street", "шестая улица"),
    "seventh": ("seventh street", "седьмая улица"),
    "showdown": ("showdown", "вскрытие"),
    "button-draw": ("button draw", "розыгрыш баттона"),
    "chip-race": ("chip race", "розыгрыш мелких фишек"),
    "in": ("in", "в игре"),
    "folded": ("folded", "пас"),
    "shown": ("shown", "открыты"),
    "mucked": ("mucked", "сброшены"),
    "out": ("out", "нет"),
    "hand": ("hand", "раздача"),
    "seat": ("seat", "место"),
    "seats": ("seats", "места"),
    "button": ("button", "баттон"),
    "board": ("board", "стол"),
    "name": ("name", "имя"),
    "cards": ("cards", "карты"),
    "ruling": ("last ruling", "последнее решение"),
    "readers": ("readers", "считыватели"),
    "alerts": ("alerts", "тревоги"),
    "up": ("up", "работает"),
    "down": ("DOWN", "НЕ РАБОТАЕТ"),
    "reader": ("reader", "считыватель"),
    "wins": ("wins", "выигрывает"),
    "splits": ("splits", "делит"),
    "bring-in": ("brings it in", "ставит бринг-ин"),
    "open": ("opens", "открывает торговлю"),
    "draws": ("has the button with", "получает баттон с картой"),
    "race": ("get a chip", "получают фишку"),
    "deck": ("deck", "колода"),
    "folds": ("folds", "пас"),
    "shows": ("shows", "показывает"),
    "ended": ("hand over", "раздача окончена"),
    "voided": ("hand void", "раздача отменена"),
    "linked": ("connected", "соединение есть"),
    "unlinked": ("no connection to the broker", "нет связи с брокером"),
    "online": ("the daemon runs", "служба работает"),
    "offline": ("the daemon does not run", "служба не работает"),
    "none": ("none", "нет"),
    "waiting": ("waiting for the table", "ожидание стола"),
}


class Speech:
    """One of the two languages."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self._column = 1 if lang == "ru" else 0

    def word(self, key: str) -> str:
        """The word for a key; a key that has none is its own."""
        return WORDS[key][self._column] if key in WORDS else key

    def line(self, topic: str, payload: Payload) -> str | None:
        """What happened, or None for what only changes the picture."""
        word = self.word
        if topic == "link":
            return word("linked" if payload["link"] else "unlinked")
        if topic == "status":
            return word("online" if payload.get("online") else "offline")
        if topic.startswith("reader/"):
            return self.reader(topic.partition("/")[2], payload)
        if topic == "alert":
            return f"! {payload['message'][self.lang]}"
        if topic == "event":
            return self._event(payload)
        return None if topic == "state" else self.ruling(topic, payload)

    def reader(self, name: str, payload: Payload) -> str:
        """The health of a reader."""
        word = self.word
        state = word("up") if payload.get("up") else word("down")
        error = payload.get("error")
        return f"{word('reader')} {name}: {state}" + (f", {error}" if error else "")

    def ruling(self, topic: str, payload: Payload) -> str | None:
        """A ruling in one line."""
        word = self.word
        match topic:
            case "showdown":
                return "; ".join(self.hands(payload)) or word("showdown")
            case "ruling/button-draw":
                return f"{word('seat')} {payload['winner']} {word('draws')} {payload['card']}"
            case "ruling/first-to-act":
                street = word(payload["street"])
                return f"{street}: {word('seat')} {payload['seat']} {word(payload['kind'])}"
            case "ruling/chip-race":
                seats = " ".join(payload["awards"]) or word("none")
                text = f"{word('chip-race')} {payload['from']} -> {payload['to']}"
                return f"{text}: {word('seats')} {seats} {word('race')}"
        return None

    def hands(self, payload: Payload) -> list[str]:
        """The hands of a showdown, winners first."""
        winners = payload["winners"]
        wins = self.word("wins" if len(winners) == 1 else "splits")
        return [
            f"{self.word('seat')} {each['seat']} {' '.join(each['cards'])}: "
            f"{each['label'][self.lang]}" + (f", {wins}" if each["seat"] in winners else "")
            for each in sorted(payload["hands"], key=lambda each: each["seat"] not in winners)
        ]

    def _event(self, event: Payload) -> str | None:
        word = self.word
        match event.get("type"):
            case "hand-started":
                seats = " ".join(str(seat) for seat in event.get("seats", []))
                parts = [f"{word('hand')} {event.get('hand')}", f"{word('seats')} {seats}"]
                parts += [f"{word('button')} {event['button']}"] if event.get("button") else []
                return ", ".join(parts)
            case "street":
                return " ".join([word(event["street"]), *event["cards"]])
            case "folded":
                return f"{word('seat')} {event['seat']}: {word('folds')}"
            case "hand-shown":
                cards = " ".join(event["cards"])
                return f"{word('seat')} {event['seat']} {word('shows')} {cards}"
            case "hand-ended" if event.get("winner"):
                return f"{word('seat')} {event['winner']} {word('wins')}"
            case "hand-ended":
                return word("ended")
            case "hand-voided":
                return word("voided")
        return None
