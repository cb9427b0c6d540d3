"""How many models of public packages lose all their graph breaks: by safe fixes, and with assumptions and flags.

    python benchmarks/share.py choose --observed DIR                 which models: what `accuracy.py run` saw break
    python benchmarks/share.py fix --out DIR [PACKAGE ...]           the fixes for each package
    python benchmarks/share.py run --out DIR [NAME ...]              the models, each arm in a process of its own;
                                                                     with --observed DIR the arm as written is not run
                                                                     again: its breaks are those of `accuracy.py run`
    python benchmarks/share.py tables --out DIR [--markdown FILE] [--json FILE]
    python benchmarks/share.py sites --out DIR PACKAGE ...           what CF2, CF4 and CF5 report, before and after
    ... --list share_fresh                                           the list of models nobody tuned for

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
    "written": ("none", False),
    "safe": ("safe", False),
    "assumed": ("assumed", False),
    "flags": ("assumed", True),
}


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    choose = commands.add_parser("choose")
    choose.add_argument("--observed", type=Path, required=True)
    fix = commands.add_parser("fix")
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
    for one in (fix, run, serve):
        one.add_argument("names", nargs="*", help="models, or packages; without any, all")
        one.add_argument("--jobs", type=int, default=2)
        one.add_argument("--seconds", type=int, default=_LIMIT)
    sites = commands.add_parser("sites")
    sites.add_argument("names", nargs="+")
    for one in (fix, run, serve, tables, sites):
        one.add_argument("--out", type=Path, required=True)
        one.add_argument("--list", default="share_models", help="which list of models: share_models, share_fresh")
    options = parser.parse_args()
    if options.command == "choose":
        import share_models

        names = share_models.choose(options.observed)
        Path(share_models.__file__).with_suffix(".json").write_text(json.dumps(names, indent=1) + "\n")
        return 0
    import share_models

    share_models.chosen_list = options.list
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.command == "fix":
        from share_fixes import fix_package

        for package in _packages(options.names):
            fix_package(package, options.out)
        return 0
    if options.command == "serve":
        from share_run import Place
        from share_run import serve as serve_models

        where = Place(options.backend, options.device)
        return serve_models(options.fixes, options.names, options.out, options.seconds, where, options.arms)
    if options.command == "run":
        return _run(options)
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
        for fixes in levels:
            yield package, fixes, names


def _served(options: argparse.Namespace, package: str, fixes: str, names: list[str]) -> str:
    words = ["serve", fixes, *names, "--out", str(options.out), "--seconds", str(options.seconds)]
    words += ["--backend", options.backend, "--device", options.device, "--arms", *options.arms]
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), *words],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    state = f"{time.monotonic() - started:.0f} s" if not done.returncode else f"failed: {done.stderr[-800:]}"
    return f"{package}, {fixes}: {state}"


if __name__ == "__main__":
    sys.exit(main())
