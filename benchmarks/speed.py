"""Times `compilefix check` on an installed package beside a bare `ast.parse` loop and `ruff check`, in one run.

    python benchmarks/speed.py                      # transformers
    python benchmarks/speed.py --package kornia --repeats 5

Printed as a Markdown table: wall seconds (median), their ratio to the bare loop, that of the processor time, which
others on the machine change less, and the peak memory of one process. The arms alternate, so that a machine that slows
down slows all of them. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

BARE_LOOP = """\
import ast, gc, sys
from pathlib import Path
gc.disable()
for path in sorted(Path(sys.argv[1]).rglob("*.py")):
    ast.parse(path.read_bytes())
"""


@dataclass(frozen=True)
class Arm:
    """One command to time. A cold arm starts without kept results, a warm one with those of an earlier run."""

    name: str
    command: tuple[str, ...]
    cold: bool = True


@dataclass(frozen=True)
class Measured:
    """One run: wall seconds, seconds of processor time, and the peak resident memory of the largest process in MiB."""

    seconds: float
    processor: float
    memory: float


def main() -> None:
    """Run all arms in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", default="transformers")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    found = importlib.util.find_spec(options.package)
    if found is None or found.origin is None:
        sys.exit(f"{options.package} is not installed")
    package = Path(found.origin).parent
    files = [path for path in package.rglob("*.py") if path.is_file()]
    lines = sum(path.read_bytes().count(b"\n") for path in files)
    python = sys.version.split()[0]
    print(f"{options.package}: {len(files):,} files, {lines:,} lines; {os.cpu_count()} processors; Python {python}")
    with tempfile.TemporaryDirectory() as folder:
        configuration = Path(folder) / "pyproject.toml"
        configuration.write_text("[tool.compilefix]\n", encoding="utf-8")
        results: dict[str, list[Measured]] = {}
        for _ in range(options.repeats):
            for arm in _arms(package, configuration):
                if arm.cold:
                    shutil.rmtree(Path(folder) / ".compilefix_cache", ignore_errors=True)
                results.setdefault(arm.name, []).append(_measure(arm.command))
    base = results["ast.parse loop"]
    print(
        "| command | seconds | times ast.parse | times its processor time | peak memory, MiB |\n|---|---|---|---|---|"
    )
    for name, runs in results.items():
        seconds = statistics.median(run.seconds for run in runs)
        ratio = seconds / statistics.median(run.seconds for run in base)
        used = statistics.median(r.processor for r in runs) / statistics.median(r.processor for r in base)
        memory = max(run.memory for run in runs)
        print(f"| {name} | {seconds:.2f} | {ratio:.2f} | {used:.2f} | {memory:.0f} |")


def _arms(package: Path, configuration: Path) -> tuple[Arm, ...]:
    check = (sys.executable, "-m", "compilefix", "check", str(package), "--config", str(configuration), "--statistics")
    ruff = shutil.which("ruff")
    return (
        Arm("ast.parse loop", (sys.executable, "-c", BARE_LOOP, str(package))),
        *([Arm("ruff check", (ruff, "check", "--no-cache", "--exit-zero", "--quiet", str(package)))] if ruff else []),
        Arm("compilefix check, 1 process", (*check, "--jobs", "1", "--no-cache")),
        Arm("compilefix check, 2 processes", (*check, "--jobs", "2")),
        Arm("compilefix check, again", (*check, "--jobs", "1"), cold=False),
    )


def _measure(command: tuple[str, ...]) -> Measured:
    # Where a tool is installed, Python keeps its compiled modules.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        print(f"{' '.join(command)}\n{said}", file=sys.stderr)
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale)


if __name__ == "__main__":
    main()
