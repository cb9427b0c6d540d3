"""The tests of a public project, as it is and with fixes made: which of them pass no more.

    git clone https://github.com/geoopt/geoopt
    python benchmarks/upstream_tests.py geoopt --package geoopt tests
    python benchmarks/upstream_tests.py geoopt --package geoopt --safe tests/test_gyrovector_math.py

Copies the checkout twice, makes the fixes in one copy (`apply --unsafe-fixes`, with `--safe` the safe ones alone), and
runs the tests that are named in both copies side by side, each against the package of its copy. Nothing is compiled:
what a test says of results, gradients, exceptions and text is to hold in eager mode too. Counts the tests that ended in
both, and lists those with another outcome; where time runs out the ones before count. The exit code is 1 where a test
that passed does not, 2 where no test ended in both. A named assumption that does not hold is a failure here like any
other: which it is a person says.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(words: Sequence[str] | None = None) -> int:
    """Run the tests in both copies and compare their outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("tests", nargs="+", help="files and folders of tests in the checkout, and options of pytest")
    parser.add_argument("--package", required=True, help="the folder in the checkout that is fixed (src/package)")
    parser.add_argument("--safe", action="store_true", help="only the safe fixes")
    parser.add_argument("--seconds", type=int, default=600, help="after which both runs are stopped")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        before, after = (Path(folder) / arm for arm in ("before", "after"))
        shutil.copytree(options.checkout, before, symlinks=True)
        shutil.copytree(before, after, symlinks=True)
        lines = _fix(after, options.package, safe=options.safe)
        outcomes = _outcomes({"before": before, "after": after}, options.package, options.tests, options.seconds)
    return _report(lines, outcomes["before"], outcomes["after"])


def _fix(copy: Path, package: str, *, safe: bool) -> int:
    """Make the fixes; how many lines of the package that adds."""
    command = [
        sys.executable,
        "-m",
        "compilefix",
        "apply",
        "--quiet",
        "--no-cache",
        *([] if safe else ["--unsafe-fixes"]),
    ]
    before = _lines(copy / package)
    subprocess.run([*command, package], cwd=copy, check=True, stdout=subprocess.DEVNULL)
    return sum((_lines(copy / package) - before).values())


def _lines(folder: Path) -> Counter[tuple[str, str]]:
    files = (path for path in folder.rglob("*.py") if path.is_file())
    return Counter(
        (path.as_posix(), line) for path in files for line in path.read_text("utf-8", "replace").splitlines()
    )


def _outcomes(
    copies: Mapping[str, Path], package: str, tests: Sequence[str], seconds: int
) -> dict[str, dict[str, str]]:
    """What each test came to in each copy; the runs go side by side, so that the machine is as busy for both."""
    runs: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}
    for arm, copy in copies.items():
        seen = copy.parent / f"{arm}.jsonl"
        places = [str((copy / package).parent), str(copy), str(HERE), os.environ.get("PYTHONPATH", "")]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "outcomes_plugin", "--outcomes", str(seen)]
        command += ["-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings=ignore"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen([*command, *tests], cwd=copy, env=environment, stdout=subprocess.DEVNULL)
        runs[arm] = (process, seen)
    found: dict[str, dict[str, str]] = {}
    for arm, (process, seen) in runs.items():
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        written = seen.read_text("utf-8").splitlines() if seen.is_file() else []
        found[arm] = dict(json.loads(line) for line in written if line.endswith("]"))
    return found


def _report(lines: int, before: Mapping[str, str], after: Mapping[str, str]) -> int:
    common = [test for test in before if test in after]
    print(f"{lines} lines are new. {len(common)} tests ended in both copies:")
    for name, outcomes in (("as it is", before), ("with fixes", after)):
        counts = Counter(outcomes[test] for test in common)
        print(f"  {name}: {', '.join(f'{n} {outcome}' for outcome, n in sorted(counts.items())) or 'none'}")
    changed = [test for test in common if before[test] != after[test]]
    for test in changed:
        print(f"  {test}: {before[test]} -> {after[test]}")
    if not common:
        return 2
    return int(any(before[test] == "passed" for test in changed))


if __name__ == "__main__":
    sys.exit(main())
