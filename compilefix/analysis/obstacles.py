"""Why a rewrite may not be made, or only under an assumption."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Obstacle:
    """A condition that is not proved. With an `assumption` the user may vouch for it; without one it is broken."""

    reason: str
    assumption: str | None = None
