"""The table on 80 columns: seats, board, last ruling, readers, alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from daemon.show import cards_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from daemon.cli._watch_words import Speech
    from daemon.watch import View

_SEVERITY = {"notice": "cyan", "warning": "yellow", "stop": "bold red"}
_DIM = {"folded", "mucked", "out"}


def draw(view: View, speech: Speech, title: str) -> RenderableType:
    """The whole picture."""
    return Group(*_parts(view, speech, title))


def _parts(view: View, speech: Speech, title: str) -> Iterator[RenderableType]:
    word = speech.word
    yield _head(view, speech, title)
    if not view.state:
        yield Text(word("waiting"), "dim")
    else:
        yield Text(f"{word('board')}  ", "dim") + cards_text(view.state["board"])
        yield _seats(view.state, speech)
    yield Rule(word("ruling"), style="dim", align="left")
    yield from _ruling(view, speech)
    yield Rule(word("readers"), style="dim", align="left")
    for name, reader in sorted(view.readers.items()):
        yield Text(speech.reader(name, reader), "green" if reader.get("up") else "bold red")
    yield Rule(word("alerts"), style="dim", align="left")
    for alert in view.alerts:
        style = _SEVERITY.get(alert.get("severity", ""), "")
        yield Text(f"{_clock(alert)} {alert['message'][speech.lang]}", style)


def _head(view: View, speech: Speech, title: str) -> Text:
    word, state = speech.word, view.state
    head = Text(title, "bold")
    if state:
        head.append(f"  {word(state['discipline'])}  {word(state['phase'])}")
        if "hand" in state:
            head.append(f"  {word('hand')} {state['hand']}")
        if state.get("button"):
            head.append(f"  {word('button')} {state['button']}")
        head.append(f"  {_clock(state)}", "dim")
    if not view.link:
        head.append(f"  {word('unlinked')}", "bold red")
    elif view.status.get("online") is False:
        head.append(f"  {word('offline')}", "bold red")
    return head


def _seats(state: dict[str, Any], speech: Speech) -> Table:
    word = speech.word
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for key in ("seat", "name", "", "cards"):
        table.add_column(word(key) if key else "", header_style="dim", overflow="ellipsis")
    for number, seat in sorted(state["seats"].items(), key=lambda each: int(each[0])):
        button = " *" if str(state.get("button")) == number else ""
        faces = seat["shown"] or seat["up"]
        hidden = max(0, seat["cards"] - len(faces))
        cards = cards_text(faces) + Text("## " * hidden, "dim")
        style = "dim" if seat["status"] in _DIM else ""
        table.add_row(
            f"{number}{button}", seat["name"][:24], word(seat["status"]), cards, style=style
        )
    return table


def _ruling(view: View, speech: Speech) -> Iterator[Text]:
    if view.ruling is None:
        return
    topic, payload = view.ruling
    if "hand" in payload:
        yield Text(f"{speech.word('hand')} {payload['hand']}", "dim")
    lines = speech.hands(payload) if topic == "showdown" else [speech.ruling(topic, payload)]
    for line in lines:
        yield Text(line or "")


def _clock(payload: dict[str, Any]) -> str:
    return str(payload.get("at", ""))[11:19]
