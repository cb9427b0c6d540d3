"""What became worse since an earlier verdict: new break sites, and times that rose by more than the noise.

Like is compared with like: the code as it stands with the code as it stood, and the fixed code with the fixed code.
Code that has nothing left to fix is held to what was promised of the fixed code.
"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compilefix.source.errors import InputError
from compilefix.source.files import display_path

NOISE = 0.05
"""By how much the times of the same code differ from one day to the next on one machine: a standard deviation."""

_Arm = Mapping[str, Any]
_SAME = ("device", "device_name", "mode", "backend", "threads")


@dataclass(frozen=True)
class Baseline:
    """An earlier verdict's documents, by the name of the workload; that of a single one has no name."""

    path: Path
    documents: Mapping[str, Mapping[str, Any]]

    def of(self, name: str, workload: str) -> Mapping[str, Any] | None:
        """The document for a workload, by its name or as it was written; None where it was not measured then."""
        found = self.documents.get(name)
        if found is None:
            same = (one for one in self.documents.values() if one.get("environment", {}).get("workload") == workload)
            found = next(same, None)
        return found if found is not None and "before" in found else None


def load(path: Path) -> Baseline:
    """Reads what `verify --json` wrote. Raises InputError when it is something else."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{display_path(path)}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{display_path(path)}: is no JSON: {error}") from error
    documents = data.get("workloads", {"": data}) if isinstance(data, dict) else {}
    known = all(isinstance(one, dict) and "verdict" in one for one in documents.values())
    if not documents or not known or data.get("version") != 1:
        raise InputError(f"{display_path(path)}: is not a verdict that `compilefix verify --json` wrote")
    return Baseline(path, documents)


def regressions(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, ...]:
    """What is worse in `new` than in `old`, in sentences; both are documents of one workload."""
    found: list[str] = []
    for which, before, after in _pairs(old, new):
        found += [f"{which}: {text}" for text in _new_breaks(before, after)]
        found += [f"{which}: {text}" for text in _worse_counts(before, after)]
        if not _other_conditions(old, new):
            found += [f"{which}: {text}" for text in _slower(before, after, old["eager"], new["eager"])]
    return tuple(dict.fromkeys(found))


def not_compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Why the times say nothing, in a sentence; empty where they were compared."""
    differing = _other_conditions(old, new)
    if differing:
        return f"times were not compared with the baseline: {differing}"
    if not any(_timed(before) and _timed(after) for _, before, after in _pairs(old, new)):
        return "times were not compared with the baseline: they were not measured"
    return ""


def _pairs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, _Arm, _Arm]]:
    if not _ran(new["after"]):
        yield "the code", old["after"] if _ran(old["after"]) else old["before"], new["before"]
        return
    # With a revision as the base, the working tree is the arm after; otherwise it is the arm before.
    old_tree, new_tree = ("after" if _base(one) and _ran(one["after"]) else "before" for one in (old, new))
    yield "the code as written", old[old_tree], new[new_tree]
    if not _base(old) and not _base(new) and _ran(old["after"]):
        yield "the fixed code", old["after"], new["after"]


def _base(document: Mapping[str, Any]) -> bool:
    return bool(document.get("environment", {}).get("base"))


def _ran(arm: _Arm) -> bool:
    return arm.get("first_call_s") is not None


def _new_breaks(old: _Arm, new: _Arm) -> Iterator[str]:
    known = Counter(_identity(site) for site in old["break_sites"])
    for site in new["break_sites"]:
        key = _identity(site)
        if known[key] > 0:
            known[key] -= 1
        else:
            what = site["gb"] or site["reason"].partition(":")[0]
            yield f"new graph break at {site['path']}:{site['line']}: {site.get('source', '')} ({what})"


def _identity(site: Mapping[str, Any]) -> tuple[str, str, str]:
    # Lines move when something above them changes; the text of the line and its function stay.
    return site["path"], site.get("function", ""), " ".join(site.get("source", "").split()) or str(site["line"])


def _worse_counts(old: _Arm, new: _Arm) -> Iterator[str]:
    known = {(event["path"], event["function"]) for event in old["skipped_frames"]}
    for event in new["skipped_frames"]:
        if (event["path"], event["function"]) not in known:
            yield f"{event['function']} ({event['path']}:{event['line']}) is left to Python now"
    before, after = (sum(event["count"] for event in arm["recompiles"]) for arm in (old, new))
    if after > before:
        yield f"{after} recompiles, {before} in the baseline"
    if _ran(old) and not _ran(new):
        yield f"does not run any more: {new.get('error')}"


def _slower(old: _Arm, new: _Arm, old_eager: _Arm, new_eager: _Arm) -> Iterator[str]:
    """A time counts as worse when it rose, and did so also in relation to the eager original of the same run.

    A machine that is busy slows both. Each median has an interval, from its rounds and from what the same code differs
    by from one day to the next.
    """
    for phase, latency, spread in (
        ("inference", "latency_ms", "distribution"),
        ("a training step", "training_latency_ms", "training_distribution"),
    ):
        if not old.get(latency) or not new.get(latency):
            continue
        ratio, low = _rise(old, new, latency, spread)
        if low <= 1.0:
            continue
        if old_eager.get(latency) and new_eager.get(latency):
            pace = new_eager[latency]["median"] / old_eager[latency]["median"]
            if low / max(pace, 1.0) <= 1.0:
                continue
        yield (
            f"{phase} is slower: {new[latency]['median']:.3g} ms, {old[latency]['median']:.3g} ms in the baseline, "
            f"{ratio:.2f} times as long (at least {low:.2f} times with the noise taken off)"
        )


def _rise(old: _Arm, new: _Arm, latency: str, spread: str) -> tuple[float, float]:
    ratio = new[latency]["median"] / old[latency]["median"]
    variance = NOISE**2 + sum(_log_variance(arm, latency, spread) for arm in (old, new))
    return ratio, ratio * math.exp(-1.96 * math.sqrt(variance))


def _log_variance(arm: _Arm, latency: str, spread: str) -> float:
    """Of the logarithm of an arm's median, from the medians of its rounds; from its percentiles in older documents."""
    rounds = (arm.get(spread) or {}).get("rounds_ms") or []
    if len(rounds) >= 3:
        logs = [math.log(value) for value in rounds]
        return statistics.variance(logs) * math.pi / 2 / len(logs)
    taken = arm[latency]
    return (math.log(taken["p95"] / taken["p05"]) / 3.29) ** 2 if taken["p05"] > 0 else 0.0


def _timed(arm: _Arm) -> bool:
    return bool(arm.get("latency_ms") or arm.get("training_latency_ms"))


def _other_conditions(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    was, now = old.get("environment", {}), new.get("environment", {})
    differing = [name for name in _SAME if was.get(name) != now.get(name)]
    return "; ".join(f"{name} was {was.get(name)}, and is {now.get(name)}" for name in differing)
