"""How many models of public packages lose all their graph breaks: by safe fixes, and with assumptions and flags.

    python benchmarks/share.py choose --observed DIR                 which models: what `accuracy.py run` saw break
    python benchmarks/share.py fix --out DIR [PACKAGE ...]           the fixes for each package
    python benchmarks/share.py run --out DIR [NAME ...]              the models, each arm in a process of its own;
                                                                     with --observed DIR the arm as written is not run
                                                                     again: its breaks are those of `accuracy.py run`
    python benchmarks/share.py tables --out DIR [--markdown FILE] [--json FILE]
    python benchmarks/share.py sites --out DIR PACKAGE ...           what CF2, CF4 and CF5 report, before and after
    ... --list share_fresh                                           the list of models nobody tuned for
    ... --list accuracy_models [--every N]                           all models of the accuracy groups, or each Nth
    python benchmarks/share.py answers --out DIR --list ...          which models answer differently with all fixes,
                                                                     nothing compiled (after `run --arms eager fixed`)

Nothing that is installed is edited: the fixes are served from memory. `fix` and `run` keep what they have done in DIR
and skip what is there. How it is counted stands in docs/share.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

_LIMIT = 240  # seconds of processor time for one arm of one model

# The fixes that each arm runs with, and whether the capture flags are on.
ARMS = {
    "eager": ("none", False),
    "fixed": ("assumed", False),
    "written": ("none", False),
    "safe": ("safe", False),
    "assumed": ("assumed", False),
    "flags": ("assumed", True),
}
# Arms that compile nothing.
EAGER = frozenset({"eager", "fixed"})
# A process is given this many models at most, so that a package with hundreds keeps more than one core busy.
_AT_ONCE = 16


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    choose = commands.add_parser("choose")
    choose.add_argument("--observed", type=Path, required=True)
    fix = commands.add_parser("fix")
    fix_one = commands.add_parser("fix-one", help="what `fix` starts for a package")
    run = commands.add_parser("run")
    serve = commands.add_parser("serve", help="what `run` starts for the models of one package and one set of fixes")
    serve.add_argument("fixes")
    tables = commands.add_parser("tables")
    tables.add_argument("--markdown", type=Path)
    tables.add_argument("--json", type=Path)
    run.add_argument("--observed", type=Path)
    for one in (run, serve):
        one.add_argument("--backend", default="eager", help="what graphs are compiled with; give each its own --out")
        one.add_argument("--device", default="cpu", help="where models and inputs are put; give each its own --out")
        one.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS), help="the arms to run, `eager` too")
    for one in (fix, fix_one):
        one.add_argument("--levels", nargs="+", choices=("safe", "assumed"), default=["safe", "assumed"])
    for one in (fix, fix_one, run, serve):
        one.add_argument("names", nargs="*", help="models, or packages; without any, all")
        one.add_argument("--jobs", type=int, default=2)
        one.add_argument("--seconds", type=int, default=_LIMIT)
    sites = commands.add_parser("sites")
    sites.add_argument("names", nargs="+")
    answers = commands.add_parser("answers")
    for one in (fix, fix_one, run, serve, tables, sites, answers):
        one.add_argument("--out", type=Path, required=True)
        one.add_argument(
            "--list", default="share_models", help="which models: share_models, share_fresh, accuracy_models"
        )
        one.add_argument("--every", type=int, default=1, help="of the list each Nth model alone")
    options = parser.parse_args()
    if options.command == "choose":
        import share_models

        names = share_models.choose(options.observed)
        Path(share_models.__file__).with_suffix(".json").write_text(json.dumps(names, indent=1) + "\n")
        return 0
    import share_models

    share_models.chosen_list, share_models.every = options.list, options.every
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.command == "fix":
        return _fix(options)
    if options.command == "fix-one":
        from share_fixes import fix_package

        for package in options.names:
            fix_package(package, options.out, options.levels)
        return 0
    if options.command == "serve":
        from share_run import Place
        from share_run import serve as serve_models

        where = Place(options.backend, options.device)
        return serve_models(options.fixes, options.names, options.out, options.seconds, where, options.arms)
    if options.command == "run":
        return _run(options)
    if options.command == "answers":
        from share_answers import answers as report

        print(report(options.out))
        return 0
    if options.command == "sites":
        from share_sites import sites as table

        print(table(options.names, ("CF2", "CF4", "CF5"), options.out))
        return 0
    from share_tables import tables as write

    return write(options.out, options.markdown, options.json)


def _models(names: Iterable[str]) -> list[str]:
    import share_models

    wanted = set(names)
    return [n for n in share_models.chosen() if not wanted or n in wanted or n.partition("/")[0] in wanted]


def _packages(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name.partition("/")[0] for name in _models(names)))


def _fix(options: argparse.Namespace) -> int:
    """Start a process for each package: one that fails, as it is not installed, leaves the others alone."""
    words = [["fix-one", package, "--levels", *options.levels] for package in _packages(options.names)]
    with ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda one: _process(options, one), words):
            print(line, file=sys.stderr, flush=True)
    return 0


def _run(options: argparse.Namespace) -> int:
    """Start a process for each package and set of fixes."""
    if options.observed is not None:
        from share_run import take_over

        for name in _models(options.names):
            take_over(name, options.observed, options.out)
    groups: dict[str, list[str]] = defaultdict(list)
    for name in _models(options.names):
        groups[name.partition("/")[0]].append(name)
    # The arms with fixes take the inputs that the original takes, which is run first.
    wanted = {ARMS[arm][0] for arm in options.arms}
    for levels in (("none",), ("safe", "assumed")):
        work = _work(groups, [level for level in levels if level in wanted])
        with ThreadPoolExecutor(options.jobs) as pool:
            for line in pool.map(lambda words: _served(options, *words), work):
                print(line, file=sys.stderr, flush=True)
    return 0


def _work(groups: dict[str, list[str]], levels: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    for package, names in groups.items():
        for start in range(0, len(names), _AT_ONCE):
            for fixes in levels:
                yield package, fixes, names[start : start + _AT_ONCE]


def _served(options: argparse.Namespace, package: str, fixes: str, names: list[str]) -> str:
    words = ["serve", fixes, *names, "--seconds", str(options.seconds)]
    words += ["--backend", options.backend, "--device", options.device, "--arms", *options.arms]
    return f"{package}, {_process(options, words)}"


def _process(options: argparse.Namespace, words: list[str]) -> str:
    """Run a command of this file in a process of its own; how long that took, or what it said."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), *words, "--out", str(options.out), "--list", options.list],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"},  # sets in globals are compared in order
    )
    state = f"{time.monotonic() - started:.0f} s" if not done.returncode else f"failed: {done.stderr[-800:]}"
    return f"{words[1]}: {state}"


if __name__ == "__main__":
    sys.exit(main())
