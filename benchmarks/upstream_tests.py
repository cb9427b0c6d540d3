"""The tests of a public project, as it is and with fixes made: which of them pass no more.

    git clone https://github.com/geoopt/geoopt
    python benchmarks/upstream_tests.py geoopt --package geoopt tests
    python benchmarks/upstream_tests.py geoopt --package geoopt --safe tests/test_gyrovector_math.py
    python benchmarks/upstream_tests.py geoopt --package geoopt --compiled tests/test_gyrovector_math.py

Copies the checkout twice, makes the fixes in one copy (`apply --unsafe-fixes`, with `--safe` the safe ones alone), and
runs the tests that are named in both copies side by side, each against the package of its copy. Nothing is compiled:
what a test says of results, gradients, exceptions and text is to hold in eager mode too. Counts the tests that ended in
both, and lists those with another outcome; where time runs out the ones before count. The exit code is 1 where a test
that passed does not, 2 where no test ended in both. A named assumption that does not hold is a failure here like any
other: which it is a person says.

With `--compiled` both copies run with what the tests call of the package compiled (`compiled_plugin.py`), and the
places where the graph broke are compared: those that are gone, those that still break although the code there was
changed, and new ones. A test that fails compiled as written says nothing of the fixes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compared_breaks import Compared, compare, sites

HERE = Path(__file__).resolve().parent


def main(words: Sequence[str] | None = None) -> int:
    """Run the tests in both copies and compare their outcomes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("tests", nargs="+", help="files and folders of tests in the checkout, and options of pytest")
    parser.add_argument("--package", required=True, help="the folder in the checkout that is fixed (src/package)")
    parser.add_argument("--safe", action="store_true", help="only the safe fixes")
    parser.add_argument("--seconds", type=int, default=600, help="after which both runs are stopped")
    parser.add_argument("--compiled", action="store_true", help="compile what is called; compare the breaks")
    parser.add_argument("--parameters", type=int, default=0, help="of each test, when compiled; 0: all")
    parser.add_argument("--keep", type=Path, help="a folder for the copies and what was seen, which are kept there")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or Path(temporary)).resolve()
        before, after = (folder / arm for arm in ("before", "after"))
        if not after.is_dir():
            unbuilt = shutil.ignore_patterns("__pycache__", ".git")
            shutil.copytree(options.checkout, before, symlinks=True, ignore=unbuilt)
            shutil.copytree(before, after, symlinks=True)
            _fix(after, options.package, safe=options.safe)
        lines = _new_lines(before / options.package, after / options.package)
        copies = {"before": before, "after": after}
        more = ["--parameters", str(options.parameters)] if options.compiled else None
        outcomes = _outcomes(copies, options.package, options.tests, options.seconds, compiled=more)
        code = _report(lines, outcomes["before"], outcomes["after"])
        if options.compiled:
            records = {arm: _records(folder / f"{arm}-breaks.jsonl") for arm in copies}
            _report_breaks(records, outcomes, (before / options.package, after / options.package))
    return code


def _fix(copy: Path, package: str, *, safe: bool) -> None:
    command = [sys.executable, "-m", "compilefix", "apply", "--quiet", "--no-cache"]
    command += [] if safe else ["--unsafe-fixes"]
    subprocess.run([*command, package], cwd=copy, check=True, stdout=subprocess.DEVNULL)


def _new_lines(before: Path, after: Path) -> int:
    """How many lines of the package the fixes have added."""
    return sum((_lines(after) - _lines(before)).values())


def _lines(folder: Path) -> Counter[tuple[str, str]]:
    files = (path for path in folder.rglob("*.py") if path.is_file())
    return Counter(
        (path.relative_to(folder).as_posix(), line)
        for path in files
        for line in path.read_text("utf-8", "replace").splitlines()
    )


def _outcomes(
    copies: Mapping[str, Path], package: str, tests: Sequence[str], seconds: int, *, compiled: Sequence[str] | None
) -> dict[str, dict[str, str]]:
    """What each test came to in each copy; the runs go side by side, so that the machine is as busy for both."""
    runs: dict[str, tuple[subprocess.Popen[bytes], Path]] = {}
    for arm, copy in copies.items():
        seen = copy.parent / f"{arm}.jsonl"
        places = [str((copy / package).parent), str(copy), str(HERE), os.environ.get("PYTHONPATH", "")]
        command = [sys.executable, "-m", "pytest", "-q", "-p", "outcomes_plugin", "--outcomes", str(seen)]
        command += ["-p", "no:cacheprovider", "-o", "addopts=", "-o", "filterwarnings=ignore"]
        command += ["--continue-on-collection-errors"]
        if compiled is not None:
            breaks = str(copy.parent / f"{arm}-breaks.jsonl")
            command += ["-p", "compiled_plugin", "--compiled", package, "--breaks", breaks, *compiled]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places)), "OMP_NUM_THREADS": "1"}
        with (copy.parent / f"{arm}.log").open("wb") as log:
            process = subprocess.Popen([*command, *tests], cwd=copy, env=environment, stdout=log)
        runs[arm] = (process, seen)
    found: dict[str, dict[str, str]] = {}
    deadline = time.monotonic() + seconds
    for arm, (process, seen) in runs.items():
        try:
            process.wait(timeout=max(deadline - time.monotonic(), 0))
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


def _records(path: Path) -> dict[str, dict[str, Any]]:
    written = path.read_text("utf-8").splitlines() if path.is_file() else []
    records = [json.loads(line) for line in written if line.endswith("}")]
    return {record["test"]: record for record in records}


def _report_breaks(
    records: Mapping[str, Mapping[str, Mapping[str, Any]]],
    outcomes: Mapping[str, Mapping[str, str]],
    folders: tuple[Path, Path],
) -> None:
    """Failures with what they say, and the break sites of the tests that passed as written, compiled."""
    before, after = records["before"], records["after"]
    passed = [t for t in before if t in after and outcomes["before"].get(t) == "passed"]
    for test in passed:
        if outcomes["after"].get(test) not in ("passed", None):
            print(f"  {test}: {'took too long' if after[test]['timed_out'] else after[test]['error']}")
    compiled = [t for t in passed if before[t]["compiled"]]
    compared = compare(sites(before[t] for t in compiled), sites(after[t] for t in compiled), folders)
    print(f"{len(compiled)} of the tests that pass as written compile something of the package. Their break sites:")
    _print_compared(compared)
    known = {(path, function) for t in compiled for path, _, _, function in before[t]["skipped"]}
    left = {(p, f): f"{p}:{line} {f}: {why} ({t})" for t in compiled for p, line, why, f in after[t]["skipped"]}
    for text in sorted(text for key, text in left.items() if key not in known):
        print(f"  left to Python only with the fixes: {text}")


def _print_compared(compared: Compared) -> None:
    counts = {
        "gone": compared.gone,
        "left as written": compared.as_written,
        "changed, and still breaking": compared.changed,
        "new in changed code": compared.new_in_changed,
        "new in code as written": compared.new_as_written,
    }
    print("  " + ", ".join(f"{len(found)} {name}" for name, found in counts.items()))
    for site, now in compared.changed:
        print(f"  changed, and still breaking: {site}")
        for other in now:
            print(f"    now {other}")
    for name in ("new in changed code", "new in code as written"):
        for site in counts[name]:
            print(f"  {name}: {site}")


if __name__ == "__main__":
    sys.exit(main())
