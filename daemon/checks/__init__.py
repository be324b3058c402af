"""What can be wrong before play: configuration, decks, ports, broker, rights, clock, disk.

Every check tries what the daemon would do, and returns findings of one line and one remedy.
"""

from __future__ import annotations
