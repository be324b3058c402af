"""The disciplines of sport poker as data, one file each."""

from __future__ import annotations

from typing import Final

from daemon.games import holdem, omaha, stud
from daemon.games.shape import Game, Street

GAMES: Final[dict[str, Game]] = {game.name: game for game in (holdem.GAME, omaha.GAME, stud.GAME)}

__all__ = ["GAMES", "Game", "Street"]
