"""When what was learnt about functions is reason enough to build their rules anew.

To build a function costs as much as many calls by way of a side exit, and most functions show in their first
calls all that there is to see, one thing after the other.  So what is learnt in a call from outside waits for
the next one, unless it is met again and again; and a function that has been built a few times waits until
something has been met as often as that has cost.
"""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["MILESTONES", "Lessons", "Place"]

_PRESSING = 64
"""So often must something have been met that is not what rules were built for, before they are built anew in
the middle of a call from outside."""
_ROUNDS = 4
"""So many times a function is built anew as soon as something was learnt; then what is new has to be met the
more often."""
MILESTONES = frozenset(1 << n for n in range(2, 20))
"""How often something was met when that is to be weighed."""


class Place(Protocol):
    """A place in a function where something is learnt: `speculation.Site`."""

    of: Any
    """The function."""
    seen: int
    """How often something was met since rules were built on what is known."""


class Lessons:
    """What has been learnt since rules were built on what was known before."""

    def __init__(self) -> None:
        self.stale: set[Any] = set()
        """The places for which rules are built anew when something is next called from outside."""
        self.pressing: set[Any] = set()
        """The places among them for which that is worth while in the middle of a call."""
        self._waiting: set[Any] = set()
        self._rounds: dict[Any, int] = {}
        """By function, how often it was built anew."""
        self.caches = (self.stale, self.pressing, self._waiting, self._rounds)

    def add(self, place: Place) -> None:
        """Note that something was learnt at `place`."""
        self._waiting.add(place)
        self.weigh(place)

    def weigh(self, place: Place) -> None:
        """Find out whether what was learnt at `place` has been met often enough."""
        if place in self._waiting and place.seen >= self._patience(place):
            self._waiting.discard(place)
            self.stale.add(place)
        if place.seen >= _PRESSING and place in self.stale:
            self.pressing.add(place)

    def _patience(self, place: Place) -> int:
        rounds = self._rounds.get(place.of, 0)
        return 0 if rounds < _ROUNDS else 1 << rounds

    def taken(self) -> set[Any]:
        """The stale places, of which there are none any more."""
        stale = set(self.stale)
        self.stale.clear()  # emptied, not replaced: others look at it
        self.pressing.clear()
        for of in {place.of for place in stale}:
            self._rounds[of] = self._rounds.get(of, 0) + 1
        for place in stale:
            place.seen = 0
        return stale
