"""Errors that end a command with one line for the person who can act on it."""

from __future__ import annotations


class FeltdError(Exception):
    """Something that the person at the command line has to know; exit status 1."""

    status = 1


class UsageError(FeltdError):
    """The command line is wrong; exit status 2."""

    status = 2


class ConfigError(FeltdError):
    """The configuration, or a deck it names, is wrong; exit status 78 (EX_CONFIG)."""

    status = 78
