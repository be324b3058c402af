"""What the demo shows: the table's messages as a person would tell them, or as JSON lines."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

_SUITS = {"s": ("♠", "bold"), "h": ("♥", "bold red"), "d": ("♦", "bold blue"), "c": ("♣", "green")}


def cards_text(cards: list[str]) -> Text:
    """Cards in four colours."""
    text = Text()
    for card in cards:
        symbol, style = _SUITS[card[1]]
        text.append(f"{card[0]}{symbol} ", style)
    return text


class Show:
    """Prints each message that the demo's subscriber received."""

    def __init__(self, *, as_json: bool) -> None:
        self._json = as_json
        self._console = Console(highlight=False)

    def opened(self, url: str, prefix: str) -> None:
        """The table is open."""
        if not self._json:
            self._console.print(f"The table is open. Broker: {url}, topics: {prefix}/demo/#")

    def pages(self, url: str, name: str, password: str) -> None:
        """The pages are there."""
        self._console.print(f"Overlay: {url}/overlay")
        self._console.print(f"Floor:   {url}/floor  (role {name}, password {password})")

    def message(self, topic: str, payload: dict[str, Any]) -> None:
        """One message."""
        if self._json:
            line = msgspec.json.encode({"topic": topic, "payload": payload})
            sys.stdout.write(line.decode() + "\n")
            sys.stdout.flush()
            return
        name = topic.split("/", 2)[2]
        if name == "event":
            self._event(payload)
        elif name == "showdown":
            self._showdown(payload)
        elif name == "alert":
            self._console.print(f"  ! {payload['message']['en']}", style="yellow")

    def close(self) -> None:
        """Nothing more will come."""
        if not self._json:
            self._console.print("The table is closed.")

    def _event(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "hand-started":
                seats = " ".join(str(seat) for seat in event.get("seats", []))
                line = f"\nHand {event['hand']}: seats {seats}, button {event['button']}"
                self._console.print(line, style="bold")
            case "street" if event["cards"]:
                text = Text(f"  {event['street']:6} ")
                self._console.print(text + cards_text(event["cards"]))
            case "folded":
                self._console.print(f"  seat {event['seat']} folds", style="dim")
            case "hand-ended":
                winner = event.get("winner")
                self._console.print(f"  seat {winner} wins" if winner else "  hand over")
            case _:
                return

    def _showdown(self, result: dict[str, Any]) -> None:
        for hand in result["hands"]:
            wins = hand["seat"] in result["winners"]
            text = Text(f"  seat {hand['seat']}  ") + cards_text(hand["cards"])
            text.append(f" {hand['label']['en']}")
            if wins:
                text.append("  wins" if len(result["winners"]) == 1 else "  splits", "bold green")
            self._console.print(text)
