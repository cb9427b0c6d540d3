"""Finds the fixes that prove themselves on a workload, together and alone, for `apply --verify`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.fix_verdicts import Build
from compilefix.measuring.request import Options
from compilefix.measuring.verdict import verify

_ATTEMPTS = 3


@dataclass(frozen=True)
class Kept:
    """The patch set to write, and each fix that was left out with the reason."""

    patchset: PatchSet
    left_out: tuple[tuple[Finding, str], ...]


def proved_part(
    patchset: PatchSet,
    singles: Sequence[tuple[Finding, PatchSet]],
    build: Build,
    workload: str,
    options: Options,
    progress: Callable[[str], None],
    keep: Path | None = None,
) -> Kept:
    """Measures all fixes together and each alone, leaves out what is not proved, and measures the rest again.

    A fix that only another one made possible cannot be measured alone; it is kept where all together are proved. What
    is left is written only when it is proved as a whole. Raises WorkloadError when the original does not run.
    """
    left_out: dict[Finding, str] = {}
    current, alone = patchset, tuple(singles)
    for _ in range(_ATTEMPTS):
        if not current:
            break
        verdict = verify(current, workload, options, progress, alone, keep=keep, build=build)
        whole = verdict.verdict == "proved"
        dropped = {
            fix: f"{said.verdict}: {said.reason}".removesuffix(": ")
            for fix, said in zip(current.fixes, verdict.fixes, strict=True)
            if said.verdict not in ("proved", "not-measured")
        }
        if not dropped and whole:
            return Kept(current, tuple(left_out.items()))
        if not dropped:
            reason = verdict.reasons[0] if verdict.reasons else verdict.verdict
            dropped = dict.fromkeys(current.fixes, f"together with the others {verdict.verdict}: {reason}")
        left_out |= dropped
        rest = [fix for fix in current.fixes if fix not in dropped]
        current = build(rest) if rest else PatchSet(())
        # What is alone was measured; the next round asks whether the rest holds together.
        alone = ()
    left_out |= dict.fromkeys(current.fixes, "not proved after leaving out others")
    return Kept(PatchSet(()), tuple(left_out.items()))
