"""A verdict with what its reports need besides: the workload's name, the changes, and what a baseline says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.verdict_model import Judgement, Verdict

NOTHING = PatchSet(())
_ORDER: tuple[Judgement, ...] = ("proved", "unverified", "not-proved")


@dataclass(frozen=True)
class Verified:
    """What was measured of one workload.

    `regressions` says in sentences what became worse since the baseline; None where there is no baseline. `error` says
    why nothing was measured, and `verdict` is None then.
    """

    name: str
    verdict: Verdict | None
    patchset: PatchSet = NOTHING
    regressions: tuple[str, ...] | None = None
    baseline: str = ""
    error: str = ""

    @property
    def changed(self) -> bool:
        """Whether there was anything to measure but the code as it is."""
        return bool(self.patchset)

    @property
    def passes(self) -> bool:
        """Whether a check that runs this may go on.

        Without a baseline that is a proof. With one, code without a change passes when nothing became worse.
        """
        if self.verdict is None or self.regressions:
            return False
        return self.verdict.verdict == "proved" or (self.regressions is not None and not self.changed)


def overall(results: Sequence[Verified]) -> Judgement:
    """The worst verdict; what could not be measured is not proved."""
    found = [item.verdict.verdict if item.verdict is not None else "not-proved" for item in results]
    return max(found, key=_ORDER.index, default="not-proved")


def exit_code(results: Sequence[Verified]) -> Literal[0, 1, 2]:
    """0 when all pass, 2 when something could not be measured, else 1."""
    if any(item.verdict is None for item in results):
        return 2
    return 0 if all(item.passes for item in results) else 1
