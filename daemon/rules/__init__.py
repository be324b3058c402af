"""The rules of sport poker as pure functions over cards and seats.

Cards are notation (`As`, `Td`), seats are numbers from 1, clockwise from the dealer's left.
"""

from __future__ import annotations

from daemon.rules.errors import CardError, RuleError

__all__ = ["CardError", "RuleError"]
