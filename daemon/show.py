"""What the demo shows: the table's messages as a person would tell them, or as JSON lines.

It knows what its subscriber received and nothing else: a card that was told without its face is
a back on the screen. Lines have at most 80 columns.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from rich.console import Console
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

Payload: TypeAlias = dict[str, Any]

_SUITS = {"s": ("♠", "bold"), "h": ("♥", "bold red"), "d": ("♦", "bold blue"), "c": ("♣", "green")}
_GAMES = {"holdem": "hold'em", "omaha": "Omaha", "stud": "seven-card stud"}
_WIDTH = 80
_INDENT = 10
_BACK = "▪"


def cards_text(cards: Sequence[str], counting: Container[str] | None = None) -> Text:
    """Cards in four colours; those that do not count are faint."""
    text = Text()
    for card in cards:
        symbol, style = _SUITS[card[1]]
        faint = counting is not None and card not in counting
        text.append(f"{card[0]}{symbol} ", "dim" if faint else style)
    return text


class Lines:
    """Lines on the console, one of which may still grow, as cards are dealt one by one."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)
        self._kind = ""
        self._used = 0

    def line(self, text: str | Text, style: str = "") -> None:
        """A whole line."""
        self.close()
        whole = text if isinstance(text, Text) else Text(text)
        whole.rstrip()
        width = min(self._console.width, _WIDTH)
        self._console.print(whole, style=style, width=width)

    def address(self, text: str) -> None:
        """A whole line that no one breaks: it is to be copied."""
        self.close()
        self._console.print(text, soft_wrap=True)

    def grow(self, kind: str, head: str, item: Text | None = None) -> None:
        """Add to the line of this kind, or begin one with `head`."""
        size = 0 if item is None else item.cell_len
        if self._kind != kind or self._used + size > _WIDTH:
            head = head if self._kind != kind else ""
            self.close()
            self._console.print(f"  {head}".ljust(_INDENT), end="", soft_wrap=True)
            self._kind, self._used = kind, _INDENT
        if item is not None:
            self._console.print(item, end="", soft_wrap=True)
            self._used += size
        self._console.file.flush()

    def close(self) -> None:
        """No line grows any more."""
        if self._kind:
            self._console.print()
        self._kind, self._used = "", 0


_UP_STREETS = ("third", "fourth", "fifth", "sixth")
"""Streets of stud that deal a card face up."""


