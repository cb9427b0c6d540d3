"""`compilefix apply`: fix files in place, or print the diff."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from compilefix.cli import options
from compilefix.cli.inputs import Inputs, Request, gather, print_errors
from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.reporting.summary import count, summarize
from compilefix.source.discovery import repository
from compilefix.source.files import SourceError, display_path
from compilefix.source.writing import write

_BOM = "\ufeff"


def apply(
    paths: options.Paths = None,
    select: options.Select = None,
    extend_select: options.ExtendSelect = None,
    ignore: options.Ignore = None,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the changes as a diff for `git apply`; write nothing.")
    ] = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Fix files in place. Only safe fixes are made, unless --assume or --unsafe-fixes allows more.

    Exit codes: 0 done, 2 something could not be looked at or written. With --diff: 0 no change, 1 changes, 2 as before.
    """
    inputs = gather(
        Request(
            paths=paths or (),
            select=options.split(select),
            extend_select=options.split(extend_select),
            ignore=options.split(ignore),
            assume=options.split(assume),
            unsafe_fixes=unsafe_fixes,
            exclude=tuple(exclude or ()),
            force_exclude=force_exclude,
            config=config,
        )
    )
    outcome = inputs.run(rewrite=True)
    errors = [*inputs.errors, *outcome.errors]
    if diff:
        _print_diff(outcome.patchset, inputs)
        print_errors(errors)
        if not quiet:
            _say_what_is_left(outcome.findings, inputs.allowed, "not in this diff")
        raise typer.Exit(2 if errors else 1 if outcome.patchset else 0)
    written, failures = _write(outcome.patchset, inputs)
    errors += failures
    print_errors(errors)
    if not quiet:
        fixes = sum(len(change.fixes) for change in written)
        print(f"{count(fixes, 'fix', 'fixes')} applied in {count(len(written), 'file')}.")
        for change in written:
            if change.before is None:
                print(f"New file: {display_path(change.path)}")
        sys.stdout.flush()
        _say_what_is_left(outcome.findings, inputs.allowed, "not fixed")
    if errors:
        raise typer.Exit(2)


def _write(patchset: PatchSet, inputs: Inputs) -> tuple[list[FileChange], list[SourceError]]:
    """Write what can be written: first the new files, without which the fixes that import them are left out."""
    sources = {file.path: file for file in inputs.files}
    written: list[FileChange] = []
    errors: list[SourceError] = []
    helper_failed = False
    for change in sorted(patchset, key=lambda change: change.path in sources):
        if helper_failed and any(fix.fix is not None and fix.fix.boundary for fix in change.fixes):
            errors.append(SourceError(display_path(change.path), "not written, because the helper module could not be"))
            continue
        error = write(sources.get(change.path, change.path), change.after, root=inputs.config.root)
        if error is None:
            written.append(change)
        else:
            errors.append(error)
            helper_failed = helper_failed or change.path not in sources
    return written, errors


def _print_diff(patchset: PatchSet, inputs: Inputs) -> None:
    """Write each file's diff in the bytes of that file, so that the diff applies whatever the encoding."""
    sources = {file.path: file for file in inputs.files}
    root = _diff_root(change.path for change in patchset)
    sys.stdout.flush()
    for change in patchset:
        source = sources.get(change.path)
        if source is not None and source.bom and change.before is not None:
            change = dataclasses.replace(change, before=_BOM + change.before, after=_BOM + change.after)
        encoding = "utf-8" if source is None else source.encoding
        # Only a path can hold what the file's own encoding lacks.
        text = change.diff(root)
        try:
            data = text.encode(encoding)
        except UnicodeEncodeError:
            head, mark, body = text.partition("\n@@")
            data = os.fsencode(head) + (mark + body).encode(encoding)
        sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _diff_root(paths: Iterable[Path]) -> Path:
    """What the diff's paths are relative to: the git working tree, as `git apply` reads them, else where we are."""
    here = Path.cwd()
    root = repository(here)
    if root is not None and all(path.resolve().is_relative_to(root.resolve()) for path in paths):
        return root
    return here


def _say_what_is_left(findings: Sequence[Finding], allowed: frozenset[str] | None, where: str) -> None:
    summary = summarize(findings, allowed)
    parts = []
    if summary.declined:
        parts.append(f"{count(summary.declined, 'finding')} without a fix")
    if summary.hidden:
        parts.append(
            f"{count(summary.hidden, 'fix', 'fixes')} that need assumptions "
            f"(--assume {','.join(summary.assumptions)} or --unsafe-fixes)"
        )
    if parts:
        print(f"{where}: {'; '.join(parts)}", file=sys.stderr)
