"""How often `compilefix check` is right: precision and recall against Dynamo, on models of installed packages.

    python benchmarks/accuracy.py run --out DIR [NAME ...]        run the models, each in a process of its own
    python benchmarks/accuracy.py compare --out DIR [--markdown FILE] [--json FILE]

`run` keeps what was measured in DIR and skips what is there. How findings and break sites are counted stands in
docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import importlib
import io
import multiprocessing
import os
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import accuracy_models

_LIMIT = 240  # seconds for one model


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    run_parser = commands.add_parser("run")
    run_parser.add_argument("names", nargs="*", help="models, or packages; without any, all")
    run_parser.add_argument("--jobs", type=int, default=2)
    run_parser.add_argument("--seconds", type=int, default=_LIMIT)
    compare_parser = commands.add_parser("compare")
    compare_parser.add_argument("--markdown", type=Path)
    compare_parser.add_argument("--json", type=Path)
    compare_parser.add_argument("--again", action="store_true", help="run `check` again even if its result is there")
    for one in (run_parser, compare_parser):
        one.add_argument("--group", choices=accuracy_models.GROUPS, action="append", help="all, unless given")
        one.add_argument("--out", type=Path, required=True, help="folder for what is measured")
    options = parser.parse_args()
    groups = tuple(options.group or accuracy_models.GROUPS)
    if options.command == "run":
        return run(options.out, options.names, options.jobs, options.seconds, groups)
    from accuracy_compare import compare

    return compare(options.out, options.markdown, options.json, options.again, groups)


def run(out: Path, names: list[str], jobs: int, seconds: int, groups: tuple[str, ...]) -> int:
    """Run models that have no result yet. Each is a fork of a process that has the packages imported."""
    import accuracy_run

    out.mkdir(parents=True, exist_ok=True)
    named = accuracy_models.load().items()
    models = {n: b for n, b in named if not names or n in names or n.partition("/")[0] in names}
    models = {n: b for n, b in models.items() if accuracy_models.group(n) in groups and not _result(out, n).exists()}
    _warm_up({name.partition("/")[0] for name in models})
    context = multiprocessing.get_context("fork")
    running: dict[str, tuple[multiprocessing.process.BaseProcess, float]] = {}
    pending = list(models)
    while pending or running:
        while pending and len(running) < jobs:
            name = pending.pop(0)
            process = context.Process(target=_child, args=(models[name], _result(out, name), seconds))
            process.start()
            running[name] = (process, time.monotonic())
        time.sleep(0.05)
        for name, (process, started) in list(running.items()):
            if process.is_alive() and time.monotonic() - started < seconds + 5:
                continue
            if process.is_alive():
                process.kill()
            process.join()
            del running[name]
            if not _result(out, name).exists():
                accuracy_run.save({"error": f"ended with {process.exitcode}"}, _result(out, name))
            print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
    return 0


def _child(build: accuracy_models.Builder, path: Path, seconds: int) -> None:
    import accuracy_run

    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        accuracy_run.save(accuracy_run.observe(build, seconds), path)
    os._exit(0)


def _warm_up(packages: set[str]) -> None:
    """Import what the children need, Dynamo's lazy parts included.

    The packages come first, as in a program of their users: the first use of torch.compile switches the checks of
    torch.distributions off, and a package that is imported later may switch them on again.
    """
    import torch

    torch.set_num_threads(1)
    for package in sorted(packages):
        if package == "vit_pytorch":
            continue  # its __init__ needs torchvision
        there = set(sys.modules)
        try:
            importlib.import_module(package)
        except Exception as error:
            print(f"{package} is not there: {error}", file=sys.stderr)
            for half in set(sys.modules) - there:  # its models import it anew, with what stands for the missing
                if half.partition(".")[0] == package:
                    del sys.modules[half]
    torch.compile(lambda x: x + 1, backend="eager")(torch.ones(1))


def _result(out: Path, name: str) -> Path:
    return out / (name.replace("/", "__").replace(" ", "_") + ".json")


if __name__ == "__main__":
    sys.exit(main())
