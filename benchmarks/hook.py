"""How long the pre-commit hook takes for one file, against the start of Python with the libraries it stands on.

    python benchmarks/hook.py
    python benchmarks/hook.py --runs 40 src/model.py

Both commands run in turns. Times are those of the process itself (user and system), so that another program on the
machine disturbs them little; the ratio is the median of the pairs. The times are for people.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BASE = [sys.executable, "-c", "import libcst, typer, rich"]


def main() -> None:
    """Measures and prints the three medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=HERE.parent / "fixtures" / "models" / "moe.py")
    parser.add_argument("--runs", type=int, default=25)
    options = parser.parse_args()
    hook = [sys.executable, "-m", "compilefix", "check", str(options.file)]
    for command in (hook, BASE):  # writes the byte code, and fills the disk cache
        seconds(command)
    pairs = [(seconds(hook), seconds(BASE)) for _ in range(options.runs)]
    own, base = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratios = sorted(one / other for one, other in pairs)
    print(f"check of {options.file.name}: {own * 1000:.0f} ms, the imports alone: {base * 1000:.0f} ms")
    low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
    print(f"ratio {statistics.median(ratios):.2f} (80 % of {len(ratios)} pairs lie within {low:.2f} to {high:.2f})")


def seconds(command: list[str]) -> float:
    """User and system time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
