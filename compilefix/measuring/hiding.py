"""Names breaks that are not gone but out of sight: functions kept out of the graph, or left to Python as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from compilefix.measuring.request import BreakSite
from compilefix.measuring.verdict_model import Arm

_KEPT_OUT = ("torch.compiler.disable", "torch._dynamo.disable", "disable()", "skipfiles", "marked as skipped")


def hidden_breaks(before: Arm, after: Arm) -> list[str]:
    """What the patched code has that hides breaks and the original has not, in sentences."""
    found = []
    known = Counter(event.function for event in before.skipped_frames)
    for event in after.skipped_frames:
        if known[event.function]:
            known[event.function] -= 1
        elif len(after.skipped_frames) > len(before.skipped_frames):
            found.append(
                f"{event.function} ({event.path}:{event.line}) is now left to Python as a whole, so that its breaks do "
                f"not count: {_brief(event.reason)}"
            )
    old = Counter(_what(site) for site in before.break_sites if kept_out(site))
    for site in after.break_sites:
        if kept_out(site):
            if old[_what(site)]:
                old[_what(site)] -= 1
            else:
                found.append(
                    f"the breaks are hidden, not gone: what is called at {site.path}:{site.line} ({site.source}) is "
                    f"now kept out of the graph: {_brief(site.reason)}"
                )
    return found


def moved_breaks(before: Arm, after: Arm) -> list[str]:
    """The breaks of the patched code that the original did not have.

    A break is the same in a line that was written anew, if it is of the same kind and in the same function.
    """
    new = _left(after.break_sites, before.break_sites, _what)
    old = _left(before.break_sites, after.break_sites, _what)
    return [f"{site.path}:{site.line} ({site.source})" for site in _left(new, old, _kind)]


def _left(
    sites: Iterable[BreakSite], others: Iterable[BreakSite], name: Callable[[BreakSite], tuple[str, str]]
) -> list[BreakSite]:
    """The sites for which no other of the same name is left; each is matched once."""
    known = Counter(map(name, others))
    left = []
    for site in sites:
        if known[name(site)]:
            known[name(site)] -= 1
        else:
            left.append(site)
    return left


def more_recompiles(before: Arm, after: Arm) -> list[str]:
    """Functions that are compiled again and again where the original was not."""
    if sum(event.count for event in after.late_recompiles) <= sum(event.count for event in before.late_recompiles):
        return []
    return [
        f"{event.function} ({event.path}:{event.line}) is compiled again in calls with inputs seen before: "
        f"{_brief(event.reason)}"
        for event in after.late_recompiles
    ]


def kept_out(site: BreakSite) -> bool:
    """Whether the site breaks because somebody asked for the called function not to be compiled."""
    return any(word in site.reason for word in _KEPT_OUT)


def _what(site: BreakSite) -> tuple[str, str]:
    return site.function, site.source


def _kind(site: BreakSite) -> tuple[str, str]:
    return site.function, site.gb or site.reason


def _brief(reason: str) -> str:
    lines: Iterable[str] = (line.strip() for line in reason.splitlines())
    text = next((line for line in lines if line), "")
    return text if len(text) <= 160 else text[:157] + "..."
