"""From what was seen to a judgement: failures, gains and doubts, each in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from compilefix.measuring.hiding import hidden_breaks, more_recompiles, moved_breaks
from compilefix.measuring.interval import Speedup
from compilefix.measuring.request import ArmResult, BreakSite, FrameEvent
from compilefix.measuring.timed_arms import COMPARED
from compilefix.measuring.timing import Timings
from compilefix.measuring.verdict_model import Arm, BranchCoverage, Judgement, Parity, Speedups

SLOWER = 0.97
"""A ratio that is surely below this is a slowdown. Two builds of the same code differ by a percent or two."""
NOT_THE_SAME = "not the same as the original"


def judged(
    before: Arm, after: Arm, failures: Sequence[str], gains: Sequence[str], doubts: Sequence[str], promised: bool
) -> tuple[Judgement, tuple[str, ...]]:
    """The judgement and its reasons. `promised` says that fixes were made, which are to be better, not only right."""
    if failures:
        return "not-proved", tuple(failures)
    clean = not after.break_sites and not after.skipped_frames and not after.recompiles
    if not gains and not clean:
        sites = f"{sites_text(before)} before and {sites_text(after)} after"
        moved = moved_breaks(before, after)
        if moved:
            return "not-proved", (f"nothing was gained: {sites}; new: {', '.join(moved)}",)
        if promised:
            return "not-proved", (f"nothing was gained: {sites}, and no speedup was measured",)
        gains = (f"the same program, and nothing was gained: {sites}",)
    return ("unverified" if doubts else "proved"), (*doubts, *(gains or ("no break site before and after",)))


def doubts_of(
    coverage: Sequence[BranchCoverage], coverage_note: str, parity: Parity, timings: Timings
) -> tuple[str, ...]:
    """What was not seen, so that it is not proved."""
    found = [branch.doubt for branch in coverage if branch.doubt]
    if coverage_note.startswith("not measured"):
        found.append(f"which sides of the branches the inputs reach is unknown: {coverage_note}")
    found += [f"{name} were not compared" for name, status in parity.aspects().items() if status == "not-run"]
    untimed = {name: error for name, error in timings.errors.items() if name != COMPARED}
    found += [f"the arm {name!r} could not be timed: {error}" for name, error in untimed.items()]
    return tuple(found)


def parity_beyond(own: Parity, parity: Parity, assumptions: frozenset[str]) -> str:
    """Where only varied inputs show a difference and the fixes rest on assumptions: what these inputs say of them.

    `own` is the comparison on the workload's own inputs, `parity` that on all.
    """
    if not assumptions or parity.holds or not own.holds:
        return ""
    names = ", ".join(sorted(assumptions))
    return f"beyond the inputs of the workload the assumptions ({names}) may not hold: {parity.first_difference}"


def failures_of(before: Arm, after: Arm, eager_after: ArmResult, parity: Parity, speedups: Speedups) -> list[str]:
    """What speaks against the patched code."""
    found = []
    if after.first_call_s is None:
        found.append(f"the patched code does not run compiled: {after.error}")
    elif after.graphs_per_call == 0:
        found.append("the patched code ran no compiled graph at all, so nothing was compiled")
    if eager_after.error is not None:
        found.append(f"the patched code does not run eager: {eager_after.error}")
    if not parity.holds:
        names = [name for name, status in parity.aspects().items() if status in ("different", "error")]
        first = f"; first difference: {parity.first_difference}" if parity.first_difference else ""
        found.append(f"{NOT_THE_SAME}: {', '.join(names)}{first}")
    for phase, item in (("inference", speedups.inference), ("training", speedups.training)):
        if item is not None and item.high < SLOWER:
            found.append(f"{phase} is slower: {ratio_text(item)}")
    if before.first_call_s is not None:
        new = len(after.break_sites) - len(before.break_sites)
        if new > 0:
            found.append(f"{sites_text(before)} before, {sites_text(after)} after")
        found += hidden_breaks(before, after)
        found += more_recompiles(before, after)
    return found


def gains_of(before: Arm, after: Arm, speedups: Speedups) -> list[str]:
    """What speaks for it."""
    found = []
    if before.first_call_s is None and after.first_call_s is not None:
        found.append(f"the original does not run compiled: {before.error}")
    for word, old, new in (
        ("break site", len(before.break_sites), len(after.break_sites)),
        ("skipped function", len(before.skipped_frames), len(after.skipped_frames)),
        ("recompile", total(before.recompiles), total(after.recompiles)),
    ):
        if new < old:
            found.append(f"{count_text(old, word)} before, {count_text(new, word)} after")
    for phase, item in (("inference", speedups.inference), ("training", speedups.training)):
        if item is not None and item.low > 1.0:
            found.append(f"{phase} is faster: {ratio_text(item)}")
    return found


def weight(result: ArmResult) -> tuple[int, int, int]:
    """How much of the code is not in one graph: break sites, functions left to Python, recompiles."""
    return len(result.break_sites), len(result.skipped_frames), total(result.recompiles)


def total(events: Sequence[FrameEvent]) -> int:
    """How often the events happened."""
    return sum(event.count for event in events)


def sites_text(arm: Arm | ArmResult) -> str:
    """The number of break sites, in words."""
    sites: Sequence[BreakSite] = arm.break_sites
    return count_text(len(sites), "break site")


def count_text(number: int, word: str) -> str:
    """A number of things, in words."""
    return f"no {word}" if number == 0 else f"{number} {word}{'' if number == 1 else 's'}"


def ratio_text(item: Speedup) -> str:
    """A ratio with its interval."""
    return f"{item.ratio:.3g}x (95% interval {item.low:.3g} to {item.high:.3g})"
