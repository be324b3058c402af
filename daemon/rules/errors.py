"""What a ruling refuses to rule on."""

from __future__ import annotations


class RuleError(ValueError):
    """A ruling cannot be given as asked; one line that names the seat, card or key."""


class CardError(RuleError):
    """A text is no card, or a card is there twice."""