class Show:
    """Prints each message that the demo's subscriber received."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        self._lines = Lines()
        self._discipline = ""
        self._street = ""
        self._new_hand()

    def opened(self, url: str, prefix: str) -> None:
        """The table is open."""
        if not self._json:
            self._lines.address(f"The table is open. Broker: {url}, topics: {prefix}/demo/#")

    def pages(self, url: str, name: str, password: str) -> None:
        """The pages are there."""
        self._lines.address(f"Overlay: {url}/overlay")
        self._lines.address(f"Floor:   {url}/floor  (role {name}, password {password})")

    def message(self, topic: str, payload: Payload, *, old: bool = False) -> None:
        """One message; what the broker had kept (`old`), or was told again, is no news."""
        if self._json:
            line = msgspec.json.encode({"topic": topic, "payload": payload})
            sys.stdout.write(line.decode() + "\n")
            sys.stdout.flush()
        elif not old and not payload.get("late"):
            self._tell(topic.split("/", 2)[2], payload)

    def close(self) -> None:
        """Nothing more will come."""
        if not self._json:
            self._lines.line("The table is closed.")

    def _tell(self, name: str, payload: Payload) -> None:
        match name:
            case "event":
                self._event(payload)
            case "showdown":
                self._showdown(payload)
            case "ruling/button-draw":
                self._draw(payload)
            case "ruling/first-to-act":
                self._opener(payload)
            case "ruling/chip-race":
                self._race(payload)
            case "alert":
                self._lines.line(f"  ! {payload['message']['en']}", "yellow")
            case _:
                return

    def _event(self, event: Payload) -> None:
        match event["type"]:
            case "command":
                command = event["command"]
                self._discipline = command.get("discipline") or self._discipline
            case "deal-started":
                self._deal_started(event)
            case "hand-started":
                self._hand_started(event)
            case "card-dealt":
                self._card(event)
            case "street":
                self._street_out(event)
            case "folded":
                self._lines.line(f"  seat {event['seat']} folds", "dim")
            case "hand-shown":
                self._lines.line(Text(f"  seat {event['seat']} tables ") + _own(event["cards"]))
            case "hand-voided":
                self._lines.line(f"  the hand is void: {event['reason']}", "yellow")
            case "hand-ended" if "winner" in event:
                self._lines.line(f"  seat {event['winner']} wins, all others folded", "bold green")
            case _:
                return

    def _hand_started(self, event: Payload) -> None:
        game = _GAMES.get(self._discipline, self._discipline)
        seats = " ".join(map(str, event.get("seats", [])))
        button = f", button {event['button']}" if event["button"] is not None else ""
        self._lines.line(f"\nHand {event['hand']}, {game}: seats {seats}{button}", "bold")
        self._street = ""
        self._new_hand()

    def _new_hand(self) -> None:
        """Nothing is out, and no face came before its street."""
        self._out: list[str] = []
        self._faces: dict[str, int] = {}
        self._early: dict[str, list[Text]] = {}

    def _deal_started(self, event: Payload) -> None:
        count = sum(event["expected"].values())
        if event["kind"] == "button-draw":
            line = f"Button draw: a card face up to each of {count} seats"
        else:
            line = f"Chip race: a card face up for each of {count} odd chips"
        self._lines.line(f"\n{line}", "bold")
        self._street = "cards"

    def _card(self, event: Payload) -> None:
        """A face beside its seat; the back of a card that is nobody's to see."""
        number = event["zone"].split(":")[1]
        if "card" in event:
            item = Text(f"{number:>2} ") + cards_text([event["card"]]) + Text(" ")
            self._faces[number] = self._faces.get(number, 0) + 1
            street = _UP_STREETS[min(self._faces[number], len(_UP_STREETS)) - 1]
            if self._street != "cards" and street not in self._out:
                self._early.setdefault(street, []).append(item)
            else:
                self._lines.grow("faces", self._street, item)
        else:
            self._lines.grow("backs", "deal", Text(_BACK, "dim"))

    def _street_out(self, event: Payload) -> None:
        """Board cards at once; the up cards of stud follow, each as soon as it is certain."""
        self._street = event["street"]
        self._out.append(self._street)
        if event["cards"]:
            head = Text(f"  {self._street}".ljust(_INDENT))
            self._lines.line(head + cards_text(event["cards"]))
        elif self._discipline == "stud":
            self._lines.grow("faces", self._street)
            for item in self._early.pop(self._street, []):
                self._lines.grow("faces", self._street, item)

    def _draw(self, ruling: Payload) -> None:
        line = Text(f"  seat {ruling['winner']} has the button with ", "bold green")
        self._lines.line(line + _own([ruling["card"]]))

    def _opener(self, ruling: Payload) -> None:
        boards = ruling["boards"]
        number = str(ruling.get("by_seat", ruling["seat"]))
        does = "brings it in" if ruling["kind"] == "bring-in" else "opens"
        line = Text(f"  seat {ruling['seat']} {does} with ", "cyan") + _own(boards[number])
        if ruling["tied"]:
            line.append(f", by {ruling['decided_by']}", "cyan")
        self._lines.line(line)

    def _race(self, ruling: Payload) -> None:
        cards = {each["seat"]: each["card"] for each in ruling["ranking"]}
        chips, old, new = ruling["new_chips"], ruling["from"], ruling["to"]
        odd = sum(ruling["odd"].values())
        self._lines.line(f"  {odd} odd chips of {old} make {chips} of {new}")
        for seat, count in ruling["awards"].items():
            line = Text(f"  seat {seat} gets {count} with ", "bold green")
            self._lines.line(line + _own([cards[int(seat)]]))
        for seat in ruling["rescued"]:
            self._lines.line(f"  seat {seat} gets one so as not to be raced out", "green")

    def _showdown(self, result: Payload) -> None:
        winners = result["winners"]
        for hand in result["hands"]:
            cards = cards_text(hand["cards"], hand["best"])
            label = Text(f" {hand['label']['en']}", "bold" if hand["seat"] in winners else "")
            self._lines.line(Text(f"  seat {hand['seat']:<3}") + cards + label)
        for seat in result["mucked"]:
            self._lines.line(f"  seat {seat} mucks", "dim")
        if result.get("void"):
            self._lines.line("  the showdown is void", "yellow")
        elif len(winners) == 1:
            self._lines.line(f"  seat {winners[0]} wins", "bold green")
        else:
            self._lines.line(f"  seats {' and '.join(map(str, winners))} split", "bold green")


def _own(cards: Sequence[str]) -> Text:
    text = cards_text(cards)
    text.rstrip()
    return text
