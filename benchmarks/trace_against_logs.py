"""Whether `compilefix trace` tells all that torch's own logs tell, and nothing else.

Runs models of public packages, with TORCH_TRACE and with TORCH_LOGS=graph_breaks,recompiles at the same time, and
compares the places. `python benchmarks/trace_against_logs.py` takes the ten of `trace_models.py`, with 25 every 25th of
the accuracy models. Prints what is missing and what is invented; exit code 1 where there is any.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from compilefix.analysis.dynamo_words import named
from compilefix.analysis.graph_breaks import known
from compilefix.tracing.collect import find_logs, read_logs
from compilefix.tracing.payloads import is_foreign, read_break

Site = tuple[str, int, str]

_MESSAGE = re.compile(r"^[VDIWE]\d{4} \S+ \d+ \S+\] (?:\[\S+\] )?(?:\[__\w+\] ?)?(.*)$")
_RECOMPILED = re.compile(r"Recompiling function (?P<function>\S+) in (?P<path>.+):(?P<line>\d+)")


def run_models(names: list[str]) -> None:
    """Compile and call the models, each with all its inputs."""
    import torch

    warnings.simplefilter("ignore")
    builders = builders_by_name()
    for name in names:
        torch.manual_seed(0)
        torch._dynamo.reset()
        try:
            target, inputs = builders[name]()
            compiled = torch.compile(target, backend="eager")
            for item in inputs:
                compiled(**item) if isinstance(item, dict) else compiled(*item)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[:1]}", file=sys.stdout)


def builders_by_name() -> Mapping[str, Callable[[], Any]]:
    """All models that can be named."""
    sys.path.insert(0, str(Path(__file__).parent))
    from accuracy_models import load
    from trace_models import MODELS

    return {**MODELS, **load()}


def told_by_logs(text: str, torch_folder: str) -> tuple[set[Site], set[Site]]:
    """Break sites and recompiled functions in what TORCH_LOGS printed."""
    ids = known().by_title
    breaks: set[Site] = set()
    recompiled: set[Site] = set()
    block: list[str] = []
    messages = [found[1] if (found := _MESSAGE.match(line)) else line for line in text.splitlines()]
    for message in [*messages, "Graph break in user code at end:0"]:
        if found := _RECOMPILED.search(message):
            recompiled.add((found["path"], int(found["line"]), named(found["function"])))
        if message.startswith(("Graph break in user code at", "Recompiling function")):
            if block and (place := read_break("\n".join(block), torch_folder, ids)).place is not None:
                breaks.add((place.place.path, place.place.line, place.gb or place.title))
            block = [message] if message.startswith("Graph break") else []
        elif block:
            block.append(message)
    return breaks, recompiled


def main(step: int | None) -> int:
    """Run the ten models, or every `step`-th accuracy model, and compare."""
    builders = builders_by_name()
    from trace_models import MODELS

    names = list(MODELS) if step is None else [name for name in builders if name not in MODELS][::step]
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "TORCH_TRACE": f"{folder}/trace", "TORCH_LOGS": "graph_breaks,recompiles"}
        command = [sys.executable, __file__, "--run", *names]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        trace = read_logs(find_logs(Path(folder)), known().by_title)
    import torch

    torch_folder = f"{Path(torch.__file__).parent}/"
    breaks, recompiled = told_by_logs(done.stderr, torch_folder)
    traced = {(site.place.path, site.place.line, site.gb or site.title) for site in trace.breaks}
    again = {(r.place.path, r.place.line, r.place.function) for r in trace.recompiles}
    print(done.stdout, end="")
    print(f"{len(names)} models: {', '.join(names)}")
    differences = 0
    for what, logged, found in (("break sites", breaks, traced), ("recompiled functions", recompiled, again)):
        print(f"{what}: {len(logged)} in the logs, {len(found)} in the trace")
        for title, places in (("missing", logged - found), ("not in the logs", found - logged)):
            differences += len(places)
            for path, line, name in sorted(places):
                print(f"  {title}: {path}:{line} {name}{' (foreign)' if is_foreign(path, torch_folder) else ''}")
    return 1 if differences else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run_models(sys.argv[2:])
        sys.exit(0)
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else None))
