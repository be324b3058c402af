"""`feltd deck`: which tag is which card."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from daemon import decks
from daemon.cli._reader_options import add_options
from daemon.decks import Deck
from daemon.errors import ConfigError, FeltdError, UsageError
from daemon.rules.cards import parse_cards
from daemon.rules.errors import CardError

if TYPE_CHECKING:
    from collections.abc import Callable

HELP: Final = "enrol, import, list and check decks, replace a card"
EXAMPLE: Final = "feltd deck enrol red --config table.toml --zone shoe"
_EXAMPLES: Final = {
    "enrol": "red --config table.toml --zone shoe",
    "import": "red red.csv --config table.toml",
    "check": "red --reader 'pcsc:uTrust 3700' --dir decks",
    "replace": "red 9h --config table.toml",
    "list": "--config table.toml",
}
_ORDERS: Final = {"factory": decks.FACTORY_ORDER, "sorted": decks.SORTED_ORDER}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's actions and their options."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    enrol = _action(actions, "enrol", _enrol, "read 52 cards in, one at a time", reader=True)
    enrol.add_argument(
        "--order", choices=_ORDERS, default="factory", help="in which the cards are laid down"
    )
    enrol.add_argument("--by-name", action="store_true", help="in any order; type each card's name")
    enrol.add_argument(
        "--restart", action="store_true", help="forget what an interrupted run has read"
    )
    enrol.add_argument("--force", action="store_true", help="replace a deck of this name")
    take = _action(actions, "import", _import, "take a deck from CSV, uid,card in each line")
    take.add_argument("file", help="- is standard input")
    take.add_argument("--force", action="store_true", help="replace a deck of this name")
    check = _action(actions, "check", _check, "pass a deck over an antenna", reader=True)
    check.add_argument("--json", action="store_true")
    check.add_argument(
        "--idle", type=float, default=30.0, metavar="S", help="end after S seconds without news"
    )
    replace = _action(actions, "replace", _replace, "give a card a new tag", reader=True)
    replace.add_argument("card", type=_card, metavar="CARD")
    replace.add_argument("--tag", metavar="UID", help="this tag, without any reader")
    listing = _action(actions, "list", _list, "what is enrolled", named=False)
    listing.add_argument("--json", action="store_true")


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    act: Callable[[argparse.Namespace], int],
    about: str,
    *,
    named: bool = True,
    reader: bool = False,
) -> argparse.ArgumentParser:
    example = f"example: feltd deck {name} {_EXAMPLES[name]}"
    parser = actions.add_parser(name, help=about, description=about, epilog=example)
    parser.set_defaults(act=act)
    if named:
        parser.add_argument("name", metavar="NAME", help="of the deck, as in red")
    if reader:
        add_options(parser)
    else:
        parser.add_argument("--config", type=Path, metavar="F", help="the table's configuration")
    parser.add_argument("--dir", type=Path, metavar="D", help="the folder of the deck files")
    return parser


def _card(text: str) -> str:
    try:
        (card,) = parse_cards(text)
    except CardError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not one card") from None
    return card


def run(options: argparse.Namespace) -> int:
    """Act; exit status 1 from `check` when the deck is not whole."""
    if options.action != "list":
        decks.check_name(options.name)
    status: int = options.act(options)
    return status


def folder(options: argparse.Namespace) -> Path:
    """Where the decks are: `--dir`, or as the configuration says."""
    if options.dir:
        path: Path = options.dir
        return path
    if not options.config:
        raise UsageError("which decks? --config F, or --dir D")
    from daemon import config  # noqa: PLC0415 - drivers and games, for the sake of one path

    return config.load(options.config).decks_dir


def others(where: Path, name: str) -> list[Deck]:
    """All decks but the one of this name. ConfigError when one of them is wrong."""
    return [decks.load(path) for path in decks.files(where) if path.stem != name]


def refuse_another(where: Path, options: argparse.Namespace) -> None:
    """FeltdError when a deck of this name is there and `--force` is not."""
    path = decks.path_of(where, options.name)
    if path.exists() and not options.force:
        raise FeltdError(
            f"{path} is there already; `feltd deck replace` renews one card, --force all of them"
        )


def _enrol(options: argparse.Namespace) -> int:
    from daemon.cli._enrol import enrol  # noqa: PLC0415 - asyncio and rich
    from daemon.cli._readers import chosen  # noqa: PLC0415 - all drivers

    where = folder(options)
    refuse_another(where, options)
    return enrol(
        where,
        options.name,
        others(where, options.name),
        chosen(options),
        order=_ORDERS[options.order],
        by_name=options.by_name,
        restart=options.restart,
        zone=options.zone,
    )


def _import(options: argparse.Namespace) -> int:
    where = folder(options)
    refuse_another(where, options)
    try:
        source = Path("/dev/stdin" if options.file == "-" else options.file)
        lines = source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{options.file}: {getattr(error, 'strerror', error)}") from None
    deck = decks.from_csv(options.name, options.file, lines)
    for other in others(where, options.name):
        for card, uid in deck.cards.items():
            theirs = other.card(uid)
            if theirs:
                raise ConfigError(
                    f"{options.file}: {card} has a tag that is {theirs} of deck {other.name}"
                )
    path = decks.path_of(where, options.name)
    decks.write(path, deck)
    print(f"deck {options.name}: 52 cards in {path}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from daemon.cli._check_deck import check  # noqa: PLC0415 - asyncio and rich
    from daemon.cli._readers import chosen  # noqa: PLC0415 - all drivers

    where = folder(options)
    deck = decks.load(decks.path_of(where, options.name))
    result = check(deck, others(where, options.name), chosen(options), options.zone, options.idle)
    print(json.dumps(result.payload()) if options.json else result.text())
    return 0 if result.whole else 1


def _replace(options: argparse.Namespace) -> int:
    from daemon.cli._enrol import new_tag  # noqa: PLC0415 - asyncio and rich
    from daemon.cli._readers import chosen  # noqa: PLC0415 - all drivers

    where = folder(options)
    path = decks.path_of(where, options.name)
    deck = decks.load(path)
    rest = others(where, options.name)
    if options.tag:
        try:
            uid = decks.uid_of(options.tag)
        except ValueError as error:
            raise UsageError(f"--tag {error}") from None
        owner = next(((d.name, d.card(uid)) for d in [deck, *rest] if d.card(uid)), None)
        if owner:
            raise FeltdError(f"this tag is {owner[1]} of deck {owner[0]} already")
    else:
        uid = new_tag(options.card, deck, rest, chosen(options), options.zone)
    decks.write(path, Deck(deck.name, {**deck.cards, options.card: uid}))
    print(f"deck {deck.name}: {options.card} has its new tag in {path}")
    return 0


def _list(options: argparse.Namespace) -> int:
    where = folder(options)
    rows = [_row(path) for path in decks.files(where)]
    if options.json:
        print(json.dumps(rows))
    for row in [] if options.json else rows:
        print(f"{row['name']:<12} {row['error'] or '52 cards'}")
    if not rows and not options.json:
        print(f"no decks in {where}")
    decks.load_all(where)
    return 0


def _row(path: Path) -> dict[str, str | None]:
    try:
        deck = decks.load(path)
    except ConfigError as error:
        return {"name": path.stem, "path": str(path), "error": str(error)}
    return {"name": deck.name, "path": str(path), "error": None}
