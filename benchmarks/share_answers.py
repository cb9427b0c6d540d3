"""Which models answer differently with all fixes than as written, with nothing compiled in either: values, gradients,
exceptions, printed text, and what they write into their inputs and buffers.

Nothing has to compile for that, so that thousands of models can be asked (docs/share.md). What an assumption of a fix
names may differ; which of these it is has to be looked at.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import share_models
from share_run import result_of
from share_tables import difference, load


def answers(out: Path) -> str:
    """Markdown: how many models were asked, and every difference."""
    counted: Counter[str] = Counter()
    lines = []
    for name in share_models.chosen():
        state, differences = _asked(name, out)
        counted[state] += 1
        lines += [f"- {name}, {how}" for how in differences]
    rows = ["| | models |", "|---|---|", *(f"| {state} | {count} |" for state, count in counted.most_common())]
    return "\n".join([*rows, "", *lines])


def _asked(name: str, out: Path) -> tuple[str, list[str]]:
    if not all(result_of(name, arm, out).exists() for arm in ("eager", "fixed")):
        return "not run", []
    eager, fixed = (load(name, arm, out) for arm in ("eager", "fixed"))
    if "error" in eager or all(mode["error"] for mode in eager["modes"].values()):
        return "does not run as written", []
    if fixed.get("key") == "eager":
        return "runs nothing that a fix changes", []
    if "error" in fixed:
        return "did not end with fixes", [fixed["error"]]
    modes = ((mode, difference(eager, None, fixed, mode)) for mode in eager["modes"])
    differences = [f"{mode}: {how}" for mode, how in modes if how]
    return ("answers differently", differences) if differences else ("answers the same", [])
